import type { Finding } from '../finding.ts'

/** The name of one occurrence of an issue. */
export interface Unit {
  one: string
  many: string
  /** For the documentation: `violating events`. */
  meaning: string
}

/** What the title of an issue is made of. */
export interface TitleParts {
  /** The alert's name. */
  name: string
  /** Vendor and event, as far as the name does not contain them; empty when nothing is to be added. */
  what: string
  /** Hosts, as text that ends a sentence, such as ` on shop.example and 2 more hosts`; empty when none is known. */
  where: string
  finding: Finding
}

/** The texts of a type of alert, without a full stop. */
export interface AlertText {
  /** Returns the title of an issue. It has no running totals, because it stays the same while occurrences grow. */
  title(parts: TitleParts): string
  /**
   * Returns what is wrong, as text that precedes where, how often and since when. `subject`: vendor and event, may be
   * empty; `summary`: that of the last finding, null when it was not kept. Both contain no personal data.
   */
  summary(parts: { subject: string; summary: string | null }): string
  /** What is expected, where a finding has no numbers: `no event that breaks the rule`. Null: the text is left out. */
  expected: string | null
}
