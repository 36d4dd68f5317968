import type { Instant } from '../core/clock.ts'

/**
 * Content of an e-mail, before it is rendered as HTML and plain text. Every string is a single line of plain text with
 * personal data masked.
 */

export type Tone = 'plain' | 'good' | 'bad' | 'warn'

/** A short label on a coloured background: a severity or a state. */
export interface Badge {
  text: string
  tone: Tone
}

/** A key figure. */
export interface Figure {
  label: string
  value: string
  /** May be empty. */
  note: string
  tone: Tone
}

/** A name and its value. */
export type Fact = readonly [name: string, value: string]

export interface Cell {
  text: string
  tone?: Tone
  /** Small text below the value. */
  note?: string
}

/** An item with a title and some lines of text. */
export interface Item {
  title: string
  badge: Badge | null
  /** One line below the title; may be empty. */
  note: string
  /** Sentences below the note. */
  lines: readonly { text: string; tone: Tone }[]
  /** Parameter names and values. */
  rows: readonly Fact[]
  url: string | null
}

/** A field of one event, or of two events that are compared. */
export interface Field {
  name: string
  /** True for a relevant difference. */
  isMarked: boolean
  /** Values in the order of the columns. A single value applies to all columns. */
  values: readonly FieldValue[]
}

interface FieldValue {
  /** The value, or a word that replaces it. */
  text: string
  /** True if the text replaces a missing or empty value. */
  isPlaceholder: boolean
}

/** A block that can also be rendered as plain text. */
export type PlainBlock =
  | { kind: 'text'; text: string; tone?: Tone }
  | { kind: 'figures'; figures: readonly Figure[] }
  /** Number of events by hour; `before` is null if the counts a week earlier are unknown. */
  | { kind: 'hours'; from: Instant; timezone: string; now: readonly number[]; before: readonly number[] | null }
  /** The first column contains names, the other columns numbers. `more`: describes the omitted rows; may be empty. */
  | { kind: 'table'; head: readonly string[]; rows: readonly (readonly Cell[])[]; more: string }
  | { kind: 'items'; items: readonly Item[]; more: string }

export type Block =
  | PlainBlock
  /** Facts next to a coloured line. */
  | { kind: 'callout'; facts: readonly Fact[] }
  | { kind: 'facts'; facts: readonly Fact[] }
  /** An attached image with its Content-ID. `text` describes the image for people who can't see it. */
  | { kind: 'chart'; imageId: string; text: string; caption: string }
  /** Fields of a violating event, a valid event, or both. Two events are shown in the columns `head`. */
  | { kind: 'event'; head: readonly [string, string] | null; fields: readonly Field[] }

export interface Section<B extends Block = PlainBlock> {
  /** May be empty. */
  title: string
  blocks: readonly B[]
}

interface Link {
  text: string
  url: string
}

export interface MailDocument<B extends Block = PlainBlock> {
  subject: string
  /** Preview text shown next to the subject; may be empty. */
  preview: string
  /** Follows the product name at the top: `digest for Acme`. May be empty. */
  about: string
  badge: Badge | null
  /** A line above the headline; may be empty. */
  kicker: string
  headline: string
  tone: Tone
  /** Sentences after the headline, most important first; may be empty. */
  others: readonly string[]
  sections: readonly Section<B>[]
  /** The page that the e-mail is about. */
  button: Link | null
  /** Small print, such as the reason for sending the e-mail. */
  notes: readonly string[]
  /** Links below the small print, such as the one for unsubscribing. */
  links: readonly Link[]
}

/** The parts that most e-mails lack. */
export const NO_EXTRAS = {
  preview: '',
  about: '',
  badge: null,
  kicker: '',
  tone: 'plain',
  others: [],
  sections: [],
  button: null,
  notes: [],
  links: [],
} satisfies Partial<MailDocument>
