import { alertTypeOf } from '../alerts/types/index.ts'
import type { StoredEvent } from '../core/event.ts'
import { namesMissingIn, timeText } from '../core/text.ts'
import type { Message, MessageKind } from './message.ts'
import { oneLine } from './one-line.ts'

/** How each kind of message is announced. */
export const KIND_TITLES: Record<MessageKind, string> = {
  opened: 'New issue',
  reopened: 'Back again',
  repeated: 'Still happening',
  resolved: 'Resolved',
  test: 'Test',
  delivery_failed: 'Notification not delivered',
}

/** A label and what stands beside it. */
export type MessageRow = readonly [label: string, text: string]

const MAX_SAMPLE_ROWS = 30

/** One line: severity, kind and issue, or what a test is. */
export function subjectOf(message: Message): string {
  const { kind, issue, domain } = message
  if (!issue) return `Tagwarden: ${KIND_TITLES[kind].toLowerCase()}`
  const place = namesMissingIn(issue.title, [domain?.name])
    .map((name) => ` (${name})`)
    .join('')
  return oneLine(`[${issue.severity}] ${KIND_TITLES[kind]}: ${issue.title}${place}`, 200)
}

/** The facts of a message, in the order in which a reader needs them; a fact that is not known is left out. */
export function rowsOf(message: Message): MessageRow[] {
  const { issue, domain, vendor, event, openNow, heldBack } = message
  if (!issue) return []
  const rows: (MessageRow | null)[] = [
    ...comparisonOf(message),
    ['Since', timeText(issue.firstSeenAt)],
    ['Last seen', timeText(issue.lastSeenAt)],
    domain && ['Domain', domain.name],
    vendor ? ['Vendor', vendor] : null,
    event ? ['Event', event] : null,
    ...(message.changes ?? []).map(({ title, occurredAt }) => ['Change', `${title}, ${timeText(occurredAt)}`] as const),
    issue.hosts?.length ? ['Hosts', issue.hosts.join(', ')] : null,
    ['Severity', issue.severity],
    issue.resolvedBy ? ['Resolved by', issue.resolvedBy] : null,
    issue.notes ? ['Note', issue.notes] : null,
    issue.impactValue === null ? null : ['Impact value', numberText(issue.impactValue)],
    heldBack > 0 ? ['Held back', `${heldBack} earlier ${heldBack === 1 ? 'notice' : 'notices'} by the throttle`] : null,
    openNow === null ? null : ['Open now', `${openNow} ${openNow === 1 ? 'issue' : 'issues'}`],
  ]
  return rows.filter((row) => row !== null)
}

function comparisonOf({ issue, observed, expected, expectation }: Message): MessageRow[] {
  if (observed !== null || expected !== null) {
    const rows: MessageRow[] = []
    if (expected !== null) rows.push(['Expected', expectation ?? numberText(expected)])
    if (observed !== null) rows.push(['Observed', numberText(observed)])
    return rows
  }
  if (!issue) return []
  const { unit, words } = alertTypeOf(issue.alertType)
  if (words.expected === null) return []
  return [
    ['Expected', words.expected],
    ['Observed', `${numberText(issue.occurrences)} ${issue.occurrences === 1 ? unit.one : unit.many} so far`],
  ]
}

/** What of an event says nothing to people; its domain has a row of its own. */
const TECHNICAL: readonly string[] = ['seq', 'id', 'receivedAt', 'orgId', 'domainId'] satisfies (keyof StoredEvent)[]

const isTime = (value: unknown) => typeof value === 'number' && !Number.isNaN(new Date(value).getTime())

/** What people want to know of an event; when it happened as `time`, and a weight only where it counts for several. */
function forPeople(sample: Record<string, unknown>): Record<string, unknown> {
  const fields = Object.entries(sample).flatMap(([key, value]) => {
    if (TECHNICAL.includes(key) || (key === 'weight' && value === 1)) return []
    return [key === 'ts' && isTime(value) ? ['time', timeText(Number(value))] : [key, value]]
  })
  return Object.fromEntries(fields)
}

/** The sample as dotted keys and texts, for people: without what is not known, and with one time in UTC. */
export function sampleRowsOf(message: Message): MessageRow[] {
  const rows: MessageRow[] = []
  const walk = (value: unknown, key: string) => {
    if (typeof value === 'object' && value !== null) {
      for (const [name, item] of Object.entries(value)) walk(item, key ? `${key}.${name}` : name)
    } else if (value !== null && value !== undefined) rows.push([key, oneLine(String(value), 300)])
  }
  walk(forPeople(message.sample ?? {}), '')
  return rows.slice(0, MAX_SAMPLE_ROWS)
}

/** The whole message as plain text. */
export function textOf(message: Message): string {
  const lines = (rows: MessageRow[]) => rows.map(([label, text]) => `${label}: ${text}`).join('\n')
  const sample = sampleRowsOf(message)
  const parts = [
    `${KIND_TITLES[message.kind]}: ${message.sentence}`,
    lines(rowsOf(message)),
    sample.length > 0 ? `One sample (personal data masked)\n${lines(sample)}` : '',
    message.url,
  ]
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`
}

export function numberText(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 2 })
}
