import { generateBatches } from '../../test/engine/generated-events.ts'
import { cast } from '../../test/fixtures.ts'
import { DAY_MS, type Instant, MINUTE_MS } from '../core/clock.ts'
import type { EventStatus, StoredEvent } from '../core/event.ts'
import { type Random, randomOf } from '../detector/series.fixture.ts'
import { createDomain } from '../domains/store.ts'
import type { Principal } from '../http/principal.ts'
import { SeriesMonitor } from '../signals/series-monitor.ts'
import { type EventFields, HOUR, WarehouseFixture, type WarehouseSnapshot } from '../warehouse/warehouse.fixture.ts'
import type { History } from '../warehouse/warehouse.ts'
import type { Caller, Sources } from './insight.ts'

/** Ten days of events for insight tests: one organization with two domains, and another organization with one. */
export interface HistoryFixture {
  fixture: WarehouseFixture
  orgId: string
  /** Two domains of the organization that runs the queries, and a third one of the other organization. */
  domains: readonly { id: string; name: string }[]
  /** All events received by both organizations, in order. */
  events: readonly StoredEvent[]
  /** An instant after the last event. */
  now: Instant
  /** Returns the sources as seen by the organization's owner. `history` replaces the fixture's history. */
  sources(history?: History): Sources
  caller: Caller
  [Symbol.asyncDispose](): Promise<void>
}

export interface HistoryOptions {
  /** Minimum number of events to generate. Default: a fixed set of 20,000 events. */
  events?: number
  /** Random seed. Only used when `events` is set. */
  seed?: number
  /** Events added to the first domain. */
  more?: readonly EventFields[]
}

const DAYS = 10
/** Share of events in the last days whose values query engines might interpret differently. */
const ODD_SHARE = 0.3

/** The organization, user and domains to which the events of a history belong. */
interface Owned {
  orgId: string
  userId: string
  domains: readonly { id: string; name: string; orgId: string }[]
}

/** The default history, shared by all tests. Generating it takes a hundred times as long as restoring its snapshot. */
let whole: Promise<Owned & { image: WarehouseSnapshot }> | null = null

/**
 * Opens a real warehouse. Its events are in compacted, merged and recently written files; the most recent ones are in
 * the spool.
 */
export async function openHistory({ events, seed = 1, more = [] }: HistoryOptions = {}): Promise<HistoryFixture> {
  const { fixture, orgId, userId, domains } = await (events === undefined ? openWhole() : fillHistory(events, seed))
  if (more.length > 0) await fixture.add(more.map((said) => ({ ...said, orgId, domainId: domains[0]?.id ?? '' })))
  const now = fixture.clock.now() + 1
  const principal: Principal = {
    via: 'key',
    userId,
    orgId,
    role: 'owner',
    readOnly: false,
    keyId: null,
    sessionId: null,
  }
  return {
    fixture,
    orgId,
    domains,
    events: fixture.events,
    now,
    caller: { principal, now },
    sources: (history = fixture.warehouse) => sourcesOf(fixture, orgId, domains, history, now),
    [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose](),
  }
}

async function openWhole(): Promise<Owned & { fixture: WarehouseFixture }> {
  whole ??= fillHistory(20_000, 1).then(async ({ fixture, ...owned }) => {
    await using filled = fixture
    return { ...owned, image: filled.snapshot() }
  })
  const { image, ...owned } = await whole
  return { ...owned, fixture: await WarehouseFixture.open({}, image) }
}

