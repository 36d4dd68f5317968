import type { Finding } from '../finding.ts'

/** Name of one occurrence of an issue. */
export interface Unit {
  one: string
  many: string
  /** For the documentation: `violating events`. */
  meaning: string
}

/** The parts of an issue title. */
export interface TitleParts {
  /** The alert's name. */
  name: string
  /** Vendor and event, unless the name already contains them; may be empty. */
  what: string
  /** Hosts, as text that ends a sentence, such as ` on shop.example and 2 more hosts`; empty when none is known. */
  where: string
  finding: Finding
}

/** The texts of an alert type, without a full stop. */
export interface AlertText {
  /** Returns the title of an issue. Contains no running totals, because it does not change while occurrences grow. */
  title(parts: TitleParts): string
  /**
   * Returns what is wrong, as text that is followed by where, how often and since when. `subject`: vendor and event, may be
   * empty. `summary`: that of the last finding; null when it was not stored. Neither contains personal data.
   */
  summary(parts: { subject: string; summary: string | null }): string
  /** Expectation when a finding has no numbers: `no event that breaks the rule`. Null: nothing is shown. */
  expected: string | null
}
