import { type EventPosition, findEvents } from '../alerts/find-events.ts'
import { maskedHistory } from '../conditions/masked-history.ts'
import { DAY_MS, HOUR_MS } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import type { Segment } from '../core/event.ts'
import { Closed, InstantInput, InstantSchema, Int, Nullable, type Static, Type } from '../core/schema.ts'
import { domainIdsNamed } from '../domains/project-store.ts'
import { DEFAULT_LIMIT, decodeCursor, page, pagingFields } from '../http/paging.ts'
import { may } from '../http/permission.ts'
import type { MembersOf } from '../labels/label.ts'
import { membersOf } from '../labels/store.ts'
import { type Binder, type Query, query } from '../warehouse/query.ts'
import { eventFilter, filterFields } from './event-filters.ts'
import { type Caller, insight } from './insight.ts'

const text = (maxLength: number, description: string) => Type.Optional(Type.String({ maxLength, description }))

const Input = Closed({
  domainId: text(100, 'Only this domain'),
  projectId: text(100, 'Only events in domains of this project'),
  vendor: text(200, 'Only this vendor, exact name'),
  event: text(200, 'Only this event, exact name'),
  ...filterFields,
  from: Type.Optional(
    InstantInput({ minimum: 0, description: 'Received at or after this instant; default: 24 hours before `to`' }),
  ),
  to: Type.Optional(InstantInput({ minimum: 0, description: 'Received before this instant; default: now' })),
  ...pagingFields,
})

const texts = Nullable(Type.String())
const numbers = Nullable(Type.Number())

const SegmentsSchema = Closed(
  {
    browser: Nullable(Type.String({ description: 'Family', examples: ['Safari'] })),
    browserVersion: Nullable(Type.String({ description: 'Major version', examples: ['18'] })),
    os: Nullable(Type.String({ description: 'Family of the operating system', examples: ['iOS'] })),
    device: Nullable(Type.String({ description: '`desktop`, `phone`, `tablet` or `bot`', examples: ['phone'] })),
    language: Nullable(Type.String({ description: 'ISO 639 code', examples: ['de'] })),
    release: Nullable(Type.String({ description: '`version` as a string', examples: ['12'] })),
    pageGroup: Nullable(Type.String({ description: '`path` with ids replaced', examples: ['/product/:id'] })),
    consent: Nullable(Type.String({ description: '`granted`, `denied` or `unknown`', examples: ['granted'] })),
    visitor: Nullable(Type.String({ description: '`new` or `returning`', examples: ['new'] })),
    country: Nullable(Type.String({ description: 'ISO 3166-1 alpha-2 code', examples: ['CH'] })),
  } satisfies Record<Segment, unknown>,
  { description: 'Properties of the visitor, the page and the release; null if unknown' },
)

export const EventSchema = Closed(
  {
    seq: Int(),
    id: Type.String(),
    ts: InstantSchema,
    receivedAt: InstantSchema,
    domainId: Type.String(),
    env: Type.String(),
    vendor: Type.String(),
    event: Type.String(),
    account: texts,
    kind: Type.String(),
    host: texts,
    path: texts,
    title: texts,
    sessionId: texts,
    customerId: texts,
    status: texts,
    execMs: numbers,
    durMs: numbers,
    bytes: numbers,
    version: numbers,
    segments: Type.Optional(SegmentsSchema),
    weight: Type.Number(),
    violations: Nullable(
      Type.Array(Type.String(), { description: 'Alerts whose rule the event violated when it was received' }),
    ),
    params: Type.Record(Type.String(), Type.String()),
  },
  {
    $id: 'Event',
    examples: [
      {
        seq: 4711,
        id: '9b2c61f0-5d0e-4e59-8c39-0d6f7f4d1a52',
        ts: 1_767_614_399_500,
        receivedAt: 1_767_614_400_000,
        domainId: 'dom_01ke7jm2q0d3k8f1z6y5b7n4ta',
        env: 'prod',
        vendor: 'Google Analytics 4',
        event: 'purchase',
        account: 'G-1ABC234DEF',
        kind: 'hit',
        host: 'shop.example',
        path: '/thanks',
        title: 'Thank you',
        sessionId: 'session-1',
        customerId: null,
        status: 'ok',
        execMs: null,
        durMs: 84,
        bytes: 512,
        version: 12,
        segments: {
          browser: 'Safari',
          browserVersion: '18',
          os: 'iOS',
          device: 'phone',
          language: 'de',
          release: '12',
          pageGroup: '/thanks',
          consent: 'granted',
          visitor: 'new',
          country: 'CH',
        },
        weight: 1,
        violations: ['alr_01ke7jpe008wq2m5x0t4c9r7hv'],
        params: { currency: 'EUR', transaction_id: '7' },
      },
    ],
  },
)

