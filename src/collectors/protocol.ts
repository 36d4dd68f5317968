import type { StoredEvent } from '../core/event.ts'
import { Closed, Int, Nullable, parser, type Static, Type } from '../core/schema.ts'
import type { ChangedRow } from './row-feed.ts'

/** Path prefix of the requests of collectors to the control node. */
export const CONTROL_PATH = '/collectors/v1/'

/** Maximum number of batches per claim. */
export const MAX_CLAIM = 20_000
/** Maximum size of a request: the content of a segment of 32 MiB whose events all differ. */
export const MAX_REQUEST_BYTES = 16 * 1024 * 1024

const Name = Type.String({ pattern: '^\\d{1,16}$', description: 'Name of a segment' })
const Count = Int({ minimum: 0 })
const Time = Int({ minimum: 0 })
const Id = Type.String({ maxLength: 100 })
const Label = Type.String({ maxLength: 4000 })
/** Random id of a collector's data folder. */
const Instance = Type.String({ minLength: 16, maxLength: 64 })

/** A segment, and the epoch of the rows by which its events were judged. */
const Sender = { instance: Instance, epoch: Count, segment: Name }

const StatusSchema = Closed({
  instance: Instance,
  version: Type.String({ maxLength: 100 }),
  diskBytes: Count,
  freeBytes: Nullable(Count),
  storedThrough: Time,
})

/** State that a collector reports. */
export type CollectorStatus = Static<typeof StatusSchema>

const SpanOfTime = Closed({ fromAt: Time, toAt: Time })

/** The control node shows events as the collector has stored them. */
const EventSchema = Type.Unsafe<StoredEvent>(Type.Object({ seq: Count, receivedAt: Time, id: Type.String() }))

const ReportSchema = Closed({
  firstEvents: Type.Array(Closed({ domainId: Id, receivedAt: Time }), {
    description: 'Domains that have sent events since the start of the collector',
  }),
  legacyScripts: Type.Array(Id, { description: 'Domains whose script was loaded from its earlier address' }),
  refused: Type.Array(SpanOfTime, { description: 'Periods in which events could not be stored, until now at most' }),
  live: Type.Array(Closed({ domainId: Id, events: Type.Array(EventSchema), skipped: Count }), {
    description: 'Most recent events of domains that are being watched',
  }),
})

/** Observations of a collector that are not stored in segments. */
export type Report = Static<typeof ReportSchema>

export const parseSync = parser(
  Closed({ status: StatusSchema, epoch: Count, version: Count, report: Type.Optional(ReportSchema) }),
)

/**
 * The answer to a `sync` request. With `isWhole`, `rows` begin a copy that replaces the earlier one: the next requests continue
 * with this epoch and version until `hasMore` is false.
 */
export interface SyncAnswer {
  epoch: number
  /** Event numbers of this collector are congruent to it modulo 64. */
  slot: number
  /**
   * Number of processes among which rate limits are divided: the collectors in contact, including this one, and the
   * control node if it has received events itself within a minute.
   */
  live: number
  /** Ids of domains whose live view is open. */
  watched: string[]
  /** Ids of organizations that exceed their share of the disk. */
  overBudget: string[]
  isWhole: boolean
  rows: ChangedRow[]
  version: number
  hasMore: boolean
}

const SpanSchema = Closed({ afterSeq: Count, lastSeq: Count, fromAt: Time, toAt: Time })

/**
 * The events of a segment: those with `afterSeq < seq <= lastSeq`, received from `fromAt` to `toAt`, both inclusive.
 */
export type SegmentSpan = Static<typeof SpanSchema>

export const parseClaim = parser(
  Closed({
    ...Sender,
    span: SpanSchema,
    hashes: Type.Array(Type.String({ pattern: '^-?\\d{1,19}$' }), { maxItems: MAX_CLAIM }),
  }),
)

/** The answer to a `claim` request: hashes of batches that belong to other segments. */
export interface ClaimAnswer {
  taken: string[]
}

const Ledger = Type.Array(Closed({ reason: Label, count: Count, sample: Label }))
const Origin = { orgId: Id, domainId: Id }

const CommitSchema = Closed({
  ...Sender,
  span: SpanSchema,
  content: Closed({
    counts: Type.Array(
      Closed({
        ...Origin,
        host: Nullable(Label),
        hour: Time,
        events: Count,
        lastReceivedAt: Time,
        lastVersion: Nullable(Type.Number()),
      }),
    ),
    vendors: Type.Array(Closed({ domainId: Id, vendor: Label, lastReceivedAt: Time })),
    folded: Type.Optional(Type.Array(Closed({ ...Origin, events: Count, lastReceivedAt: Time }))),
  }),
  names: Closed({
    tracked: Type.Array(Closed({ domainId: Id, vendor: Label, event: Label, events: Count, lastDay: Count })),
    evicted: Type.Array(Closed({ domainId: Id, vendor: Label, event: Label })),
  }),
  ledger: Type.Array(Closed({ ...Origin, receivedAt: Time, ledger: Ledger })),
  violated: Type.Array(Closed({ alertId: Id, domainId: Id, receivedAt: Time }), {
    description: 'Most recent violation of each alert in each domain',
  }),
  sightings: Type.Array(
    Closed({
      ...Origin,
      vendor: Type.String(),
      key: Type.String(),
      kind: Type.String(),
      count: Type.Number(),
      formed: Type.Optional(Type.Number()),
      paths: Type.Array(Nullable(Type.String())),
      example: Type.String(),
      firstSeenAt: Time,
      lastSeenAt: Time,
    }),
    { description: 'Personal data in the events, unmasked' },
  ),
})

/** Everything that the control node records about a segment once its events are stored. */
export type Commit = Static<typeof CommitSchema>

export const parseCommit = parser(CommitSchema)
