import type { Block, Lead } from '../document.ts'
import type { DigestFacts } from '../facts.ts'
import type { Audience, Focus } from '../reader-focus.ts'

/** Who reads, and where the dashboard is. */
export interface SectionContext {
  focus: Focus
  /** The first that the context names; null: everybody. */
  audience: Audience | null
  /** Address under which people reach the server, without a slash at its end. */
  publicUrl: string
}

/** What one part of a digest says. */
export interface SectionText {
  blocks: readonly Block[]
  /** What would be the headline if this section had the most important thing; null: it has none. */
  lead: Lead | null
}

/** A part of a digest. */
export interface DigestSection {
  id: 'focus' | 'week' | 'value' | 'issues' | 'traffic' | 'news' | 'changes' | 'compliance' | 'orders' | 'suggestions'
  /** What it is called; `of`: for some audiences otherwise. */
  title: string
  of?: Partial<Record<Audience, string>>
  /** Pure. Null when it has nothing to say. */
  write(facts: DigestFacts, reader: SectionContext): SectionText | null
}

/** How leads of different sections are compared: the larger one is the headline. */
export const WEIGHT = {
  trafficStopped: 1000,
  criticalIssue: 900,
  highIssue: 800,
  regressed: 700,
  newFinding: 650,
  missingOrders: 600,
  trafficFell: 550,
  mediumIssue: 500,
  lowIssue: 400,
  openValue: 300,
  trafficRose: 250,
  newName: 200,
  resolved: 150,
  usual: 0,
} as const
