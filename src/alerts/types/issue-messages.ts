import type { Alert } from '../alert.ts'
import type { Finding } from '../finding.ts'

/** The name for one occurrence in an issue. */
interface Unit {
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

/** How the issues of an alert type are worded. Texts have no full stops. */
export interface IssueMessages {
  unit: Unit
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
  /**
   * True when a finding is about a window with an unexpected count; false when it is about single events or sessions.
   */
  countsFirings: boolean
  /**
   * True when issues without a subject are about all traffic of their domain. Such an issue explains the drops of
   * single signals.
   */
  explainsDrops: boolean
  /**
   * True when the alert fires on counts that are too high. Null: a finding is a rise if more was observed than expected.
   */
  isRise(alert: Alert): boolean | null
  /**
   * Returns the summary of a finding whose numbers were summed over several parts of a window. Null: the summary of the
   * latest part is kept.
   */
  summarize(finding: Finding): string | null
}
