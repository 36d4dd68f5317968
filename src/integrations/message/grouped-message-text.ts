import { SEVERITIES } from '../../contract/severities.ts'
import { oneLine } from '../../core/text.ts'
import type { Message } from './message.ts'

/** Maximum number of issues listed in a grouped message. Further issues are only counted. */
export const MAX_NAMED = 20

/** Text of a grouped message about several openings. */
export interface GroupSummary {
  /** Subject line: highest severity among the listed issues, number of issues, and the title of the first issue. */
  subject: string
  /** Summary sentence: `200 issues opened within 30 seconds.` */
  sentence: string
  /** The first 20 messages, in order. */
  named: Message[]
  /** Number of issues that are not listed. */
  more: number
  /** `and 180 more`. Null if all issues are listed. */
  rest: string | null
}

/** @param members At least one member. Only the first 20 messages are read. */
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

const MAX_NAME_LENGTH = 60

/** `assigned to Ann`, with long names cut. Null if the issue is unassigned. */
export const assignmentText = ({ issue }: Message): string | null =>
  issue?.assignee ? `assigned to ${oneLine(issue.assignee.name, MAX_NAME_LENGTH)}` : null

/** Plain-text body with one paragraph per listed issue. */
export function groupText(words: GroupSummary): string {
  const named = words.named.map((message) => {
    const { issue, sentence, url } = message
    const assignment = assignmentText(message)
    return `${issue ? `[${issue.severity}] ` : ''}${sentence}${assignment ? ` (${assignment})` : ''}\n${url}`
  })
  return `${[words.sentence, ...named, ...(words.rest ? [`… ${words.rest}.`] : [])].join('\n\n')}\n`
}
