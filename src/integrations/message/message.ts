import type { Finding, OrderLoss } from '../../alerts/finding.ts'
import { PAGE_PATHS, pagePath } from '../../contract/page-paths.ts'
import type { Severity } from '../../contract/severities.ts'
import type { Instant } from '../../core/clock.ts'
import { namesMissingIn, oneLine } from '../../core/text.ts'
import type { IssueStatus, Transition } from '../../issues/issue.ts'

/**
 * `delivery_failed` reports that a message could not be delivered to another channel. `assigned` and `mentioned` are
 * e-mails to one member.
 */
export const MESSAGE_KINDS = [
  'opened',
  'reopened',
  'repeated',
  'resolved',
  'test',
  'delivery_failed',
  'assigned',
  'mentioned',
] as const
export type MessageKind = (typeof MESSAGE_KINDS)[number]

/** Messages that only the internal organization has: to the operator, and to users about their second factor. */
export type InternalTransition = 'operator' | 'security'

/** True for a message that reports a state of the issue to the channels of its alert. */
export const isIssueState = (kind: MessageKind | InternalTransition): kind is Transition =>
  kind === 'opened' || kind === 'reopened' || kind === 'repeated' || kind === 'resolved'

/** Issue data in a message. */
interface MessageIssue {
  id: string
  title: string
  status: IssueStatus
  severity: Severity
  /** One of `ISSUE_KINDS`. */
  alertType: string
  occurrences: number
  impactValue: number | null
  firstSeenAt: Instant
  lastSeenAt: Instant
  /** At most 20 hosts, most frequent first. */
  hosts: string[] | null
  /** Notes written by users. */
  notes: string | null
  /** Member to whom the issue is assigned. Null or absent if it is unassigned. */
  assignee?: { id: string; name: string } | null
  /**
   * Name of the user or integration that resolved the issue. Null if the issue is unresolved or was resolved
   * automatically.
   */
  resolvedBy: string | null
}

/** A step of the escalation of an issue that nobody has acknowledged. */
export interface MessageEscalation {
  /** Number of the step, from 1. */
  step: number
  /** Number of steps. */
  steps: number
  afterMinutes: number
  /** Minutes since the opening was announced. */
  waitedMinutes: number
}

/** A change that may have caused the issue. */
export interface MessageChange {
  id: string
  title: string
  occurredAt: Instant
}

/** One window of the issue's series. */
export interface MessagePoint {
  /** Start of the window. */
  at: Instant
  value: number
  /** Null if no particular value is expected. */
  expected: number | null
}

/**
 * Data from the event history. It is fetched when a message is first sent, because the transaction that creates the
 * notification cannot wait for it. A part is null if there is no data for it or the history did not respond in time.
 */
export interface MessageHistory {
  /** A valid event, masked. It has the same vendor and event name as the violating event, if there is one. */
  goodSample: Record<string, unknown> | null
  /** Oldest first. */
  series: MessagePoint[] | null
  /** Probable cause, as one sentence with a full stop. */
  cause: { sentence: string } | null
  /** The segments in which the issue occurs, as one sentence with a full stop. Null if none stands out. */
  affected: { sentence: string } | null
  /**
   * Fields that the rule checks: parameter keys, and event fields as written in conditions, such as `$host`. Null if
   * unknown.
   */
  fields: string[] | null
}

export const NO_HISTORY: MessageHistory = { goodSample: null, series: null, cause: null, affected: null, fields: null }

/**
 * Content of a notification before it is rendered for a channel. Every text is a single line without control
 * characters, regardless of its source. The complete message is smaller than 20 kB as JSON.
 */
export interface Message extends MessageHistory {
  kind: MessageKind
  at: Instant
  /** The problem in one sentence with a full stop. */
  sentence: string
  /** Null for a test. */
  issue: MessageIssue | null
  alert: { id: string; name: string } | null
  /** Null if the alert does not have exactly one domain, or if the domain was deleted. */
  domain: { id: string; name: string } | null
  vendor: string | null
  event: string | null
  /** Null if the alert type does not compare numbers. */
  observed: number | null
  expected: number | null
  /** `expected` as worded for the alert type: `more than 10`. Null if the number is sufficient. */
  expectation: string | null
  /** `observed` as worded for the alert type. Absent if the number is sufficient. */
  observation?: string
  /** Orders that did not reach a vendor. Absent for other issues. */
  orderCapture?: OrderLoss
  /** One violating event, masked. Nested values are truncated to fit the size limit. */
  sample: Record<string, unknown> | null
  /** First occurrence since the issue last opened. Null for a test. */
  firstBadAt: Instant | null
  /** Changes to the domain in whose watch window the issue opened, most recent first. Absent if there are none. */
  changes?: MessageChange[]
  /** Currency of the impact value (ISO 4217). Absent if the organization has no currency. */
  currency?: string
  /** Time zone of the organization, for times in texts. Absent in messages stored by earlier versions, shown in UTC. */
  timezone?: string
  /** Comment that mentions the recipient. Absent unless the kind is `mentioned`. */
  comment?: string
  /** Number of open issues in the organization, including this one. Null for a test. */
  openNow: number | null
  /** The escalation step that sends the message. Absent for other messages. */
  escalation?: MessageEscalation
  /** Number of notifications about the issue that the throttle has held back since the last sent notification. */
  heldBack: number
  /** URL of the issue or of a page with details. */
  url: string
}

