import type { Severity } from '../../alerts/alert.ts'
import type { Finding } from '../../alerts/finding.ts'
import type { Instant } from '../../core/clock.ts'
import { namesMissingIn } from '../../core/text.ts'
import type { IssueStatus, Transition } from '../../issues/issue.ts'
import { oneLine } from './one-line.ts'

/** `delivery_failed` tells owners that another channel could not be reached. */
export const MESSAGE_KINDS = ['opened', 'reopened', 'repeated', 'resolved', 'test', 'delivery_failed'] as const
export type MessageKind = (typeof MESSAGE_KINDS)[number]

/** What a message says of its issue. */
export interface MessageIssue {
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
  /** Most frequent first, at most 20. */
  hosts: string[] | null
  /** What people wrote on it. */
  notes: string | null
  /**
   * Who resolved it by hand: a person's name, or that of an integration; null while it stands, and when it ended by
   * itself.
   */
  resolvedBy: string | null
}

/** A change that may have caused an issue. */
export interface MessageChange {
  id: string
  title: string
  occurredAt: Instant
}

/** One window of what an issue counts. */
export interface MessagePoint {
  /** Its start. */
  at: Instant
  value: number
  /** Null where nothing in particular is expected. */
  expected: number | null
}

/**
 * What only the event history knows of an issue. It is asked for when a message is first sent, because the transaction
 * that decides to tell can't wait for it. Each part is null when there is none, or when the history did not answer in time.
 */
export interface MessageHistory {
  /** An event that complies, masked, with the vendor and event of the bad one where there is one. */
  goodSample: Record<string, unknown> | null
  /** Oldest first. */
  series: MessagePoint[] | null
  /** What probably caused the issue, in one sentence with its full stop. */
  cause: { sentence: string } | null
  /** What the rule looks at: keys of parameters, and fields as in conditions: `$host`. Null when that is not known. */
  fields: string[] | null
}

export const NO_HISTORY: MessageHistory = { goodSample: null, series: null, cause: null, fields: null }

/**
 * What is said, before it is rendered for a channel. Every text is one line without control characters, whatever
 * alert, event or page it came from; all of it together is below 20 kB as JSON.
 */
export interface Message extends MessageHistory {
  kind: MessageKind
  at: Instant
  /** What is wrong, in one sentence with its full stop. */
  sentence: string
  /** Null for a test. */
  issue: MessageIssue | null
  alert: { id: string; name: string } | null
  /** Null when the alert means no single domain, or the domain is gone. */
  domain: { id: string; name: string } | null
  vendor: string | null
  event: string | null
  /** Null where the alert type compares no numbers. */
  observed: number | null
  expected: number | null
  /** `expected` in the words of the alert type: `more than 10`; null where the number says it. */
  expectation: string | null
  /** What was observed, in words; left out where a number says it. */
  observation?: string
  /** One violating event, masked; nested values cut to what fits. */
  sample: Record<string, unknown> | null
  /** When the trouble of this opening, and not of an earlier one, was first seen; null for a test. */
  firstBadAt: Instant | null
  /** Changes of the domain in whose watch windows the issue opened, latest first; left out when there are none. */
  changes?: MessageChange[]
  /** What the impact value is an amount in (ISO 4217); left out: a unit of the organization's own. */
  currency?: string
  /** Open issues of the organization, this one included; null for a test. */
  openNow: number | null
  /** Notices about the issue that the throttle held back since the last one that went. */
  heldBack: number
  /** Where to read on. */
  url: string
}

/** What a message about an issue is made from. The sample must be masked already. */
export interface MessageFacts {
  transition: Transition
  at: Instant
  /** Address under which people reach the server, without a slash at its end. */
  publicUrl: string
  issue: Omit<MessageIssue, 'notes' | 'resolvedBy'> & Partial<Pick<MessageIssue, 'notes' | 'resolvedBy'>>
  alert: { id: string; name: string }
  domain: { id: string; name: string } | null
  /** What fired last; null for an issue that no evaluation raised. */
  finding: Pick<
    Finding,
    'summary' | 'observed' | 'expected' | 'expectation' | 'observation' | 'vendor' | 'event' | 'sample'
  > | null
  changes?: readonly MessageChange[]
  /** Default: `issue.firstSeenAt`. */
  firstBadAt?: Instant
  /** Of the organization; null or left out: none. */
  currency?: string | null
  openNow: number
}

/** Of a message as JSON, in UTF-8. Webhooks say little more, and theirs are below 20 kB. */
export const MAX_MESSAGE_BYTES = 19_000

const MAX_HOSTS = 20
const MAX_NOTES = 1000
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
    firstBadAt: facts.firstBadAt ?? issue.firstSeenAt,
    ...(facts.currency ? { currency: facts.currency } : {}),
    ...(changes.length > 0 ? { changes: changes.slice(0, MAX_CHANGES).map(shownChange) } : {}),
    openNow,
    url: issueUrl(facts.publicUrl, issue.id),
  }
  const room = Math.min(MAX_SAMPLE_BYTES, MAX_MESSAGE_BYTES - sizeOf(message))
  return { ...message, sample: finding?.sample ? fitting(finding.sample, room) : null }
}

/** Bytes of a value as JSON in UTF-8. */
export const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

const shownChange = ({ id, title, occurredAt }: MessageChange) => ({ id, title: name(title), occurredAt })

const issueUrl = (publicUrl: string, issueId: string) => `${publicUrl}/issues/${encodeURIComponent(issueId)}`

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

/** A copy of what fits into so many bytes, in order; what does not is left out, long values are cut. */
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

/** Says that the channel works. */
export function testMessage({ at, publicUrl, label }: { at: Instant; publicUrl: string; label: string }): Message {
  const sentence = `This is a test of the integration ${oneLine(label, 100)}: notifications arrive here.`
  return { ...ABOUT_NOTHING, kind: 'test', at, sentence, url: `${publicUrl}/integrations` }
}

/** Tells owners that `lost` did not arrive. `channel` names the way without secrets: `Webhook hooks.example.com`. */
export function failureMessage(
  lost: Message,
  { at, channel, reason }: { at: Instant; channel: string; reason: string },
): Message {
  const what = lost.alert ? `the notice about ${lost.alert.name}` : 'a notice'
  const sentence = `${oneLine(channel, 120)} could not be reached, so ${what} was not delivered: ${oneLine(reason, 200)}.`
  return { ...lost, kind: 'delivery_failed', at, sentence, heldBack: 0 }
}
