import type { Finding } from '../finding.ts'

/** The name for one occurrence in an issue. */
export interface Unit {
  one: string
  many: string
  /** The meaning, for the documentation: `violating events`. */
  meaning: string
}

/** The parts of an issue title. */
export interface TitleParts {
  /** The alert's name. */
  name: string
  /** Vendor and event, unless the name already contains them; may be empty. */
  what: string
  /** Hosts as the end of a sentence, such as ` on shop.example and 2 more hosts`; empty when no host is known. */
  where: string
  finding: Finding
}

/** The texts of an alert type, without full stops. */
export interface AlertText {
  /**
   * Returns the title of an issue. Contains no running totals, because the title does not change while occurrences
   * increase.
   */
  title(parts: TitleParts): string
  /**
   * Returns a description of the problem, to be followed by hosts, frequency and start time. `subject`: vendor and
   * event, may be empty. `summary`: the summary of the last finding; null when it was not stored. Neither contains
   * personal data.
   */
  summary(parts: { subject: string; summary: string | null }): string
  /** Expectation for a finding without numbers: `no event that breaks the rule`. When null, nothing is shown. */
  expected: string | null
}
