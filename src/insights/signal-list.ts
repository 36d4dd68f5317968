import { autoAlertOf, signalSensitivity } from '../alerts/auto-alert.ts'
import { maskPersonal } from '../conditions/mask-personal-data.ts'
import { SIGNAL_MODES, SIGNAL_STATES } from '../contract/statuses.ts'
import { DAY_MS, type Instant } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { Closed, InstantSchema, Nullable, OneOf, type Static, Type } from '../core/schema.ts'
import {
  DEFAULT_LIMIT,
  decodeCursor,
  fieldOfSort,
  NextCursorSchema,
  type Page,
  page,
  pagingFields,
  sortField,
} from '../http/paging.ts'
import { ExplanationSchema } from '../issues/domain-drop-explanation.ts'
import type { IssueRecord } from '../issues/issue.ts'
import { issuesOfAlert } from '../issues/store.ts'
import { pointFields, roundBounds, roundPoint } from '../signals/chart-point.ts'
import { rowStart, type SeriesScope, SIGNAL_STEP_MS, tickBefore } from '../signals/series.ts'
import type { KnownSignal } from '../signals/series-monitor.ts'
import { SIGNAL_SENSITIVITY, type Signal } from '../signals/signal.ts'
import type { Db } from '../store/database.ts'
import { insight, type Sources } from './insight.ts'
import { domainFields, requestedDomains } from './query-params.ts'

/** Length of the series returned for each signal. */
const SERIES_MS = 7 * DAY_MS

/**
 * Maximum page size with series. It is low because each series is evaluated hour by hour from the beginning of its
 * history.
 */
const MOST_SERIES = 50

/** Number of domains whose signal names are read with one query. */
const DOMAINS_AT_ONCE = 50

const EXAMPLE = {
  domainId: 'dom_01ke7jm2q0d3k8f1z6y5b7n4ta',
  domain: 'Shop',
  vendor: 'Google Analytics 4',
  event: 'purchase',
  mode: 'auto',
  sensitivity: 5,
  state: 'low',
  learningUntil: null,
  observed: 12,
  expected: 84.2,
  low: 51,
  high: 122,
  silentSince: null,
  lastEventAt: 1_767_614_340_000,
  explainedBy: null,
  issueId: 'iss_01ke7jx4h8q2w6e9r3t5y7u1iv',
  series: [{ start: 1_767_610_800_000, observed: 12, expected: 84.2, low: 51, high: 122, partial: false }],
}

const SignalSchema = Closed(
  {
    domainId: Type.String(),
    domain: Type.String({ description: 'Name of the domain' }),
    vendor: Type.String(),
    event: Type.String(),
    mode: OneOf(SIGNAL_MODES),
    sensitivity: Type.Number({
      description: 'Effective sensitivity: that of the signal or, if not set, of the alert; 2 is the most sensitive',
    }),
    state: OneOf(SIGNAL_STATES),
    learningUntil: Nullable(InstantSchema),
    observed: Nullable(Type.Number({ description: 'Weighted events of the last complete hour' })),
    expected: Nullable(Type.Number()),
    low: Nullable(
      Type.Number({ description: 'Lower bound of the normal range; `high` is the upper bound. Null during a silence' }),
    ),
    high: Nullable(Type.Number()),
    silentSince: Nullable(InstantSchema),
    lastEventAt: Nullable(InstantSchema),
    explainedBy: Nullable(ExplanationSchema),
    issueId: Nullable(Type.String({ description: 'Unresolved issue of the signal' })),
    series: Type.Optional(
      Type.Array(Closed(pointFields), { description: 'Hourly values for the last 7 days; only with `series`' }),
    ),
  },
  { $id: 'Signal', examples: [EXAMPLE] },
)
export type SignalRow = Static<typeof SignalSchema>

const SignalList = Closed({ signals: Type.Array(SignalSchema), nextCursor: NextCursorSchema }, { $id: 'SignalList' })

/** Values by which the list can be sorted; null is the lowest. A state is sorted by its severity. */
const SIGNAL_ORDERS = {
  state: ({ state }: SignalRow) => -STATES_BY_SEVERITY.indexOf(state),
  vendor: ({ vendor, event }: SignalRow) => `${vendor}\0${event}`,
  observed: ({ observed }: SignalRow) => observed,
  expected: ({ expected }: SignalRow) => expected,
  sensitivity: ({ sensitivity }: SignalRow) => sensitivity,
  mode: ({ mode }: SignalRow) => SIGNAL_MODES.indexOf(mode),
}
const SIGNAL_SORTS = Object.keys(SIGNAL_ORDERS) as (keyof typeof SIGNAL_ORDERS)[]

