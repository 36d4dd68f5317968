import { type Clock, DAY_MS, type Instant } from '../core/clock.ts'
import { Closed, InstantSchema, Int, Nullable, OneOf, type Static, Type } from '../core/schema.ts'
import { domainIdsNamed } from '../domains/project-store.ts'
import { DEFAULT_LIMIT, decodeCursor, NextCursorSchema, page, pagingFields } from '../http/paging.ts'
import { may } from '../http/permission.ts'
import { type Route, route } from '../http/route.ts'
import { isOnlyOrg } from '../org/store.ts'
import type { Db } from '../store/database.ts'
import { LIMIT_NAMES } from '../store/retention-limits.ts'

const WaitingDeletionSchema = Closed(
  {
    name: OneOf(LIMIT_NAMES, { description: 'Setting of the server that was shortened' }),
    inForce: Int({ description: 'Limit that still applies: days, or bytes for `diskBudget`, with 0 for no budget' }),
    requested: Int({ description: 'Shorter limit, in the same unit' }),
    appliesAt: Type.Number({
      ...InstantSchema,
      description: 'Time from which data is deleted, unless the longer limit is restored or the shorter one confirmed',
    }),
    before: Nullable(
      Type.Number({ ...InstantSchema, description: 'Data from before this time is deleted; null for `diskBudget`' }),
    ),
    events: Nullable(Int({ description: 'Number of stored events that are deleted; null except for `retentionDays`' })),
    bytes: Nullable(Int({ description: 'Approximate size of the deleted event files; null for `runRetentionDays`' })),
  },
  { $id: 'WaitingDeletion' },
)

const UsageSchema = Closed(
  {
    days: Type.Array(
      Closed({ day: Type.String({ description: 'YYYY-MM-DD, UTC' }), domainId: Type.String(), events: Int() }),
    ),
    totalEvents: Int(),
    diskBytes: Int({
      description: 'Size of events, counts and page timings, including the organization’s part of shared files',
    }),
    clickhouseBytes: Nullable(
      Int({
        description:
          'Part of `diskBytes` in ClickHouse, estimated by the organization’s share of events; null if events are ' +
          'stored in the data folder',
      }),
    ),
    oldestEventAt: Nullable(InstantSchema),
    waitingDeletions: Type.Array(WaitingDeletionSchema, {
      description:
        'Shorter limits of stored data that apply after a day. Empty if there are none, for callers who are not owners, and on ' +
        'servers with several organizations',
    }),
  },
  {
    $id: 'Usage',
    examples: [
      {
        days: [{ day: '2026-01-05', domainId: 'dom_01ke7jm2q0d3k8f1z6y5b7n4ta', events: 1200 }],
        totalEvents: 1200,
        diskBytes: 48_000,
        clickhouseBytes: null,
        oldestEventAt: 1_767_614_400_000,
        waitingDeletions: [
          {
            name: 'retentionDays',
            inForce: 90,
            requested: 30,
            appliesAt: 1_767_700_800_000,
            before: 1_765_108_800_000,
            events: 1200,
            bytes: 48_000,
          },
        ],
      },
    ],
  },
)

const RejectionSchema = Closed(
  {
    domainId: Type.String(),
    reason: Type.String(),
    count: Int(),
    sample: Type.String({ description: 'Where the problem occurred, without values' }),
    firstSeenAt: InstantSchema,
    lastSeenAt: InstantSchema,
  },
  {
    $id: 'Rejection',
    examples: [
      {
        domainId: 'dom_01ke7jm2q0d3k8f1z6y5b7n4ta',
        reason: 'events: vendor: Required property',
        count: 3,
        sample: 'events[0].vendor: Required property',
        firstSeenAt: 1_767_614_400_000,
        lastSeenAt: 1_767_616_200_000,
      },
    ],
  },
)

const RejectionListSchema = Closed(
  { rejections: Type.Array(RejectionSchema), nextCursor: NextCursorSchema },
  { $id: 'RejectionList' },
)

const domainId = Type.Optional(Type.String({ maxLength: 100 }))
const projectId = Type.Optional(Type.String({ maxLength: 100, description: 'Only domains of this project' }))
const UsageQuery = Closed({ days: Type.Optional(Int({ minimum: 1, maximum: 400, default: 30 })), projectId })
const RejectionQuery = Closed({ domainId, projectId, ...pagingFields })

interface UsageRow {
  domainId: string
  day: number
  events: number
}

/**
 * Events by day and domain. `domainIds` restricts the result to these domains; null means all, including deleted
 * domains.
 */
