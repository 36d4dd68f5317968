import { type AlertChannel, ChannelSchema } from '../alerts/alert.ts'
import type { Finding } from '../alerts/finding.ts'
import { MAX_CHANGED_ISSUES, MAX_MUTE_REASON_LENGTH, MAX_NOTES_LENGTH } from '../contract/limits.ts'
import { SEVERITIES, type Severity } from '../contract/severities.ts'
import type { Instant } from '../core/clock.ts'
import { Closed, InstantInput, InstantSchema, Int, Nullable, OneOf, type Static, Type } from '../core/schema.ts'
import { cutText, namesMissingIn } from '../core/text.ts'
import { describeByKind, ISSUE_KINDS, issueKindOf } from './issue-kinds.ts'

export const ISSUE_STATUSES = ['open', 'acknowledged', 'resolved', 'muted'] as const
export type IssueStatus = (typeof ISSUE_STATUSES)[number]

/** Maximum number of hosts stored with an issue. */
export const MAX_HOSTS = 20
const MAX_TITLE_LENGTH = 300

const HISTORY_KINDS = [
  'opened',
  'fired',
  'reopened',
  'acknowledged',
  'resolved',
  'muted',
  'unmuted',
  'note',
  'notified',
  'held_back',
  'delivery_failed',
  'tracker_linked',
  'tracker_status',
  'escalated',
  'assigned',
  'commented',
] as const
export type HistoryKind = (typeof HISTORY_KINDS)[number]

/**
 * Details of a history entry, depending on its kind: the actor (`by`) or facts (`summary`, `occurrences`, `reason`).
 */
export type HistoryPayload = Record<string, unknown>

const issueFields = {
  id: Type.String(),
  alertId: Type.String({
    description:
      'Id of the alert, flow test, order capture rule, or first audit of that name; id of the domain when no orders arrive',
  }),
  status: OneOf(ISSUE_STATUSES),
  severity: OneOf(SEVERITIES),
  title: Type.String({ description: 'Name of the alert and its finding, in one sentence' }),
  alertType: OneOf(ISSUE_KINDS),
  occurrences: Int({ description: describeByKind(({ messages }) => messages.unit.meaning) }),
  capReached: Type.Boolean({ description: 'True if the throttle is holding back notifications' }),
  notificationsSent: Int(),
  impactValue: Nullable(Int()),
  notes: Nullable(Type.String()),
  trackerKey: Nullable(Type.String({ description: 'Key of the linked issue-tracker ticket' })),
  firstSeenAt: InstantSchema,
  lastSeenAt: InstantSchema,
  hosts: Type.Optional(Nullable(Type.Array(Type.String(), { description: 'Hosts, most frequent first, at most 20' }))),
  assigneeId: Type.Optional(Nullable(Type.String({ description: 'Member who takes care of the issue; null: nobody' }))),
  commentCount: Type.Optional(Int()),
  mutedUntil: Type.Optional(
    Type.Number({
      ...InstantSchema,
      description: 'Time at which the mute ends; if absent, the issue stays muted until a user unmutes it',
    }),
  ),
  muteReason: Type.Optional(Type.String({ description: 'Why it is muted; absent if no reason was given' })),
  mutedHosts: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'Hosts that are muted; absent if all are. Occurrences on other hosts reopen the issue, and these hosts stay ' +
        'muted until `mutedUntil`',
    }),
  ),
  maintenance: Type.Optional(
    Closed(
      { name: Type.String(), until: InstantSchema },
      { description: 'Maintenance window that withholds notifications; absent for a resolved issue or if none does' },
    ),
  ),
}

const EXAMPLE = {
  id: 'iss_01ke7k3h20x6b4n8r1t9v5c7zd',
  alertId: 'alr_01ke7jpe008wq2m5x0t4c9r7hv',
  status: 'open',
  severity: 'high',
  title: 'Purchases have a value: Google Analytics 4 purchase events break the rule on shop.example',
  alertType: ISSUE_KINDS[0],
  occurrences: 42,
  capReached: false,
  notificationsSent: 1,
  impactValue: 900,
  notes: null,
  trackerKey: null,
  firstSeenAt: 1_767_614_400_000,
  lastSeenAt: 1_767_616_200_000,
  hosts: ['shop.example'],
  assigneeId: null,
  commentCount: 0,
}

export const IssueSchema = Closed(issueFields, { $id: 'Issue', examples: [EXAMPLE] })
export type Issue = Static<typeof IssueSchema>

