import type { Instant } from '../core/clock.ts'

/**
 * Digest document, before it is rendered as HTML and plain text. Every string is a single line of plain text with
 * personal data masked.
 */

export type Tone = 'plain' | 'good' | 'bad' | 'warn'

/** A key figure. */
export interface Figure {
  label: string
  value: string
  note: string
  tone: Tone
}

export interface Cell {
  text: string
  tone?: Tone
  /** Small text below the value. */
  note?: string
}

/** An item with a title and some lines of text. */
export interface Item {
  title: string
  badge: { text: string; tone: Tone } | null
  /** One line below the title; may be empty. */
  note: string
  /** Sentences below the note. */
  lines: readonly { text: string; tone: Tone }[]
  /** Parameter names and values. */
  rows: readonly (readonly [name: string, value: string])[]
  url: string | null
}

export type Block =
  | { kind: 'text'; text: string; tone?: Tone }
  | { kind: 'figures'; figures: readonly Figure[] }
  /** Number of events by hour; `before` is null if the counts a week earlier are unknown. */
  | { kind: 'hours'; from: Instant; now: readonly number[]; before: readonly number[] | null }
  /** The first column contains names, the other columns numbers. `more`: describes the omitted rows; may be empty. */
  | { kind: 'table'; head: readonly string[]; rows: readonly (readonly Cell[])[]; more: string }
  | { kind: 'items'; items: readonly Item[]; more: string }

export interface Section {
  title: string
  blocks: readonly Block[]
}

/** The most important line of a section, understandable without the section. */
export interface Lead {
  /** Rank among the leads; higher is more important. */
  weight: number
  text: string
}

export interface DigestDocument {
  subject: string
  /** Preview text shown next to the subject. */
  preview: string
  orgName: string
  /** The time range: `24 hours to 2026-01-05 12:00 UTC, compared with the same hours a week earlier` */
  period: string
  headline: string
  tone: Tone
  /** Leads after the headline, most important first; may be empty. */
  others: readonly string[]
  sections: readonly Section[]
  /** Small print: the omitted parts, and the reason for sending the digest. */
  notes: readonly string[]
  /** URL of the dashboard. */
  url: string
  /** URL for unsubscribing; null in a preview. */
  unsubscribeUrl: string | null
}