function usageOf(db: Db, orgId: string, from: Instant, domainIds: readonly string[] | null) {
  const rows = db
    .prepare<[object], UsageRow>(
      // Not a bound parameter, because numbers are bound as doubles and the day would have a fractional part.
      `SELECT domainId, hour / ${DAY_MS} AS day, sum(events) AS events FROM usage
       WHERE orgId = @orgId AND hour >= @from
         AND (@domainIds IS NULL OR domainId IN (SELECT value FROM json_each(@domainIds)))
       GROUP BY domainId, day ORDER BY day, domainId`,
    )
    .all({ orgId, from, domainIds: domainIds && JSON.stringify(domainIds) })
  return rows.map(({ domainId, day, events }) => ({
    day: new Date(day * DAY_MS).toISOString().slice(0, 10),
    domainId,
    events,
  }))
}

export interface UsageRouteDeps {
  db: Db
  clock: Clock
  /** Returns what an organization stores. */
  storageOf(orgId: string): Promise<Pick<Static<typeof UsageSchema>, 'diskBytes' | 'clickhouseBytes' | 'oldestEventAt'>>
  /** Returns the shorter limits that wait, with the data of the whole server that they will delete. */
  waitingDeletions(): Static<typeof WaitingDeletionSchema>[]
  /** Returns a function that masks personal data in a string. */
  maskTextOf(orgId: string): (text: string) => string
}

/** Routes for usage, storage, and the ledger of rejected items. */
export function usageRoutes({ db, clock, storageOf, waitingDeletions, maskTextOf }: UsageRouteDeps): Route[] {
  return [
    route({
      id: 'getUsage',
      method: 'GET',
      path: '/v1/usage',
      access: 'read',
      tag: 'Usage',
      summary: 'Get the number of events by day and domain, and their disk usage',
      description: '`diskBytes` and `oldestEventAt` refer to the whole organization.',
      refusals: ['notFound'],
      tool: true,
      query: UsageQuery,
      answer: UsageSchema,
      exports: 'days',
      async handle({ principal, query: { days = 30, projectId } }) {
        const { orgId } = principal
        const today = Math.floor(clock.now() / DAY_MS) * DAY_MS
        const used = usageOf(db, orgId, today - (days - 1) * DAY_MS, domainIdsNamed(db, orgId, { projectId }))
        const totalEvents = used.reduce((sum, { events }) => sum + events, 0)
        const waiting = may(principal, 'seeBackups') && isOnlyOrg(db) ? waitingDeletions() : []
        return { days: used, totalEvents, ...(await storageOf(orgId)), waitingDeletions: waiting }
      },
    }),
    route({
      id: 'listRejections',
      method: 'GET',
      path: '/v1/events/rejected',
      access: 'read',
      tag: 'Events',
      summary: 'List data that the collector rejected or changed, with reasons, latest first',
      refusals: ['notFound'],
      tool: true,
      query: RejectionQuery,
      answer: RejectionListSchema,
      exports: 'rejections',
      handle({ principal: { orgId }, query: { limit = DEFAULT_LIMIT, cursor, ...asked } }) {
        const domainIds = domainIdsNamed(db, orgId, asked)
        const rows = rejectionsOf(db, { orgId, domainIds, limit: limit + 1 }, cursor)
        const { items, nextCursor } = page(rows, limit, (row) => [row.lastSeenAt, row.domainId, row.reason])
        const mask = maskTextOf(orgId)
        // Senders choose field names, which may contain personal data.
        const masked = items.map((row) => ({ ...row, reason: mask(row.reason), sample: mask(row.sample) }))
        return { rejections: masked, nextCursor }
      },
    }),
  ]
}

interface RejectionFilter {
  orgId: string
  /** Null for all. */
  domainIds: readonly string[] | null
  limit: number
}

function rejectionsOf(db: Db, { domainIds, ...filter }: RejectionFilter, cursor?: string) {
  const [lastSeenAt, lastDomainId, lastReason] = decodeCursor(cursor, 3) ?? [null, null, null]
  return db
    .prepare<Record<string, unknown>, Static<typeof RejectionSchema>>(
      `SELECT domainId, reason, count, sample, firstSeenAt, lastSeenAt FROM rejection
       WHERE orgId = @orgId AND (@domainIds IS NULL OR domainId IN (SELECT value FROM json_each(@domainIds)))
         AND (@lastSeenAt IS NULL OR (-lastSeenAt, domainId, reason) > (-@lastSeenAt, @lastDomainId, @lastReason))
       ORDER BY -lastSeenAt, domainId, reason LIMIT @limit`,
    )
    .all({ ...filter, domainIds: domainIds && JSON.stringify(domainIds), lastSeenAt, lastDomainId, lastReason })
}