/** Returns the time zone for times in texts. */
export const zoneOf = ({ timezone = 'UTC' }: Pick<Message, 'timezone'>): string => timezone

/** Input of `buildMessage`. Its sample must already be masked. */
export interface MessageFacts {
  transition: Transition
  at: Instant
  /** Public URL of the server, without a trailing slash. */
  publicUrl: string
  issue: Omit<MessageIssue, 'notes' | 'resolvedBy'> & Partial<Pick<MessageIssue, 'notes' | 'resolvedBy'>>
  alert: { id: string; name: string }
  domain: { id: string; name: string } | null
  /** Most recent finding. Null for an issue that was not opened by an evaluation. */
  finding: Pick<
    Finding,
    'summary' | 'observed' | 'expected' | 'expectation' | 'observation' | 'orderCapture' | 'vendor' | 'event' | 'sample'
  > | null
  changes?: readonly MessageChange[]
  /** Default: `issue.firstSeenAt`. */
  firstBadAt?: Instant
  /** Currency of the organization. Null or absent if it has none. */
  currency?: string | null
  /** Time zone of the organization. */
  timezone: string
  openNow: number
  /** Absent if the message is not an escalation. */
  escalation?: MessageEscalation
}

/** Maximum size of a message as JSON in UTF-8. Webhook payloads are slightly larger and stay below 20 kB. */
export const MAX_MESSAGE_BYTES = 19_000

const MAX_HOSTS = 20
const MAX_NOTES = 1000
const MAX_COMMENT = 2000
const MAX_CHANGES = 3
const MAX_SAMPLE_BYTES = 6000
const MAX_SAMPLE_DEPTH = 4
const MAX_SAMPLE_VALUE = 500

const name = (text: string) => oneLine(text, 200)

const ABOUT_NOTHING = {
  issue: null,
  alert: null,
  domain: null,
  vendor: null,
  event: null,
  observed: null,
  expected: null,
  expectation: null,
  sample: null,
  ...NO_HISTORY,
  firstBadAt: null,
  openNow: null,
  heldBack: 0,
} satisfies Partial<Message>

export function buildMessage(facts: MessageFacts): Message {
  const { transition, at, issue, alert, domain, finding, changes = [], openNow } = facts
  const message: Message = {
    ...ABOUT_NOTHING,
    kind: transition,
    at,
    sentence: sentenceOf(facts),
    issue: {
      id: issue.id,
      title: oneLine(issue.title, 300),
      status: issue.status,
      severity: issue.severity,
      alertType: issue.alertType,
      occurrences: issue.occurrences,
      impactValue: issue.impactValue,
      firstSeenAt: issue.firstSeenAt,
      lastSeenAt: issue.lastSeenAt,
      hosts: issue.hosts?.slice(0, MAX_HOSTS).map((host) => oneLine(host, 100)) ?? null,
      notes: issue.notes ? oneLine(issue.notes, MAX_NOTES) : null,
      assignee: issue.assignee ? { id: issue.assignee.id, name: name(issue.assignee.name) } : null,
      resolvedBy: transition === 'resolved' && issue.resolvedBy ? name(issue.resolvedBy) : null,
    },
    alert: { id: alert.id, name: name(alert.name) },
    domain: domain && { id: domain.id, name: name(domain.name) },
    vendor: finding?.vendor ? name(finding.vendor) : null,
    event: finding?.event ? name(finding.event) : null,
    observed: finding?.observed ?? null,
    expected: finding?.expected ?? null,
    expectation: finding?.expectation ? oneLine(finding.expectation, 300) : null,
    ...(finding?.observation ? { observation: oneLine(finding.observation, 300) } : {}),
    ...(finding?.orderCapture ? { orderCapture: shownLoss(finding.orderCapture) } : {}),
    firstBadAt: facts.firstBadAt ?? issue.firstSeenAt,
    ...(facts.currency ? { currency: facts.currency } : {}),
    timezone: facts.timezone,
    ...(changes.length > 0 ? { changes: changes.slice(0, MAX_CHANGES).map(shownChange) } : {}),
    openNow,
    ...(facts.escalation ? { escalation: escalationOf(facts.escalation) } : {}),
    url: issueUrl(facts.publicUrl, issue.id),
  }
  const room = Math.min(MAX_SAMPLE_BYTES, MAX_MESSAGE_BYTES - sizeOf(message))
  return { ...message, sample: finding?.sample ? fitting(finding.sample, room) : null }
}

