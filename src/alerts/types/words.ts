import type { Finding } from '../finding.ts'

/** What one occurrence of an issue is. */
export interface Unit {
  one: string
  many: string
  /** For the documentation: `violating events`. */
  meaning: string
}

/** What the title of an issue is made of. */
export interface TitleParts {
  /** The alert's. */
  name: string
  /** Vendor and event, as far as the name does not say them; empty: nothing more is to be said. */
  what: string
  /** Hosts, to stand behind a sentence, as in ` on shop.example and 2 more hosts`; empty where none is known. */
  where: string
  finding: Finding
}

/** The sentences of a type of alert, without a full stop. */
export interface Words {
  /** Heads an issue. Without running totals, because it stays while the occurrences grow. */
  title(parts: TitleParts): string
  /**
   * What is wrong, before where, how often and since when. `subject`: vendor and event, may be empty; `summary`: that of
   * the last finding, null when that was not kept. Both are safe to be shown.
   */
  summary(said: { subject: string; summary: string | null }): string
  /** What is expected, where a finding has no numbers: `no event that breaks the rule`. Null: then nothing is said of it. */
  expected: string | null
}
