import { countText, minuteText } from '../core/text.ts'
import { oneLine } from '../integrations/message/one-line.ts'
import type { Explanation } from '../issues/explanation.ts'
import type { IssueDetail, IssueRecord } from '../issues/issue.ts'
import { issueKindOf } from '../issues/kinds/index.ts'

const MAX_NAME_LENGTH = 200

/** What the summary needs beside the issue itself. */
export interface SummaryParts extends Pick<IssueDetail, 'domain'> {
  explainedBy: Explanation | null
}

/** Returns the issue in one sentence: what is wrong, where, how often and since when, in UTC; and what explains it. */
export function summaryOf(issue: IssueRecord, { domain, explainedBy }: SummaryParts): string {
  const { alertName, status } = issue
  const state = status === 'open' ? '' : `; it is ${status}`
  const cause = explainedBy === null ? '' : `; explained by "${name(explainedBy.title)}"`
  const what = whatOf(issue)
  const hosts = issue.hosts ?? []
  // What an audit found has an address in it.
  const isPlaced = hosts.some((host) => what.includes(`//${host}/`))
  return `${name(alertName)}: ${what}${placeOf(domain, isPlaced ? [] : hosts)}, ${timesOf(issue)} ${spanOf(issue)} UTC${state}${cause}.`
}

const name = (text: string) => oneLine(text, MAX_NAME_LENGTH)

function whatOf({ alertType, evidence }: IssueRecord): string {
  const subject = [evidence?.vendor, evidence?.event].flatMap((part) => (part ? [name(part)] : [])).join(' ')
  return issueKindOf(alertType).text.summary({ subject, summary: evidence && name(evidence.summary) })
}

function placeOf(domain: string | null, hosts: readonly string[]): string {
  const [first, ...others] = hosts
  const more = others.length === 0 ? '' : ` and ${others.length} more ${others.length === 1 ? 'host' : 'hosts'}`
  const host = first === undefined ? '' : name(first) + more
  if (domain === null || domain === first) return host && ` on ${host}`
  return ` on ${name(domain)}${host && ` (${host})`}`
}

/** Returns `12 times`, or for types that count windows `in 3 windows`. */
function timesOf({ alertType, occurrences }: IssueRecord): string {
  const { countsFirings, unit } = issueKindOf(alertType)
  const [one, many] = countsFirings ? [unit.one, unit.many] : ['time', 'times']
  const count = `${countText(occurrences)} ${occurrences === 1 ? one : many}`
  return countsFirings ? `in ${count}` : count
}

/**
 * Returns `from 2026-01-05 12:00 to 2026-01-05 12:30`; within one minute `at`, or `since` when there was more than one
 * occurrence.
 */
function spanOf({ firstSeenAt, lastSeenAt, occurrences }: IssueRecord): string {
  const [first, last] = [minuteText(firstSeenAt), minuteText(lastSeenAt)]
  if (first !== last) return `from ${first} to ${last}`
  return `${occurrences === 1 ? 'at' : 'since'} ${first}`
}