/** Most severe first. */
const STATES_BY_SEVERITY: readonly SignalRow['state'][] = ['silent', 'low', 'high', 'learning', 'normal', 'off']

const SignalQuerySchema = Closed({
  ...domainFields,
  vendor: Type.Optional(Type.String({ maxLength: 200 })),
  event: Type.Optional(Type.String({ maxLength: 200 })),
  state: Type.Optional(OneOf(SIGNAL_STATES)),
  mode: Type.Optional(OneOf(SIGNAL_MODES)),
  series: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Include hourly values for the last 7 days; limits a page to 50 signals',
    }),
  ),
  sort: Type.Optional({
    ...sortField(SIGNAL_SORTS),
    description:
      'Field to sort by; with `-` in descending order. `-state` begins with the most severe, `silent`. Default: by domain, ' +
      'vendor and event',
  }),
  ...pagingFields,
})
type SignalQuery = Static<typeof SignalQuerySchema>

/** All signals with their states. */
export const signalList = insight({
  id: 'listSignals',
  tag: 'Signals',
  summary: 'List signals and their states',
  description:
    'A signal is the volume of one vendor and event in one domain, with at least 100 events in the last 7 days, or ' +
    'with an issue or a setting. `explainedBy`: the signal fell because all traffic of its domain dropped.',
  path: '/auto/signals',
  isQuick: true,
  refusals: ['notFound', 'unavailable'],
  input: SignalQuerySchema,
  output: SignalList,
  exports: 'signals',
  async answer(sources, query, { principal: { orgId }, now }) {
    const { signals, nextCursor } = await listSignals({ ...sources, now }, orgId, query)
    const privacy = sources.privacy()
    const mask = (name: string) => maskPersonal(name, '', privacy)
    return { signals: signals.map((row) => ({ ...row, vendor: mask(row.vendor), event: mask(row.event) })), nextCursor }
  },
})

/** Data sources for the list. */
type ListSources = Pick<Sources, 'db' | 'seriesMonitor' | 'watermark'> & { now: Instant }

interface Domain {
  id: string
  name: string
}

/** A signal and the alert that monitors it. */
export interface FoundSignal {
  row: SignalRow
  timezone: string
}

async function listSignals(
  parts: ListSources & Pick<Sources, 'domains'>,
  orgId: string,
  query: SignalQuery,
): Promise<Static<typeof SignalList>> {
  const { series = false } = query
  const limit = Math.min(query.limit ?? DEFAULT_LIMIT, series ? MOST_SERIES : Number.POSITIVE_INFINITY)
  const now = parts.watermark()
  const { items, nextCursor } = await (query.sort === undefined
    ? pageByName(parts, orgId, query, { limit, now })
    : sortedPage(parts, orgId, { ...query, sort: query.sort }, { limit, now }))
  const signals = await inDetail(parts, orgId, items, now)
  if (!series) return { signals, nextCursor }
  return { signals: await withSeries(parts, orgId, signals, items, now), nextCursor }
}

/** The size of a page, and the time up to which counts are known. */
interface PageOptions {
  limit: number
  now: Instant
}

/** Returns a page of the list sorted by domain, vendor and event. */
async function pageByName(
  parts: ListSources & Pick<Sources, 'domains'>,
  orgId: string,
  query: SignalQuery,
  { limit, now }: PageOptions,
): Promise<Page<FoundSignal>> {
  const after = placeOf(query.cursor)
  const found: FoundSignal[] = []
  const meant = new Set(requestedDomains(parts, orgId, query).map(({ id }) => id))
  const first = after?.[0] ?? ''
  const domains = namedDomains(parts.db, orgId).filter(({ id }) => meant.has(id) && id >= first)
  for (let at = 0; at < domains.length && found.length <= limit; at += DOMAINS_AT_ONCE) {
    const some = domains.slice(at, at + DOMAINS_AT_ONCE)
    for (let place = after; found.length <= limit; ) {
      // Computing a signal's state is slow, so only the signals on the page are evaluated.
      const most = limit + 1 - found.length
      const signals = await signalsOf(parts, orgId, some, wanted(query, place, most), now)
      found.push(...signals.filter(({ row }) => query.state === undefined || row.state === query.state))
      const end = signals.at(-1)
      if (!end || signals.length < most) break
      place = placeIn(end.row)
    }
  }
  return page(found, limit, ({ row }) => placeIn(row))
}

