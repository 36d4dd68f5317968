/** An issue's title in two parts. */
export interface TitleParts {
  /** The finding, such as `purchase: 3 events, expected 120`. It differs between the issues of an alert. */
  finding: string
  /** Name of the alert, flow test or audit. Null if the title has no name. */
  name: string | null
}

const SUBJECT = / \(([^()]+)\)$/

/**
 * Splits `<name>: <finding>` and `<name> (<subject>): <finding>` at the first colon. If the name itself contains a colon,
 * its rest is part of the finding, so nothing of the title is lost.
 */
export function splitIssueTitle(title: string): TitleParts {
  const at = title.indexOf(': ')
  if (at <= 0) return { finding: title, name: null }
  const [before, finding] = [title.slice(0, at), title.slice(at + 2)]
  const subject = SUBJECT.exec(before)
  if (subject === null) return { finding, name: before }
  return { finding: `${subject[1]}: ${finding}`, name: before.slice(0, subject.index) }
}
