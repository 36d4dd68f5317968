import type { Alert } from '../alerts/alert.ts'
import { eventsAt, type Place, type SeenEvent } from '../alerts/events-at.ts'
import { countsFirings } from '../alerts/types/index.ts'
import { dataOf } from '../alerts/types/journey/plan.ts'
import { conditionsOf } from '../conditions/condition.ts'
import { compileMask } from '../conditions/mask.ts'
import { compileFilters } from '../conditions/predicate.ts'
import { filtersSql, violationSql } from '../conditions/sql.ts'
import { DAY_MS, HOUR_MS, type Instant } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { parser } from '../core/schema.ts'
import { scopeTests } from '../insights/count-series.ts'
import { EventSchema } from '../insights/event-search.ts'
import { duckdbDialect } from '../warehouse/dialect.ts'
import { Binder, type Query, type Warehouse } from '../warehouse/query.ts'
import { countScope, scopeSql, type Trouble, violatingSql } from './trouble.ts'

/** At most so many violating events are shown. */
export const MAX_EVENTS = 20
/** A good event may be this much older than the trouble. */
const GOOD_BEFORE_MS = 7 * DAY_MS
/** So many events are looked at where SQL can't tell whether the filters let them through. */
const MAX_CANDIDATES = 50

type Ask = Pick<Warehouse, 'query'>

/** All with what is personal masked. */
export interface Samples {
  /** Violating events, newest first, at most 20; none where the type judges counts. */
  events: SeenEvent[]
  /** The newest of `events`, else what was kept of one when the issue fired last. */
  badSample: SeenEvent | null
  /**
   * The newest event in scope that is as it should be, of the same vendor and event as the bad one, and of its host
   * where there is one; of a journey the newest that is what sessions missed last.
   */
  goodSample: SeenEvent | null
}

/** What the trouble looks like, and what it would look like without. */
export async function samplesOf(trouble: Trouble, warehouse: Ask): Promise<Samples> {
  const { rule, regions } = trouble
  const found = rule === null ? [] : await violatingEvents(trouble, warehouse)
  const bad = found[0] ?? keptSample(trouble)
  const good = rule === null ? null : await goodEvent(trouble, rule, bad, warehouse)
  const mask = compileMask(rule === null ? [] : [...conditionsOf(rule), ...dataOf(rule.journey)], regions)
  const show = (event: SeenEvent | null) => (event === null ? null : mask(event))
  return { events: found.map((event) => mask(event)), badSample: show(bad), goodSample: show(good) }
}

async function violatingEvents(trouble: Trouble, warehouse: Ask): Promise<SeenEvent[]> {
  const { issue, now, keptFrom } = trouble
  if (countsFirings(issue.alertType)) return []
  const binder = new Binder()
  const where = violatingSql(trouble, binder)
  const places = await warehouse.query<Place>({
    sql: `SELECT seq, receivedAt FROM events WHERE ${where} ORDER BY seq DESC LIMIT ${MAX_EVENTS}`,
    params: binder.params,
    keys: [],
    orgId: issue.orgId,
    // What came after the last evaluation belongs to the issue as well, unless that is over.
    window: windowOf(issue.firstSeenAt, issue.status === 'resolved' ? issue.lastSeenAt : now, keptFrom),
  })
  return eventsAt(issue.orgId, places, warehouse)
}

/** As it was masked when the issue fired; null when there is none that can be shown. */
function keptSample({ issue }: Trouble): SeenEvent | null {
  const sample = issue.evidence?.sample
  if (!sample) return null
  try {
    return readEvent({ ...sample, violations: [issue.alertId] }) as SeenEvent
  } catch (error) {
    // An event of an earlier version may have had other fields.
    if (error instanceof AppError) return null
    throw error
  }
}

const readEvent = parser(EventSchema)

/** The latest is asked for first: mostly it is there, and looking through weeks of events takes long. */
async function goodEvent(trouble: Trouble, rule: Alert, bad: SeenEvent | null, warehouse: Ask) {
  const { issue, now } = trouble
  const like = issue.alertType === 'journey' ? null : bad
  let good: SeenEvent | null = null
  for (const from of [now - HOUR_MS, now - DAY_MS, issue.firstSeenAt - GOOD_BEFORE_MS]) {
    good = await goodEventSince(from, trouble, rule, like, warehouse)
    if (good && (!like || good.host === like.host)) break
  }
  return good
}