async function fillHistory(events: number, seed: number): Promise<Owned & { fixture: WarehouseFixture }> {
  const fixture = await WarehouseFixture.open()
  const { db, clock } = fixture
  const { alice, mallory } = cast(db, clock)
  const { orgId, userId } = alice
  const domain = (name: string, of: string) => ({ id: createDomain(db, clock, of, { name }), name, orgId: of })
  const domains = [domain('Shop', orgId), domain('Blog', orgId), domain('Other', mallory.orgId)] as const
  const places = domains.map(({ id, orgId }) => ({ orgId, domainId: id }))
  const odd = Math.ceil(events * ODD_SHARE)
  const oddBatches = generateBatches(HOUR + (DAYS - 2) * DAY_MS, places, odd)
  for (const said of oddBatches.flatMap(({ events }) => events)) {
    said.params = withoutMarks(said.params ?? {})
    said.event = said.event?.replace(MARKS, '') ?? ''
  }
  const batches = [...trafficFrom(HOUR, places, events - odd, randomOf(seed)), ...oddBatches]
  batches.sort((a, b) => a.at - b.at)
  await fill(fixture, batches)
  return { fixture, orgId, userId, domains }
}

function sourcesOf(
  { db }: WarehouseFixture,
  orgId: string,
  domains: readonly { id: string; orgId: string }[],
  history: History,
  now: Instant,
): Sources {
  const seriesMonitor = new SeriesMonitor({ warehouse: history, gapsOf: () => [], settingsOf: () => [] })
  const own = domains.filter((domain) => domain.orgId === orgId)
  return {
    db,
    seriesMonitor,
    history,
    watermark: () => now,
    retentionMs: 90 * DAY_MS,
    maxEventsRead: Number.POSITIVE_INFINITY,
    domains: () => own.map(({ id }) => ({ id, createdAt: 0 })),
    privacy: () => ({ regions: ['DE'], patterns: [] }),
    chart: (series, range) => seriesMonitor.chart({ ...series, orgId, sensitivity: 5, timezone: 'UTC' }, range, now),
  }
}

/** The DuckDB client removes U+FEFF at the start of a string as a byte order mark, so no string here begins with it. */
const MARKS = /^\ufeff+/

function withoutMarks(params: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(params).map(([key, value]) => [key.replace(MARKS, ''), value.replace(MARKS, '')]),
  )
}

interface Batch {
  at: Instant
  events: EventFields[]
}

async function fill(fixture: WarehouseFixture, batches: readonly Batch[]): Promise<void> {
  for (const [n, { at, events }] of batches.entries()) {
    fixture.clock.set(at)
    await fixture.add(events)
    const left = batches.length - n
    if (n % 20 === 19 && left > 6) await fixture.flush()
    if (n % 100 === 99 && left > 60) {
      await fixture.compact(at + MINUTE_MS)
      await fixture.compactCounts(at + MINUTE_MS)
    }
    if (left === 30) {
      await fixture.flush()
      await fixture.merge()
    }
    if (left === 15) await fixture.flush()
  }
}

/** Steps of a session: a page, and the events sent to each vendor on it. */
const STEPS = [
  { path: '/', ga4: 'page_view', meta: 'PageView' },
  { path: '/products/{n}', ga4: 'view_item', meta: 'ViewContent' },
  { path: '/products/{n}', ga4: 'add_to_cart', meta: 'AddToCart' },
  { path: '/cart', ga4: 'page_view', meta: 'PageView' },
  { path: '/checkout', ga4: 'begin_checkout', meta: 'InitiateCheckout' },
  { path: '/orders/4711000{n}/done', ga4: 'purchase', meta: 'Purchase' },
] as const

const GA4 = 'Google Analytics 4'
const META = 'Meta Pixel'
const STATUSES: readonly (EventStatus | null)[] = [
  'ok',
  'ok',
  'ok',
  'ok',
  'failure',
  'timeout',
  'exception',
  'blocked',
  null,
]
/** Weights whose sums are not exact in binary floating point. */
const WEIGHTS = [1, 1, 1, 1, 2, 10, 1 / 0.3]

/** Number of sessions per batch. Sessions are batched because each batch waits for the disk. */
const VISITS = 5

