import type { Instant } from '../../core/clock.ts'
import { DERIVED_SEGMENTS, NO_SEGMENTS, type Segments, type StoredEvent } from '../../core/event.ts'
import { momentText } from '../../core/moment-text.ts'
import { amountText, namesMissingIn, numberText, oneLine } from '../../core/text.ts'
import { issueKindOf } from '../../issues/issue-kinds.ts'
import { hasChart } from './chart-png.ts'
import { chartMax, chartSpan, chartTitle, sparkline } from './chart-text.ts'
import { type Message, type MessageEscalation, type MessageKind, zoneOf } from './message.ts'

/** Headings by message kind. */
const KIND_TITLES: Record<MessageKind, string> = {
  opened: 'New issue',
  reopened: 'Reopened',
  repeated: 'Still happening',
  resolved: 'Resolved',
  test: 'Test',
  delivery_failed: 'Notification not delivered',
  assigned: 'Assigned to you',
  mentioned: 'Mentioned you',
}

/** Heading of a message. An escalation is a repeat with its own heading. */
export const titleOf = ({ kind, escalation }: Pick<Message, 'kind' | 'escalation'>): string =>
  kind === 'repeated' && escalation ? 'Escalated' : KIND_TITLES[kind]

/** A label and its value. */
export type MessageRow = readonly [label: string, text: string]

const MAX_SAMPLE_ROWS = 30

/** Subject line: severity, message kind and issue title. For a test, only the kind. */
export function subjectOf(message: Message): string {
  const { issue, domain } = message
  if (!issue) return `Tagwarden: ${titleOf(message).toLowerCase()}`
  const place = namesMissingIn(issue.title, [domain?.name])
    .map((name) => ` (${name})`)
    .join('')
  return oneLine(`[${issue.severity}] ${titleOf(message)}: ${issue.title}${place}`, 200)
}

/** Facts with their labels, in reading order. Unknown facts are omitted. */
export function rowsOf(message: Message): MessageRow[] {
  const { issue, domain, vendor, event, openNow, heldBack } = message
  if (!issue) return []
  const timeOf = (instant: Instant) => momentText(instant, zoneOf(message))
  const since = timeOf(message.firstBadAt ?? issue.firstSeenAt)
  const firstSeen = timeOf(issue.firstSeenAt)
  const rows: (MessageRow | null)[] = [
    message.escalation ? [ESCALATION, escalationText(message.escalation)] : null,
    message.comment ? ['Comment', message.comment] : null,
    ...comparisonOf(message),
    ...lossRowsOf(message),
    ['Since', since],
    firstSeen === since ? null : ['First seen', firstSeen],
    ['Last seen', timeOf(issue.lastSeenAt)],
    domain && ['Domain', domain.name],
    vendor ? ['Vendor', vendor] : null,
    event ? ['Event', event] : null,
    message.cause && ['Probable cause', message.cause.sentence],
    message.affected ? ['Who is affected', message.affected.sentence] : null,
    ...(message.changes ?? []).map(({ title, occurredAt }) => ['Change', `${title}, ${timeOf(occurredAt)}`] as const),
    issue.hosts?.length ? ['Hosts', issue.hosts.join(', ')] : null,
    ['Severity', issue.severity],
    issue.assignee ? ['Assigned to', issue.assignee.name] : null,
    issue.resolvedBy ? ['Resolved by', issue.resolvedBy] : null,
    issue.notes ? ['Note', issue.notes] : null,
    issue.impactValue === null ? null : ['Impact value', amountText(issue.impactValue, message.currency ?? null)],
    heldBack > 0
      ? ['Held back', `${heldBack} earlier ${heldBack === 1 ? 'notification' : 'notifications'}, due to throttling`]
      : null,
    openNow === null ? null : ['Open now', `${openNow} ${openNow === 1 ? 'issue' : 'issues'}`],
  ]
  return rows.filter((row) => row !== null)
}

/** Label of the row that says why a message was escalated. */
export const ESCALATION = 'Escalation'

function escalationText({ step, steps, waitedMinutes }: MessageEscalation): string {
  return `Not acknowledged within ${minutesText(waitedMinutes)} (step ${step} of ${steps})`
}

const UNITS = [
  [24 * 60, 'day'],
  [60, 'hour'],
  [1, 'minute'],
] as const

/** `90` as `1 hour 30 minutes`. At most the two largest units are shown. */
function minutesText(minutes: number): string {
  let left = Math.max(1, minutes)
  const parts = UNITS.flatMap(([size, unit]) => {
    const count = Math.floor(left / size)
    left -= count * size
    return count === 0 ? [] : [`${count} ${unit}${count === 1 ? '' : 's'}`]
  })
  return parts.slice(0, 2).join(' ')
}

