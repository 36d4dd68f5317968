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

const StatusSchema = Closed({
  instance: Instance,
  version: Type.String({ maxLength: 100 }),
  diskBytes: Count,
  freeBytes: Nullable(Count),
  storedThrough: Time,
})

/** What a collector reports about itself. */
export type CollectorStatus = Static<typeof StatusSchema>

export const parseSync = parser(Closed({ status: StatusSchema, epoch: Count, version: Count }))

/**
 * The answer to a `sync` request. With `isWhole`, `rows` begin a copy that must be made anew: the next requests continue
 * with this epoch and version until `hasMore` is false.
 */
export interface SyncAnswer {
  epoch: number
  /** Event numbers of this collector are congruent to it modulo 64. */
  slot: number
  /** Number of collectors that are in contact, including this one. */
  live: number
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
    instance: Instance,
    segment: Name,
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
  instance: Instance,
  segment: Name,
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
})

/** Everything that the control node records about a segment once its events are stored. */
export type Commit = Static<typeof CommitSchema>

export const parseCommit = parser(CommitSchema)