async function goodEventSince(
  from: Instant,
  trouble: Trouble,
  rule: Alert,
  like: SeenEvent | null,
  warehouse: Ask,
): Promise<SeenEvent | null> {
  const { issue, regions, now, keptFrom } = trouble
  const binder = new Binder()
  const wanted = goodSql(trouble, rule, binder)
  const isExact = wanted.every(({ exact = true }) => exact)
  const alike = like ? [`vendor = ${binder.bind(like.vendor)}`, `event = ${binder.bind(like.event)}`] : []
  const first = like?.host ? `(host IS NOT DISTINCT FROM ${binder.bind(like.host)}) DESC, ` : ''
  const places = await warehouse.query<Place>({
    sql: `
      SELECT seq, receivedAt FROM events WHERE ${[...alike, ...wanted.map(({ sql }) => sql)].join(' AND ')}
      ORDER BY ${first}seq DESC LIMIT ${isExact ? 1 : MAX_CANDIDATES}`,
    params: binder.params,
    keys: [...new Set(wanted.flatMap(({ keys }) => keys))],
    wholeParams: wanted.some(({ wholeParams }) => wholeParams),
    orgId: issue.orgId,
    window: windowOf(from, now, keptFrom),
  })
  const events = await eventsAt(issue.orgId, places, warehouse)
  return (isExact ? events[0] : events.find(compileFilters(rule.filters ?? [], regions))) ?? null
}

/** Tests of one event, to be joined by AND. */
type Tests = Pick<Query, 'sql' | 'keys' | 'wholeParams'> & { exact?: boolean }

function goodSql(trouble: Trouble, rule: Alert, binder: Binder): Tests[] {
  const { alertType } = trouble.issue
  if (alertType === 'journey') return [metSql(trouble, rule, binder)]
  const scope = scopeSql(trouble, rule, binder)
  return countsFirings(alertType) ? [scope] : [scope, soundSql(trouble, rule, binder)]
}

/** What a journey expects of one event, in either form. */
type Expectation = Extract<NonNullable<Alert['journey']>, { version: 2 }>['steps'][number]['expect'][number]

/** Events as the sessions of the last firing should have shown one. None are where these missed several things. */
function metSql({ issue }: Trouble, rule: Alert, binder: Binder): Tests {
  const { vendor = null, event = null } = issue.evidence ?? {}
  const missed = expectationsOf(rule).filter(
    (one) => !one.label && (one.vendor || null) === vendor && (one.event || null) === event,
  )
  const data = missed.map((one) => filtersSql(one.data ?? [], duckdbDialect, binder))
  const name = { domainIds: countScope({ issue }, rule).domainIds, vendors: vendor === null ? [] : [vendor], event }
  return {
    sql: [...scopeTests(name, binder), `(${['false', ...data.map(({ sql }) => sql)].join(' OR ')})`].join(' AND '),
    keys: data.flatMap(({ keys }) => keys),
    wholeParams: data.some(({ wholeParams }) => wholeParams),
  }
}

function expectationsOf({ journey }: Alert): readonly Expectation[] {
  if (!journey) return []
  return 'version' in journey ? journey.steps.flatMap(({ expect }) => expect) : journey.steps
}

/** Events that were found good when they came in, and that the rule as it is now would find good. */
function soundSql({ issue, regions }: Trouble, rule: Alert, binder: Binder): Tests {
  const broke = `coalesce(list_contains(violations, ${binder.bind(issue.alertId)}), false)`
  // Where SQL can't tell exactly it says yes too often, so that whatever it denies is good.
  const breaks = violationSql({ ...rule, filters: [] }, duckdbDialect, binder, regions)
  return { keys: breaks.keys, wholeParams: breaks.wholeParams, sql: `NOT ${broke} AND NOT ${breaks.sql}` }
}

/** From an instant through another, this millisecond included. */
function windowOf(from: Instant, through: Instant, keptFrom: Instant): Query['window'] {
  return { from: Math.max(from, keptFrom), to: through + 1 }
}