/** Size of a value in bytes, as JSON in UTF-8. */
export const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

/** Drops the channels, which must not be stored in a message. */
const escalationOf = ({ step, steps, afterMinutes, waitedMinutes }: MessageEscalation): MessageEscalation => ({
  step,
  steps,
  afterMinutes,
  waitedMinutes,
})

const shownChange = ({ id, title, occurredAt }: MessageChange) => ({ id, title: name(title), occurredAt })

const shownLoss = (loss: OrderLoss): OrderLoss => ({
  ...loss,
  missingOrders: loss.missingOrders.map((id) => oneLine(id, 200)),
})

const issueUrl = (publicUrl: string, issueId: string) => publicUrl + pagePath.issue(issueId)

function sentenceOf({ transition, issue, alert, domain, finding }: MessageFacts): string {
  const title = oneLine(issue.title, 300)
  const placeIn = (text: string) =>
    namesMissingIn(text, [domain && name(domain.name)])
      .map((place) => ` on ${place}`)
      .join('')
  if (transition === 'resolved') {
    return `${title}: resolved${issue.resolvedBy ? ` by ${name(issue.resolvedBy)}` : ''}${placeIn(title)}.`
  }
  if (!finding) return `${title}${placeIn(title)}.`
  const said = `${name(alert.name)}: ${oneLine(finding.summary, 300)}`
  const what = namesMissingIn(said, [finding.vendor, finding.event]).join(' ')
  return `${said}${what ? ` (${name(what)})` : ''}${placeIn(said)}.`
}

/**
 * Copies the fields of a sample, in order, up to a limit in bytes. Fields that do not fit are omitted. Long values are
 * truncated.
 */
export function fitting(sample: Record<string, unknown>, bytes: number): Record<string, unknown> {
  let left = bytes
  const take = (text: string) => {
    left -= Buffer.byteLength(JSON.stringify(text)) + 2
    return left >= 0
  }
  const copy = (value: unknown, depth: number): unknown => {
    if (Array.isArray(value) && depth < MAX_SAMPLE_DEPTH) {
      return value.map((item) => copy(item, depth + 1)).filter((item) => item !== undefined)
    }
    if (typeof value === 'object' && value !== null && depth < MAX_SAMPLE_DEPTH) {
      const entries = Object.entries(value).flatMap(([key, item]) => {
        const label = oneLine(key, 200)
        const kept = take(label) ? copy(item, depth + 1) : undefined
        return kept === undefined ? [] : [[label, kept] as const]
      })
      return Object.fromEntries(entries)
    }
    const plain = value === null || typeof value === 'boolean' || Number.isFinite(value)
    const leaf = plain ? value : oneLine(typeof value === 'object' ? '…' : String(value), MAX_SAMPLE_VALUE)
    return take(String(leaf)) ? leaf : undefined
  }
  return copy(sample, 0) as Record<string, unknown>
}

/** Message for testing whether a channel works. */
export function testMessage({ at, publicUrl, label }: { at: Instant; publicUrl: string; label: string }): Message {
  const sentence = `This is a test of the integration ${oneLine(label, 100)}. Notifications will be sent here.`
  return { ...ABOUT_NOTHING, kind: 'test', at, sentence, url: publicUrl + PAGE_PATHS.integrations.list }
}

/**
 * Message that reports the failed delivery of `lost`. `channel` is a name without secrets: `Webhook hooks.example.com`.
 */
export function failureMessage(
  lost: Message,
  { at, channel, reason }: { at: Instant; channel: string; reason: string },
): Message {
  const what = lost.alert ? `The notification about ${lost.alert.name}` : 'A notification'
  const sentence = `${what} could not be delivered via ${oneLine(channel, 120)}: ${oneLine(reason, 200)}.`
  return { ...lost, kind: 'delivery_failed', at, sentence, heldBack: 0 }
}

/** Message that notifies a member of an assignment or a mention. `by`: name of the user who caused it; null for a rule. */
export function memberMessage(
  facts: MessageFacts,
  { by, comment }: { by: string | null; comment: string | null },
): Message {
  const title = oneLine(facts.issue.title, 300)
  const actor = by === null ? 'An ownership rule' : name(by)
  const about = { ...buildMessage(facts), heldBack: 0 }
  if (comment === null)
    return { ...about, kind: 'assigned', sentence: `${actor} assigned this issue to you: ${title}.` }
  const sentence = `${actor} mentioned you in a comment: ${title}.`
  return { ...about, kind: 'mentioned', sentence, comment: oneLine(comment, MAX_COMMENT) }
}
