import type { StoredEvent } from '../../core/event.ts'
import { amountText, namesMissingIn, numberText, timeText } from '../../core/text.ts'
import { issueKindOf } from '../../issues/kinds.ts'
import { hasChart } from './chart.ts'
import { chartMax, chartSpan, chartTitle, sparkline } from './chart-text.ts'
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
  const since = message.firstBadAt ?? issue.firstSeenAt
  const rows: (MessageRow | null)[] = [
    ...comparisonOf(message),
    ['Since', timeText(since)],
    timeText(issue.firstSeenAt) === timeText(since) ? null : ['First seen', timeText(issue.firstSeenAt)],
    ['Last seen', timeText(issue.lastSeenAt)],
    domain && ['Domain', domain.name],
    vendor ? ['Vendor', vendor] : null,
    event ? ['Event', event] : null,
    message.cause && ['Probable cause', message.cause.sentence],
    ...(message.changes ?? []).map(({ title, occurredAt }) => ['Change', `${title}, ${timeText(occurredAt)}`] as const),
    issue.hosts?.length ? ['Hosts', issue.hosts.join(', ')] : null,
    ['Severity', issue.severity],
    issue.resolvedBy ? ['Resolved by', issue.resolvedBy] : null,
    issue.notes ? ['Note', issue.notes] : null,
    issue.impactValue === null ? null : ['Impact value', amountText(issue.impactValue, message.currency ?? null)],
    heldBack > 0 ? ['Held back', `${heldBack} earlier ${heldBack === 1 ? 'notice' : 'notices'} by the throttle`] : null,
    openNow === null ? null : ['Open now', `${openNow} ${openNow === 1 ? 'issue' : 'issues'}`],
  ]
  return rows.filter((row) => row !== null)
}

function comparisonOf({ issue, observed, expected, expectation, observation }: Message): MessageRow[] {
  if (observation !== undefined || (expectation !== null && expected === null)) {
    const rows: [string, string | null | undefined][] = [
      ['Expected', expectation],
      ['Observed', observation],
    ]
    return rows.flatMap(([label, text]) => (text ? [[label, text] as const] : []))
  }
  if (observed !== null || expected !== null) {
    const rows: MessageRow[] = []
    if (expected !== null) rows.push(['Expected', expectation ?? numberText(expected)])
    if (observed !== null) rows.push(['Observed', numberText(observed)])
    return rows
  }
  if (!issue) return []
  const { unit, text: words } = issueKindOf(issue.alertType)
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

/** One field of the bad event beside that of the good one. */
export interface ComparedRow {
  key: string
  /** Null where the event has no such field; empty where it is blank. */
  bad: string | null
  good: string | null
  /** The difference that the rule is about, as far as that is known. */
  isMarked: boolean
}

/** The sample as dotted keys and texts, for people: without what is not known, and with one time in UTC. */
export function sampleRowsOf(message: Pick<Message, 'sample'>): MessageRow[] {
  return flat(message.sample).slice(0, MAX_SAMPLE_ROWS)
}

function flat(sample: Record<string, unknown> | null): MessageRow[] {
  const rows: MessageRow[] = []
  const walk = (value: unknown, key: string) => {
    if (typeof value === 'object' && value !== null) {
      for (const [name, item] of Object.entries(value)) walk(item, key ? `${key}.${name}` : name)
    } else if (value !== null && value !== undefined) rows.push([key, oneLine(String(value), 300)])
  }
  walk(forPeople(sample ?? {}), '')
  return rows
}

/**
 * The bad event held against the good one, field by field: what is marked comes first, then the bad event in its order,
 * then what only the good one has; at most 30 rows. Empty unless the message has both.
 */
export function comparedRowsOf({ sample, goodSample, fields }: Message): ComparedRow[] {
  if (!sample || !goodSample) return []
  const [bad, good] = [new Map(flat(sample)), new Map(flat(goodSample))]
  const keys = [...new Set([...bad.keys(), ...good.keys()])]
  const named = keys.filter((key) => fields?.some((field) => rowKeyOf(field) === key) && bad.get(key) !== good.get(key))
  // What is masked was personal data, which one of the two had not.
  const isMasked = (text?: string) => text?.includes('***') ?? false
  const isOddOneOut = (key: string) => {
    const [one, other] = [bad.get(key), good.get(key)]
    return Boolean(one) !== Boolean(other) || isMasked(one) !== isMasked(other)
  }
  const marked = named.length > 0 ? named : keys.filter((key) => key.startsWith('params.') && isOddOneOut(key))
  const rest = keys.filter((key) => !marked.includes(key))
  return [...marked, ...rest].slice(0, MAX_SAMPLE_ROWS).map((key) => ({
    key,
    bad: bad.get(key) ?? null,
    good: good.get(key) ?? null,
    isMarked: marked.includes(key),
  }))
}

/** How a condition's parameter is called among the rows of a sample: `$host` is the event's own, `$$os` the key `$os`. */
function rowKeyOf(field: string): string {
  if (field.startsWith('$$')) return `params.${field.slice(1)}`
  return field.startsWith('$') ? field.slice(1) : `params.${field}`
}

/** The whole message as plain text. */
export function textOf(message: Message): string {
  const parts = [
    `${KIND_TITLES[message.kind]}: ${message.sentence}`,
    linesOf(rowsOf(message)).join('\n'),
    ...textBlocksOf(message).map(({ title, lines }) => [title, ...lines].join('\n')),
    message.url,
  ]
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`
}

const linesOf = (rows: readonly MessageRow[]) => rows.map(([label, text]) => `${label}: ${text}`)

/** A title, and what stands under it line by line, to be shown in letters of one width. */
export interface TextBlock {
  title: string
  /** At least one. */
  lines: string[]
}

/** The course as a line of bars, and the events field by field; those of which something is known. */
export function textBlocksOf(message: Message): TextBlock[] {
  return [chartBlock(message), eventsBlock(message)].filter((one) => one !== null)
}

function chartBlock(message: Message): TextBlock | null {
  if (!hasChart(message)) return null
  const most = numberText(chartMax(message))
  return { title: `${chartTitle(message)}, ${chartSpan(message)}; highest ${most}:`, lines: [sparkline(message)] }
}

function eventsBlock(message: Message): TextBlock | null {
  const compared = comparedRowsOf(message)
  if (compared.length > 0)
    return { title: `${COMPARED_TITLE}; * marks what matters`, lines: compared.map(comparedText) }
  const [title, sample] = message.sample ? [SAMPLE_TITLE, message.sample] : [GOOD_TITLE, message.goodSample]
  const rows = sampleRowsOf({ sample })
  return rows.length > 0 ? { title, lines: linesOf(rows) } : null
}

/** Said over an event without one beside it, over one that complies, and over both. */
export const SAMPLE_TITLE = 'One sample (personal data masked)'
export const GOOD_TITLE = 'A good event (personal data masked)'
export const COMPARED_TITLE = 'One sample beside a good one (personal data masked)'

function comparedText({ key, bad, good, isMarked }: ComparedRow): string {
  const mark = isMarked ? '* ' : '  '
  return bad === good ? `${mark}${key}: ${bad}` : `${mark}${key}: ${shownValue(bad)} (good: ${shownValue(good)})`
}

/** A value for people, also where there is none. */
export function shownValue(value: string | null): string {
  if (value === null) return 'missing'
  return value === '' ? 'empty' : value
}