/** Returns a page of the list sorted by a field. All matching signals are evaluated to find their order. */
async function sortedPage(
  parts: ListSources & Pick<Sources, 'domains'>,
  orgId: string,
  query: SignalQuery & { sort: NonNullable<SignalQuery['sort']> },
  { limit, now }: PageOptions,
): Promise<Page<FoundSignal>> {
  const { sort, cursor, state } = query
  const { field, descending } = fieldOfSort(sort)
  const after = decodeCursor(cursor, 5)
  if (after && after[0] !== sort) throw new AppError('invalid', `cursor: is not valid for a list sorted by ${sort}`)
  const meant = new Set(requestedDomains(parts, orgId, query).map(({ id }) => id))
  const domains = namedDomains(parts.db, orgId).filter(({ id }) => meant.has(id))
  const found: { signal: FoundSignal; place: SortPlace }[] = []
  for (let at = 0; at < domains.length; at += DOMAINS_AT_ONCE) {
    const isWanted = wanted(query, null, Number.POSITIVE_INFINITY)
    for (const signal of await signalsOf(parts, orgId, domains.slice(at, at + DOMAINS_AT_ONCE), isWanted, now)) {
      if (state !== undefined && signal.row.state !== state) continue
      found.push({ signal, place: [SIGNAL_ORDERS[field](signal.row), ...placeIn(signal.row)] })
    }
  }
  const inOrder = (a: SortPlace, b: SortPlace) => (descending ? comparePlaces(b, a) : comparePlaces(a, b))
  const rest = found
    .filter(({ place }) => after === null || inOrder(place, after.slice(1) as SortPlace) > 0)
    .sort((a, b) => inOrder(a.place, b.place))
  const { items, nextCursor } = page(rest, limit, ({ place }) => [sort, ...place])
  return { items: items.map(({ signal }) => signal), nextCursor }
}

type SortPlace = [value: string | number | null, ...Place]

/** Compares positions part by part; null is the lowest. */
function comparePlaces(a: SortPlace, b: SortPlace): number {
  const index = a.findIndex((part, at) => part !== b[at])
  if (index < 0) return 0
  const [one, other] = [a[index] ?? null, b[index] ?? null]
  if (one === null || other === null) return one === null ? -1 : 1
  return one < other ? -1 : 1
}

/** Adds the hourly series to each signal. Disabled signals have none. */
async function withSeries(
  { seriesMonitor }: ListSources,
  orgId: string,
  signals: readonly SignalRow[],
  items: readonly FoundSignal[],
  now: Instant,
): Promise<SignalRow[]> {
  const scopes = signals.map((row, index) => scopeOf(orgId, row, items[index]?.timezone ?? 'UTC'))
  const followed = scopes.filter((_, index) => signals[index]?.state !== 'off')
  const charts = await seriesMonitor.charts(followed, { from: now - SERIES_MS, to: now }, now)
  const pointsOf = new Map(followed.map((scope, index) => [scope, charts[index]?.points ?? []]))
  return signals.map((row, index) => ({
    ...row,
    series: (pointsOf.get(scopes[index] ?? missing()) ?? []).map(roundPoint),
  }))
}

function scopeOf(orgId: string, { domainId, vendor, event, sensitivity }: SignalRow, timezone: string): SeriesScope {
  return { orgId, domainId, vendor, event, sensitivity, stepMs: SIGNAL_STEP_MS, timezone }
}

/**
 * Adds the bounds and the time of the most recent event to each monitored signal. These cover the last complete hour
 * and the time since then.
 */
