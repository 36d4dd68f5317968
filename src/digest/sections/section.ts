import type { PlainBlock } from '../../mail/mail-document.ts'
import type { DigestFacts } from '../digest-facts.ts'
import type { Audience, Focus } from '../reader-focus.ts'

/** The recipient and server for which a section is written. */
export interface SectionContext {
  focus: Focus
  /** First audience in the recipient's context; null if there is none. */
  audience: Audience | null
  /** Public URL of the server, without a trailing slash. */
  publicUrl: string
}

/** The most important line of a section, understandable without the section. */
export interface Lead {
  /** Rank among the leads; higher is more important. */
  weight: number
  text: string
}

/** Content of a section. */
export interface SectionText {
  blocks: readonly PlainBlock[]
  /** Candidate for the headline of the digest; null if there is none. */
  lead: Lead | null
}

/** A section of the digest. */
export interface DigestSection {
  id: 'focus' | 'week' | 'value' | 'issues' | 'traffic' | 'news' | 'changes' | 'compliance' | 'orders' | 'suggestions'
  /** The title. `of` contains titles for specific audiences. */
  title: string
  of?: Partial<Record<Audience, string>>
  /** Returns the content; null if there is nothing to report. Pure function. */
  write(facts: DigestFacts, reader: SectionContext): SectionText | null
}

/** Weights of leads. The lead with the largest weight becomes the headline. */
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
