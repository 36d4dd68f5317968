import type { Instant } from '../core/clock.ts'

/** What a digest says, before it is written as HTML and as plain text. Every text is plain, of one line, and masked. */

export type Tone = 'plain' | 'good' | 'bad' | 'warn'

/** A number that stands out. */
export interface Figure {
  label: string
  value: string
  note: string
  tone: Tone
}

export interface Cell {
  text: string
  tone?: Tone
  /** What stands below it, small. */
  note?: string
}

/** Something that is told of in some lines. */
export interface Item {
  title: string
  badge: { text: string; tone: Tone } | null
  /** One line below the title; may be empty. */
  note: string
  /** Sentences below it. */
  lines: readonly { text: string; tone: Tone }[]
  /** Facts: names of parameters and their values. */
  rows: readonly (readonly [name: string, value: string])[]
  url: string | null
}

export type Block =
  | { kind: 'text'; text: string; tone?: Tone }
  | { kind: 'figures'; figures: readonly Figure[] }
  /** Events by the hour; of a week earlier null when not known. */
  | { kind: 'hours'; from: Instant; now: readonly number[]; before: readonly number[] | null }
  /** The first column holds names, the others numbers. `more`: what was left out; may be empty. */
  | { kind: 'table'; head: readonly string[]; rows: readonly (readonly Cell[])[]; more: string }
  | { kind: 'items'; items: readonly Item[]; more: string }

export interface Section {
  title: string
  blocks: readonly Block[]
}

/** The most important thing that a section has to say, as a line that is understood alone. */
export interface Lead {
  /** What it is compared by. */
  weight: number
  text: string
}

export interface DigestDocument {
  subject: string
  /** What mail programs show beside the subject. */
  preview: string
  orgName: string
  /** `24 hours to 2026-01-05 12:00 UTC, beside the same hours a week earlier` */
  period: string
  headline: string
  tone: Tone
  /** What follows the headline, the most important first; may be empty. */
  others: readonly string[]
  sections: readonly Section[]
  /** Small print: what was left out, and why this was sent. */
  notes: readonly string[]
  /** Where the dashboard is. */
  url: string
  /** Where the reader ends it; null in a preview. */
  unsubscribeUrl: string | null
}