async function inDetail(
  { seriesMonitor }: ListSources,
  orgId: string,
  items: readonly FoundSignal[],
  now: Instant,
): Promise<SignalRow[]> {
  const to = tickBefore(now)
  const scopes = items.map(({ row, timezone }) => scopeOf(orgId, row, timezone))
  const followed = scopes.filter((_, index) => items[index]?.row.state !== 'off')
  const window = { from: rowStart({ stepMs: SIGNAL_STEP_MS }, to) - SIGNAL_STEP_MS, to }
  const [rows = []] = followed.length > 0 ? await seriesMonitor.verdicts(followed, [window]) : []
  const known = new Map(rows.map((row) => [row.scope, row]))
  return items.map(({ row }, index) => {
    const verdict = known.get(scopes[index] ?? missing())
    if (!verdict) return row
    const { low, high, lastEventAt } = verdict
    return { ...row, ...roundBounds({ expected: row.expected, low, high }), lastEventAt }
  })
}

const missing = (): never => {
  throw new Error('a signal has no scope')
}

type Place = [domainId: string, vendor: string, event: string]

function placeOf(cursor: string | undefined): Place | null {
  const place = decodeCursor(cursor, 3)
  if (place === null) return null
  const [domainId, vendor, event] = place
  if (typeof domainId === 'string' && typeof vendor === 'string' && typeof event === 'string') {
    return [domainId, vendor, event]
  }
  throw new AppError('invalid', 'cursor: is not valid for this list')
}

/** Returns all domains sorted by id. */
function namedDomains(db: Db, orgId: string): Domain[] {
  return db.prepare<[string], Domain>('SELECT id, name FROM domain WHERE orgId = ? ORDER BY id').all(orgId)
}

/**
 * Returns a filter that accepts the first `most` matching signals after the cursor. It runs before states are known, so
 * it only checks whether a signal is off.
 */
function wanted(query: SignalQuery, after: Place | null, most: number): (signal: KnownSignal) => boolean {
  let count = 0
  return (signal) => {
    const fits = (['vendor', 'event', 'mode'] as const).every(
      (field) => query[field] === undefined || query[field] === signal[field],
    )
    const mayStand = query.state === undefined || (query.state === 'off') === (signal.mode === 'off')
    return fits && mayStand && (after === null || isBehind(signal, after)) && ++count <= most
  }
}

/** Returns the matching signals of these domains in list order. */
export async function signalsOf(
  { db, seriesMonitor, now: today }: ListSources,
  orgId: string,
  domains: readonly Domain[],
  isWanted: (signal: KnownSignal) => boolean,
  now: Instant,
): Promise<FoundSignal[]> {
  const watched = domains.map((domain) => {
    const alert = autoAlertOf(db, { orgId, domainId: domain.id })
    return { domain, alert, timezone: alert?.timezone ?? 'UTC' }
  })
  const scopes = watched.map(({ domain, alert, timezone }) => {
    const sensitivity = alert ? signalSensitivity(alert) : SIGNAL_SENSITIVITY
    return { orgId, domainId: domain.id, sensitivity, timezone }
  })
  const signals = await seriesMonitor.signals(scopes, now, isWanted)
  return watched.flatMap(({ domain, alert, timezone }, index) => {
    const own = signals[index] ?? []
    const issues =
      alert && own.length > 0 ? issuesOfAlert(db, alert.id, today).filter((issue) => isOf(issue, domain)) : []
    const ofDomain = issues.find(({ subject }) => subject === '') ?? null
    return own.map((signal) => ({ row: rowOf(signal, domain, issues, ofDomain), timezone }))
  })
}

const isOf = ({ domainId, status }: IssueRecord, { id }: Domain) => domainId === id && status !== 'resolved'

function rowOf(
  signal: Signal,
  domain: Domain,
  issues: readonly IssueRecord[],
  ofDomain: IssueRecord | null,
): SignalRow {
  const { vendor, event, state, ...rest } = signal
  const own = issues.find(({ evidence }) => evidence?.vendor === vendor && evidence.event === event)
  const isDown = state === 'low' || state === 'silent'
  return {
    ...rest,
    low: null,
    high: null,
    lastEventAt: null,
    domain: domain.name,
    vendor,
    event,
    state: state ?? 'off',
    explainedBy: isDown && ofDomain ? { issueId: ofDomain.id, title: ofDomain.title } : null,
    issueId: own?.id ?? null,
  }
}

const placeIn = ({ domainId, vendor, event }: KnownSignal): Place => [domainId, vendor, event]

/** Returns whether the signal comes after the cursor in list order. */
function isBehind(signal: KnownSignal, place: Place): boolean {
  const own = placeIn(signal)
  const index = own.findIndex((part, at) => part !== place[at])
  return index >= 0 && (own[index] ?? '') > (place[index] ?? '')
}
