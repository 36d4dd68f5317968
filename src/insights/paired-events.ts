import { maskPersonal } from '../conditions/mask-personal-data.ts'
import { MAX_PAIRED_DAYS } from '../contract/limits.ts'
import { DAY_MS, type Instant } from '../core/clock.ts'
import { Closed, Int, Nullable, Type } from '../core/schema.ts'
import { dayOf } from '../orders/order-reconciliation.ts'
import { type Query, query } from '../warehouse/query.ts'
import { MAX_WINDOW_MS, PAIRING_KEYS, PAIRING_VENDORS, pairColumns, pairCountsSql } from './event-pair-queries.ts'
import { insight, type Sources } from './insight.ts'
import { daysOf, domainFields, percentOf, periodFields, requestedDomains } from './query-params.ts'

const DEFAULT_DAYS = 7
/** Maximum number of names in a response. The names with the most events are returned. */
const MAX_NAMES = 200
/**
 * Maximum number of rows read, one per name and day. This allows for far more names than are returned, with all of
 * their days.
 */
const MAX_ROWS = 20_000

const counts = {
  matched: Int({ description: 'Pairs of a browser event and a server event with the same name and event id' }),
  browserOnly: Int({ description: 'Browser events without a partner' }),
  serverOnly: Int({ description: 'Server events without a partner' }),
}
const matchedPct = Nullable(
  Type.Number({
    description: 'Pairs as a percentage of the sum of pairs, `browserOnly` and `serverOnly`; null when the sum is 0',
  }),
)

const PairedEventSchema = Closed(
  {
    domainId: Type.String(),
    vendor: Type.String(),
    event: Type.String({ description: 'Name as sent by browsers' }),
    ...counts,
    matchedPct,
    browserWithoutId: Int({ description: 'Number of `browserOnly` events without an event id' }),
    serverWithoutId: Int({ description: 'Number of `serverOnly` events without an event id' }),
    days: Type.Array(
      Closed({ day: Type.String({ description: 'Date in UTC', examples: ['2026-01-05'] }), ...counts, matchedPct }),
      { description: 'All days, oldest first; a pair counts on the day of its earlier event' },
    ),
  },
  { $id: 'PairedEvent' },
)

const EXAMPLE = {
  matched: 380,
  browserOnly: 22,
  serverOnly: 8,
  matchedPct: 92.7,
}

/**
 * For vendors that deduplicate browser and server events: the share of each name's events that have a partner on the
 * other side.
 */
export const pairedEvents = insight({
  id: 'listPairedEvents',
  summary: 'Show how many events the browser and the server sent with the same event id',
  description:
    'Covers Meta, TikTok, Pinterest, Snapchat, Reddit and LinkedIn: event names sent by both sides on these days. ' +
    '`/docs/use/orders` lists the parameters that contain the event id, and the window of each vendor. `dev` events do not count.',
  path: '/insights/paired-events',
  refusals: ['notFound', 'unavailable'],
  input: Closed({
    ...domainFields,
    days: Type.Optional(
      Int({
        minimum: 1,
        maximum: MAX_PAIRED_DAYS,
        default: DEFAULT_DAYS,
        description:
          'Number of UTC days up to and including today, or the day in which `to` lies. Not used with `from`',
      }),
    ),
    ...periodFields,
  }),
  output: Closed(
    {
      events: Type.Array(PairedEventSchema, {
        maxItems: MAX_NAMES,
        description: 'Sorted by number of events, largest first',
      }),
    },
    {
      $id: 'PairedEventList',
      examples: [
        {
          events: [
            {
              domainId: 'dom_01ke7jm2q0d3k8f1z6y5b7n4ta',
              vendor: 'Meta Pixel',
              event: 'Purchase',
              ...EXAMPLE,
              browserWithoutId: 3,
              serverWithoutId: 0,
              days: [{ day: '2026-01-05', ...EXAMPLE }],
            },
          ],
        },
      ],
    },
  ),
  exports: 'events',
  async answer(sources, { days = DEFAULT_DAYS, from, to, ...asked }, { principal: { orgId }, now }) {
    const { privacy, retentionMs } = sources
    const domainIds = requestedDomains(sources, orgId, asked).map(({ id }) => id)
    const span = daysOf({ days, from, to }, { maximum: MAX_PAIRED_DAYS, now })
    const first = Math.max(span.from, dayOf(now - retentionMs) + 1)
    const names = first <= span.to ? await pairedNames(sources, { orgId, domainIds, first, last: span.to, now }) : []
    const own = privacy()
    const spanned = Array.from({ length: Math.max(0, span.to - first + 1) }, (_, at) => first + at)
    return {
      events: names.slice(0, MAX_NAMES).map(({ domainId, vendor, event, byDay, serverEvent: _, ...all }) => ({
        domainId,
        vendor: maskPersonal(vendor, '$vendor', own),
        event: maskPersonal(event, '$event', own),
        ...withShare(all),
        days: spanned.map((day) => ({
          day: new Date(day * DAY_MS).toISOString().slice(0, 10),
          ...withShare(byDay.get(day) ?? { matched: 0, browserOnly: 0, serverOnly: 0 }),
        })),
      })),
    }
  },
})

type Counts = Record<keyof typeof counts, number>

function withShare<C extends Counts>(of: C): C & { matchedPct: number | null } {
  const all = of.matched + of.browserOnly + of.serverOnly
  return { ...of, matchedPct: all === 0 ? null : percentOf(of.matched, all) }
}