/** Generates shop sessions by day and night, with at least `count` events in total. */
function* trafficFrom(
  start: Instant,
  places: readonly { orgId: string; domainId: string }[],
  count: number,
  random: Random,
): Iterable<Batch> {
  const everyMs = Math.floor((DAYS * DAY_MS) / (count / 8))
  let made = 0
  for (let n = 0; made < count; n += VISITS) {
    const visits = Array.from({ length: VISITS }, (_, visit) =>
      visitOf(n + visit, random, places[Math.floor(random() ** 2 * places.length)]),
    )
    made += visits.flat().length
    yield { at: start + n * everyMs, events: visits.flat() }
  }
}

/** Returns the events of a session. */
function visitOf(n: number, random: Random, place: EventFields = {}): EventFields[] {
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T
  const steps = STEPS.slice(0, 1 + Math.floor(random() * STEPS.length))
  const shared: EventFields = {
    ...place,
    env: random() < 0.1 ? 'dev' : 'prod',
    sessionId: random() < 0.9 ? `session-${n}` : null,
    weight: pick(WEIGHTS),
    version: n % 2 === 0 ? 12 : 13,
    host: pick(['shop.example', 'www.shop.example', null]),
  }
  const at = start(n)
  return steps.flatMap((step, index): EventFields[] => {
    const path = random() < 0.95 ? step.path.replace('{n}', String(Math.floor(random() ** 3 * 400))) : null
    const common = { ...shared, path, ts: at + index * MINUTE_MS, title: pick(['Shop', 'Größe 😀', '', null]) }
    const sent = (vendor: string, event: string, kind: StoredEvent['kind'] = 'event'): EventFields => ({
      ...common,
      vendor,
      event,
      kind,
      status: pick(STATUSES),
      execMs: random() < 0.3 ? Math.round(random() * 9000) / 10 : null,
      params: paramsOf(n, event, random),
    })
    return [
      sent(GA4, step.ga4),
      ...(random() < 0.8 ? [sent(META, step.meta)] : []),
      ...(index === 0 ? [sent(GA4, '', 'library')] : []),
      ...(random() < 0.1 ? [sent('Google Tag Manager', 'GA4 - purchase', 'tag')] : []),
      ...(random() < 0.1 ? [sent('cdn.example', '', 'hit')] : []),
    ]
  })
}

const start = (n: number) => HOUR + n * MINUTE_MS

const MAILS = ['jo.doe@example.com', 'jane@example.com', 'jim%40example.com', 'x@shop.example', 'no mail']
const PHONES = ['+49 30 901820', '+4930901820', '+1 650 253 0000', '030 901820', '12']

/**
 * Returns keys with values of every kind: few and many distinct values, numbers, booleans, blanks, personal data and
 * unusual values.
 */
function paramsOf(n: number, event: string, random: Random): Record<string, string> {
  const pick = (values: readonly string[]) => values[Math.floor(random() * values.length)] ?? ''
  const params: Record<string, string> = {
    currency: pick(['EUR', 'EUR', 'EUR', 'USD', '', ' ']),
    value: String(Math.round(random() ** 2 * 1e5) / 100),
    client_id: `${Math.floor(random() * 1e9)}.${1_700_000_000 + n}`,
    page_location: `https://shop.example/products/${Math.floor(random() ** 3 * 1800)}`,
    logged_in: pick(['true', 'false']),
    items: pick(['1', '2', '3', 'many']),
    Currency: pick(['eur', 'EUR']),
    'ep.promo': pick(['', '\t', '\u00a0', 'SPRING', 'größe 😀', 'x'.repeat(500)]),
  }
  if (random() < 0.3) params.user_email = pick(MAILS)
  if (random() < 0.2) params.user_phone = pick(PHONES)
  if (random() < 0.1)
    params[pick(['', '$os', '__proto__', 'a=b', 'jo.doe@example.com', '^k"'])] = pick(['1e400', '0', '٣'])
  if (/purchase/i.test(event)) params.transaction_id = random() < 0.95 ? `T-${n}` : ''
  return params
}