export const IssueDetailSchema = Closed(
  {
    ...issueFields,
    domainId: Nullable(Type.String()),
    domain: Nullable(Type.String({ description: 'Name of the domain; null if it was deleted or the issue has none' })),
    occurrenceSeries: Type.Array(
      Closed({
        day: Type.String({ description: 'UTC day as YYYY-MM-DD; days without occurrences are omitted' }),
        count: Int(),
      }),
    ),
    history: Type.Array(
      Closed({
        kind: Type.String(),
        payload: Nullable(Type.Record(Type.String(), Type.Unknown())),
        createdAt: InstantSchema,
      }),
      { description: 'The most recent 500 entries, oldest first' },
    ),
    nextEscalation: Type.Optional(
      Closed(
        {
          step: Int({ minimum: 1, description: 'Number of the step, from 1' }),
          at: InstantSchema,
          channels: Type.Optional(Type.Array(ChannelSchema, { description: 'Absent for viewers and read-only keys' })),
        },
        {
          description:
            'The escalation step that follows unless somebody acknowledges the issue; absent if there is none',
        },
      ),
    ),
  },
  {
    $id: 'IssueDetail',
    examples: [
      {
        ...EXAMPLE,
        domainId: 'dom_01ke7jm2q0d3k8f1z6y5b7n4ta',
        domain: 'Shop',
        occurrenceSeries: [{ day: '2026-01-05', count: 42 }],
        history: [{ kind: 'opened', payload: null, createdAt: 1_767_614_400_000 }],
      },
    ],
  },
)
export type IssueDetail = Static<typeof IssueDetailSchema>

const assigneeInput = Nullable(
  Type.String({ maxLength: 100, description: 'Member to assign the issue to; null: nobody' }),
)

export const IssueBulkInputSchema = Closed(
  {
    ids: Type.Array(Type.String(), { minItems: 1, maxItems: MAX_CHANGED_ISSUES }),
    status: Type.Optional(OneOf(['open', 'acknowledged', 'resolved'])),
    assigneeId: Type.Optional(assigneeInput),
  },
  { $id: 'IssueBulkInput', examples: [{ ids: ['iss_01ke7k3h20x6b4n8r1t9v5c7zd'], status: 'acknowledged' }] },
)
export type IssueBulkInput = Static<typeof IssueBulkInputSchema>

export const IssuePatchSchema = Closed(
  {
    status: Type.Optional(OneOf(ISSUE_STATUSES)),
    mutedUntil: Type.Optional(
      Nullable(
        InstantInput({
          description:
            'For `muted`: time at which the issue reopens, at most 366 days ahead; null: until a user unmutes it',
        }),
      ),
    ),
    muteReason: Type.Optional(
      Nullable(Type.String({ maxLength: MAX_MUTE_REASON_LENGTH, description: 'For `muted`: why the issue is muted' })),
    ),
    mutedHosts: Type.Optional(
      Nullable(
        Type.Array(Type.String({ minLength: 1 }), {
          maxItems: MAX_HOSTS,
          description:
            'For `muted`: hosts to mute; null or empty: all. Without `status`, an empty list ends the muting of hosts',
        }),
      ),
    ),
    notes: Type.Optional(
      Type.String({ maxLength: MAX_NOTES_LENGTH, description: 'Replaces the notes; an empty string removes them' }),
    ),
    assigneeId: Type.Optional(assigneeInput),
  },
  { $id: 'IssuePatch', examples: [{ status: 'acknowledged', notes: 'The checkout team is looking into it' }] },
)
export type IssuePatch = Static<typeof IssuePatchSchema>

/** How an issue is muted. */
export interface Mute {
  /** Time at which the mute ends; null: until a user unmutes the issue. */
  mutedUntil: Instant | null
  muteReason: string | null
  /** Normalized hosts, sorted; null: all hosts. */
  mutedHosts: string[] | null
}

export const NO_MUTE: Mute = { mutedUntil: null, muteReason: null, mutedHosts: null }

/**
 * A stored issue: the public fields, and the internal state for `reconcile`. An issue that is muted on some hosts keeps
 * its `Mute` while occurrences on other hosts change its status. Otherwise, only a muted issue has values in its fields.
 */
export interface IssueRecord extends Mute {
  id: string
  orgId: string
  alertId: string
  alertName: string
  /** One of `ISSUE_KINDS`. */
  alertType: string
  /** Channels to notify; null to use the alert's channels. */
  channels: AlertChannel[] | null
  domainId: string | null
  /** Part of the issue's key, in addition to alert and domain; empty if the type has no subjects. */
  subject: string
  status: IssueStatus
  severity: Severity
  title: string
  occurrences: number
  capReached: boolean
  /** Number of notifications held back since the last sent one. */
  heldBack: number
  notificationsSent: number
  impactValue: number | null
  notes: string | null
  trackerKey: string | null
  /** Member of the organization; null if the issue is unassigned. */
  assigneeId: string | null
  commentCount: number
  firstSeenAt: Instant
  lastSeenAt: Instant
  statusAt: Instant
  /** User or integration that set the status; null if an evaluation set it. */
  statusBy: string | null
  /**
   * Time at which the resolution notification is sent, possibly in the future. Null if recipients were last notified
   * that the issue is open.
   */
  resolutionToldAt: Instant | null
  /** Number of complete windows without a firing since the last firing, counted up to 2. */
  clearWindows: number
  /** True from a firing until a complete window passes without a firing. */
  firing: boolean
  /** Start of the last window whose firing is in the history. The history has one entry per window. */
  firedWindowAt: Instant
  hosts: string[] | null
  /** Most recent finding. */
  evidence: Finding | null
}