/** A name sent by both browsers and servers, with its counts. */
export interface PairedName extends Counts {
  domainId: string
  vendor: string
  /** The name as sent by browsers. */
  event: string
  serverEvent: string
  browserWithoutId: number
  serverWithoutId: number
  /** Counts by day since the Unix epoch. Days without events are absent. */
  byDay: ReadonlyMap<number, Counts>
}

interface Row extends Omit<PairedName, 'byDay' | 'event'> {
  pairName: string
  day: number
  browserEvent: string
}

interface PairedNamesScope {
  orgId: string
  domainIds: readonly string[]
  /** First day, in days since the Unix epoch. */
  first: number
  /** Last day; default: today. */
  last?: number
  now: Instant
  maxRows?: number
}

/**
 * Returns the names sent by both browsers and servers from the day `first` to the day `last`. The names with the most events
 * come first.
 */
export async function pairedNames(
  { history }: Pick<Sources, 'history'>,
  { orgId, domainIds, first, now, last = dayOf(now), maxRows = MAX_ROWS }: PairedNamesScope,
): Promise<PairedName[]> {
  if (domainIds.length === 0) return []
  // An event on the first day may have a partner from up to one window earlier, and one on the last day a later one.
  const to = Math.min(now + 1, (last + 1) * DAY_MS + MAX_WINDOW_MS)
  const scope = { orgId, domainIds, window: { from: first * DAY_MS - MAX_WINDOW_MS, to } }
  const known = await history.query<{ name: string }>(pairingKeysQuery(scope))
  const keys = PAIRING_KEYS.filter((key) => known.some(({ name }) => name === key))
  const rows = keys.length > 0 ? await history.query<Row>(pairedEventsQuery(scope, keys, { first, last, maxRows })) : []
  const names = Map.groupBy(rows, ({ domainId, vendor, pairName }) => JSON.stringify([domainId, vendor, pairName]))
  return [...names.values()]
    .flatMap(([row, ...others]) => (row ? [totalOf([row, ...others])] : []))
    .sort((a, b) => eventsOf(b) - eventsOf(a) || (textOf(a) < textOf(b) ? -1 : 1))
}

const eventsOf = ({ matched, browserOnly, serverOnly }: Counts) => 2 * matched + browserOnly + serverOnly
const textOf = ({ domainId, vendor, event }: PairedName) => JSON.stringify([domainId, vendor, event])

function totalOf(rows: readonly [Row, ...Row[]]): PairedName {
  const [{ domainId, vendor, browserEvent, serverEvent }] = rows
  const sum = (field: keyof Counts | 'browserWithoutId' | 'serverWithoutId') =>
    rows.reduce((sum, row) => sum + row[field], 0)
  return {
    domainId,
    vendor,
    event: browserEvent,
    serverEvent,
    matched: sum('matched'),
    browserOnly: sum('browserOnly'),
    serverOnly: sum('serverOnly'),
    browserWithoutId: sum('browserWithoutId'),
    serverWithoutId: sum('serverWithoutId'),
    byDay: new Map(
      rows.map(({ day, matched, browserOnly, serverOnly }) => [day, { matched, browserOnly, serverOnly }]),
    ),
  }
}

interface Scope extends Pick<Query, 'window'> {
  orgId: string
  domainIds: readonly string[]
}

function pairingKeysQuery({ orgId, window }: Scope): Query {
  return query('insights.pairing-keys', {
    over: 'names',
    orgId,
    window,
    write: (binder) => ({ sql: `SELECT name FROM names WHERE ${binder.among('name', PAIRING_KEYS).join('')}` }),
  })
}

/**
 * Returns the query for rows from the day `first` to the day `last`. It covers the names that both sides sent in the
 * window. The names with the most events come first.
 */
function pairedEventsQuery(
  { orgId, domainIds, window }: Scope,
  keys: readonly string[],
  { first, last, maxRows }: { first: number; last: number; maxRows: number },
): Query {
  return query('insights.paired-events', {
    orgId,
    window,
    write: (binder) => {
      const vendors = PAIRING_VENDORS.map(({ vendor }) => vendor)
      const tests = [
        ...binder.among('domainId', domainIds),
        ...binder.among('vendor', vendors),
        `env = 'prod' AND kind = 'event'`,
      ]
      const ofName = 'OVER (PARTITION BY domainId, vendor, pairName)'
      return {
        keys,
        sql: `SELECT * FROM (
          WITH sent AS MATERIALIZED (SELECT domainId, ${pairColumns(keys, binder)} FROM events WHERE ${tests.join(' AND ')})
          SELECT domainId, vendor, pairName, day, matched, browserOnly, serverOnly, browserWithoutId, serverWithoutId,
            max(browserName) ${ofName} AS browserEvent, max(serverName) ${ofName} AS serverEvent,
            sum(2 * matched + browserOnly + serverOnly) ${ofName} AS ofAllDays
          FROM (${pairCountsSql('sent', { by: ['domainId'] })}) AS counted
        ) AS named WHERE browserEvent IS NOT NULL AND serverEvent IS NOT NULL AND day BETWEEN ${first} AND ${last}
          AND matched + browserOnly + serverOnly > 0
        ORDER BY ofAllDays DESC, domainId, vendor, pairName, day LIMIT ${maxRows}`,
      }
    },
  })
}
