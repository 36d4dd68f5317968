import { SEVERITIES } from '../../alerts/alert.ts'
import type { Message } from './message.ts'
import { oneLine } from './one-line.ts'

/** Of openings that go as one message so many are named; the others are counted. */
export const MAX_NAMED = 20

/** What is said of openings that go as one message. */
export interface GroupSummary {
  /** One line: how many, how bad the worst of those that are named is, and what the first one is. */
  subject: string
  /** `200 issues opened within 30 seconds.` */
  sentence: string
  /** The first 20, in their order. */
  named: Message[]
  /** How many are not named. */
  more: number
  /** `and 180 more`; null when all are named. */
  rest: string | null
}

/** @param members at least one; no more than the first 20 messages are read */
export function summarizeGroup(members: readonly { readonly message: Message }[]): GroupSummary {
  const named = members.slice(0, MAX_NAMED).map(({ message }) => message)
  const more = members.length - named.length
  const titles = named.map(({ issue, sentence }) => issue?.title ?? sentence)
  const worst = named.map(({ issue }) => SEVERITIES.indexOf(issue?.severity ?? 'low')).toSorted((a, b) => b - a)[0] ?? 0
  return {
    subject: oneLine(`[${SEVERITIES[worst]}] ${members.length} new issues: ${titles[0]} and others`, 200),
    sentence: `${members.length} issues opened within 30 seconds.`,
    named,
    more,
    rest: more > 0 ? `and ${more} more` : null,
  }
}

/** The whole message as plain text: a paragraph for each that is named. */
export function groupText(words: GroupSummary): string {
  const named = words.named.map(
    ({ issue, sentence, url }) => `${issue ? `[${issue.severity}] ` : ''}${sentence}\n${url}`,
  )
  return `${[words.sentence, ...named, ...(words.rest ? [`… ${words.rest}.`] : [])].join('\n\n')}\n`
}