/** A new issue, before its first occurrence: without notes, ticket, assignee, comments, notifications or muting. */
type NewIssue = Omit<
  IssueRecord,
  | 'occurrences'
  | 'capReached'
  | 'heldBack'
  | 'notificationsSent'
  | 'notes'
  | 'trackerKey'
  | 'assigneeId'
  | 'commentCount'
  | keyof Mute
>

export type Transition = 'opened' | 'reopened' | 'repeated' | 'resolved'

/** A step of the escalation of an issue that nobody has acknowledged. */
export interface EscalatedStep {
  /** Number of the step, from 1. */
  step: number
  /** Number of steps. */
  steps: number
  afterMinutes: number
  /** Minutes since the opening was announced; more than `afterMinutes` if the step is late. */
  waitedMinutes: number
  /** Channels of the step, with sealed targets. They replace the alert's channels. */
  channels: readonly AlertChannel[]
  /** Sequence number of the history entry of the opening. */
  openingSeq: number
}

/** A request to notify. The outbox determines the recipients, and whether a throttle holds the notification back. */
export interface Notice {
  transition: Transition
  /** The finding that caused the notice, or the most recent finding. */
  finding: Finding | null
  /** Delay during which the notice can be withdrawn. */
  delayMs: number
  /** Set for an escalation, whose transition is `repeated`. */
  escalation?: EscalatedStep
}

/**
 * A change to the store; changes are applied in order. Occurrences change only through `count`, so that an issue's
 * number of occurrences equals the sum over its days. A notice always belongs to the history entry of its cause.
 */
export type Change =
  | { kind: 'open'; issue: NewIssue }
  | { kind: 'update'; issueId: string; values: Partial<Omit<IssueRecord, 'id' | 'orgId' | 'alertId' | 'occurrences'>> }
  | { kind: 'count'; issueId: string; day: string; count: number }
  | {
      kind: 'history'
      issueId: string
      entry: HistoryKind
      payload: HistoryPayload | null
      at: Instant
      notice: Notice | null
    }
  /** The issue was not resolved after all, so pending notices of its resolution must not be sent. */
  | { kind: 'withdraw'; issueId: string }

/**
 * A request to the outbox, made inside the transaction that changes the issue. `historySeq` is the sequence number of
 * the history entry that caused the notice. It is unique, so that it can be part of a delivery's key.
 */
export type NotificationRequest =
  | ({ kind: 'notify'; issueId: string; historySeq: number; at: Instant } & Notice)
  | { kind: 'withdraw'; issueId: string }
  | ({ kind: 'mail'; issueId: string; historySeq: number; at: Instant } & MemberMail)

/** An e-mail to a member about an issue. */
interface MemberMail {
  reason: 'assigned' | 'mentioned'
  /** The recipient. */
  userId: string
  /** User who caused the e-mail; null for a rule. */
  by: string | null
  /** The comment that mentions the recipient; null for an assignment. */
  comment: string | null
}

export type Enqueue = (order: NotificationRequest) => void

/** Returns the key of an incident. The key is equal for findings and issues of the same alert, domain and subject. */
export function incidentKey(of: Pick<Finding, 'domainId' | 'subject'>): string {
  return `${of.domainId ?? ''}\n${of.subject}`
}

function whereOf(finding: Finding): string {
  const [first, ...rest] = finding.hosts
  if (first === undefined) return ''
  if (rest.length === 0) return ` on ${first}`
  return ` on ${first} and ${rest.length} more ${rest.length === 1 ? 'host' : 'hosts'}`
}

/** Returns a one-sentence title for lists, tickets and subject lines. The wording depends on the kind of issue. */
export function issueTitle(alert: { name: string; alertType: string }, finding: Finding): string {
  const what = namesMissingIn(alert.name, [finding.vendor, finding.event]).join(' ')
  const { title } = issueKindOf(alert.alertType).messages
  const parts = { name: alert.name, what, where: whereOf(finding), finding }
  return cutText(title(parts), MAX_TITLE_LENGTH, '…')
}