function lossRowsOf({ orderCapture }: Message): MessageRow[] {
  if (!orderCapture) return []
  const { missingValue, missingValuePerHour, missingOrders, currency } = orderCapture
  const rows: (MessageRow | null)[] = [
    missingValuePerHour === null ? null : ['Missing per hour', amountText(missingValuePerHour, currency)],
    missingValue === null ? null : ['Missing so far', amountText(missingValue, currency)],
    missingOrders.length === 0 ? null : ['Missing orders', missingOrders.join(', ')],
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
  const { unit, expected: usual } = issueKindOf(issue.alertType).messages
  if (usual === null) return []
  return [
    ['Expected', usual],
    ['Observed', `${numberText(issue.occurrences)} ${issue.occurrences === 1 ? unit.one : unit.many} so far`],
  ]
}

/** Technical fields, which are not shown. The domain is also omitted because it has its own row. */
const TECHNICAL: readonly string[] = ['seq', 'id', 'receivedAt', 'orgId', 'domainId'] satisfies (keyof StoredEvent)[]

const isTime = (value: unknown) => typeof value === 'number' && !Number.isNaN(new Date(value).getTime())

/**
 * Returns the fields to show. `ts` is renamed to `time`. The weight is included only if the event counts more than
 * once. Segments are shown as fields, except those that repeat another field and an unknown consent.
 */
function forPeople(sample: Record<string, unknown>, timezone: string): Record<string, unknown> {
  const fields = Object.entries(sample).flatMap(([key, value]) => {
    if (TECHNICAL.includes(key) || (key === 'weight' && value === 1)) return []
    if (key === 'segments') return Object.entries(value as Segments).filter(isShown)
    return [key === 'ts' && isTime(value) ? ['time', momentText(Number(value), timezone)] : [key, value]]
  })
  return Object.fromEntries(fields)
}

const isShown = ([name, value]: [string, string | null]) =>
  !DERIVED_SEGMENTS.some((derived) => derived === name) && value !== NO_SEGMENTS.consent

/** A field of the violating event next to the same field of the valid event. */
export interface ComparedRow {
  key: string
  /** Value in the violating event. Null if the event lacks the field, empty if the value is blank. */
  bad: string | null
  good: string | null
  /**
   * True if the rule checks the field and its values differ. If no such field differs, true for parameters that are
   * missing or masked in only one event.
   */
  isMarked: boolean
}

/** Rows for a sample, with dotted keys and string values. Empty fields are omitted. */
export function sampleRowsOf(message: Pick<Message, 'sample' | 'timezone'>): MessageRow[] {
  return flat(message.sample, zoneOf(message)).slice(0, MAX_SAMPLE_ROWS)
}

function flat(sample: Record<string, unknown> | null, timezone: string): MessageRow[] {
  const rows: MessageRow[] = []
  const walk = (value: unknown, key: string) => {
    if (typeof value === 'object' && value !== null) {
      for (const [name, item] of Object.entries(value)) walk(item, key ? `${key}.${name}` : name)
    } else if (value !== null && value !== undefined) rows.push([key, oneLine(String(value), 300)])
  }
  walk(forPeople(sample ?? {}, timezone), '')
  return rows
}

/**
 * Compares the violating event with the valid event field by field. Marked fields come first, then the other fields of
 * the violating event in their order, then fields that only the valid event has. At most 30 rows. Empty unless the
 * message contains both events.
 */
export function comparedRowsOf(message: Message): ComparedRow[] {
  const { sample, goodSample, fields } = message
  if (!sample || !goodSample) return []
  const rowsByKey = (event: Record<string, unknown>) => new Map(flat(event, zoneOf(message)))
  const [bad, good] = [rowsByKey(sample), rowsByKey(goodSample)]
  const keys = [...new Set([...bad.keys(), ...good.keys()])]
  const named = keys.filter((key) => fields?.some((field) => rowKeyOf(field) === key) && bad.get(key) !== good.get(key))
  // If a value is masked in only one event, only that event contained personal data.
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

/** Row key for the parameter of a condition. `$host` refers to a field of the event, `$$os` to the parameter `$os`. */
function rowKeyOf(field: string): string {
  if (field.startsWith('$$')) return `params.${field.slice(1)}`
  return field.startsWith('$') ? field.slice(1) : `params.${field}`
}

/** Renders the complete message as plain text. */
export function textOf(message: Message): string {
  const parts = [
    `${titleOf(message)}: ${message.sentence}`,
    linesOf(rowsOf(message)).join('\n'),
    ...textBlocksOf(message).map(({ title, lines }) => [title, ...lines].join('\n')),
    message.url,
  ]
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`
}

const linesOf = (rows: readonly MessageRow[]) => rows.map(([label, text]) => `${label}: ${text}`)

/** A titled block of lines, rendered in a monospace font. */
export interface TextBlock {
  title: string
  /** Contains at least one line. */
  lines: string[]
}

/** The chart as a sparkline, and the events field by field. Blocks without data are omitted. */
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
    return { title: `${COMPARED_TITLE}; * marks relevant differences`, lines: compared.map(comparedText) }
  const [title, sample] = message.sample ? [SAMPLE_TITLE, message.sample] : [GOOD_TITLE, message.goodSample]
  const rows = sampleRowsOf({ ...message, sample })
  return rows.length > 0 ? { title, lines: linesOf(rows) } : null
}

/** Titles for a violating event alone, a valid event alone, and both events. */
export const SAMPLE_TITLE = 'Sample event (personal data masked)'
export const GOOD_TITLE = 'Valid event (personal data masked)'
export const COMPARED_TITLE = 'Violating vs. valid event (personal data masked)'

function comparedText({ key, bad, good, isMarked }: ComparedRow): string {
  const mark = isMarked ? '* ' : '  '
  return bad === good ? `${mark}${key}: ${bad}` : `${mark}${key}: ${shownValue(bad)} (valid: ${shownValue(good)})`
}

/** Returns the displayed text of a value. Missing and empty values are shown as a word. */
export function shownValue(value: string | null): string {
  if (value === null) return 'missing'
  return value === '' ? 'empty' : value
}