const Output = Closed({ events: Type.Array(EventSchema), nextCursor: texts }, { $id: 'EventList' })

/** Events, newest first. For viewers, personal data is masked both in the results and in the search. */
export const eventSearch = insight({
  id: 'searchEvents',
  summary: 'Search captured events, newest first',
  path: '/events',
  isQuick: true,
  refusals: ['notFound'],
  input: Input,
  output: Output,
  exports: 'events',
  async answer({ db, history: stored, privacy }, input, caller) {
    const { principal } = caller
    const history = may(principal, 'seePersonal') ? stored : maskedHistory(stored, privacy())
    const { orgId } = principal
    const limit = input.limit ?? DEFAULT_LIMIT
    const domainIds = domainIdsNamed(db, orgId, input)
    if (domainIds?.length === 0) return { events: [], nextCursor: null }
    const scope = { orgId, domainIds: domainIds ?? [] }
    const { from, to } = rangeOf(input, caller)
    const after = positionIn(input.cursor)
    // Everything newer has been returned, so it is not searched again.
    const window = { from, to: after === null ? to : Math.min(to, after.receivedAt + 1) }
    const found = await newestFirst(window, limit + 1, (window, most) =>
      history.query<EventPosition>(findQuery(input, { ...scope, window, most, after }, membersOf(db, orgId))),
    )
    const { items, nextCursor } = page(found, limit, ({ receivedAt, seq }) => [receivedAt, seq])
    // A second query reads the complete events, but only those to return.
    return { events: await findEvents(orgId, items, history), nextCursor }
  },
})

function rangeOf(input: Static<typeof Input>, { now }: Caller): Query['window'] {
  // Includes the current millisecond, so that events acknowledged just now are found.
  const to = input.to ?? now + 1
  const from = input.from ?? to - DAY_MS
  if (from >= to) throw new AppError('invalid', 'query.from: must be before `to`')
  return { from, to }
}

/**
 * Length of the part that is searched first. Each part is longer than the previously searched one by a constant factor.
 */
const FIRST_PART_MS = HOUR_MS
const GROWTH = 4

/**
 * Returns the newest `wanted` events of a window. Searches the window in parts from its end, so that older events are
 * not read unnecessarily.
 */
async function newestFirst(
  { from, to }: Query['window'],
  wanted: number,
  find: (part: Query['window'], most: number) => Promise<EventPosition[]>,
): Promise<EventPosition[]> {
  const found: EventPosition[] = []
  let lengthMs = FIRST_PART_MS
  for (let end = to; end > from && found.length < wanted; lengthMs *= GROWTH) {
    const start = Math.max(from, Math.floor((end - lengthMs) / HOUR_MS) * HOUR_MS)
    found.push(...(await find({ from: start, to: end }, wanted - found.length)))
    end = start
  }
  return found
}

interface Part {
  orgId: string
  /** Empty for all domains of the organization. */
  domainIds: readonly string[]
  window: Query['window']
  most: number
  /** Position of the last event of the previous page; null for the first page. */
  after: EventPosition | null
}

/** Returns the query that finds only the positions of matching events. */
function findQuery(
  input: Static<typeof Input>,
  { orgId, domainIds, window, most, after }: Part,
  members: MembersOf,
): Query {
  const filter = eventFilter(input, { domainIds, members })
  return query('insights.search', {
    orgId,
    window,
    write(binder) {
      const { filter: test, where, ...reads } = filter(binder)
      return {
        ...reads,
        sql: `SELECT seq, receivedAt FROM events WHERE ${test} ORDER BY receivedAt DESC, seq DESC LIMIT ${most}`,
        where: after === null ? where : `${isBefore(after, binder)} AND ${where}`,
      }
    },
  })
}

function isBefore({ receivedAt, seq }: EventPosition, binder: Binder): string {
  const at = binder.bind(receivedAt)
  return `(receivedAt < ${at} OR (receivedAt = ${at} AND seq < ${binder.bind(seq)}))`
}

/** Returns the position in a cursor; null without a cursor. */
function positionIn(cursor: string | undefined): EventPosition | null {
  const place = decodeCursor(cursor, 2)
  if (place === null) return null
  const [receivedAt, seq] = place
  // The query engine's own error for a non-integer would be unclear.
  if (!Number.isSafeInteger(receivedAt) || !Number.isSafeInteger(seq)) {
    throw new AppError('invalid', 'cursor: is not valid for this list')
  }
  return { receivedAt: Number(receivedAt), seq: Number(seq) }
}
