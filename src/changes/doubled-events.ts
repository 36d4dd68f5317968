import type { SessionRow, Side } from './comparison-tables.ts'
import { weightedMedian } from './median.ts'
import { nameKey, type Suspect } from './suspected-effect.ts'
import type { Expectation } from './suspected-volume-effects.ts'
import { normalTail } from './tail-probability.ts'

/**
 * Minimum factor for events to count as doubled. It applies both to events per session and to the total number of
 * events relative to the expectation.
 */
const SMALLEST_RATIO = 1.4
const SMALLEST_RISE = 1.3
export const MIN_SESSIONS = 8
/** Usual relative variation of the number of events per session. */
export const SPREAD = 0.06
/**
 * Weight of one additional vote for "no change" when event names vote on how sessions changed. Each vendor has one
 * vote.
 */
const PRIOR_VOTE = 0.9

/** Number of events with one name per session that has any, and the relative uncertainty of this mean. */
interface Rate {
  sessions: number
  events: number
  mean: number
  error: number
}

/** Returns the rate over these rows, which must have the same name. */
export function rateOf(rows: readonly SessionRow[]): Rate {
  const [sessions, events, squares] = (['sessions', 'events', 'squares'] as const).map((field) =>
    rows.reduce((sum, row) => sum + row[field], 0),
  ) as [number, number, number]
  const mean = sessions > 0 ? events / sessions : 0
  const variance = sessions > 0 ? Math.max(0, squares / sessions - mean ** 2) : 0
  return { sessions, events, mean, error: mean > 0 ? Math.sqrt(variance / sessions) / mean : 1 }
}

/** Number of events with one name per session, before and after the change. */
interface Pair {
  vendor: string
  event: string
  former: Rate
  present: Rate
  /** Logarithm of the factor by which events per session changed. */
  change: number
}

function pairOf(rows: readonly SessionRow[]): Pair | null {
  const of = (...sides: readonly Side[]) => rateOf(rows.filter(({ side }) => sides.includes(side)))
  const isConcurrent = of('old').sessions >= MIN_SESSIONS && of('new').sessions >= MIN_SESSIONS
  const [former, present] = isConcurrent ? [of('old'), of('new')] : [of('before'), of('after', 'new')]
  if (Math.min(former.sessions, present.sessions) < MIN_SESSIONS) return null
  const { vendor = '', event = '' } = rows[0] ?? {}
  return { vendor, event, former, present, change: Math.log(present.mean / former.mean) }
}

/**
 * Finds events that are sent more often per session than before, which indicates a tag that fires twice. Longer
 * sessions affect all names alike, so the change common to all names is removed. The total number of events must also
 * have increased.
 */
export function doubleSuspects(rows: readonly SessionRow[], expectations: readonly Expectation[]): Suspect[] {
  const pairs = [...Map.groupBy(rows, nameKey).values()].flatMap((own) => pairOf(own) ?? [])
  const vendors = Map.groupBy(pairs, ({ vendor }) => vendor)
  const votes = pairs.map(({ vendor, change }) => ({ value: change, weight: 1 / (vendors.get(vendor)?.length ?? 1) }))
  const common = Math.max(0, weightedMedian([...votes, { value: 0, weight: PRIOR_VOTE }]))
  const expected = new Map(expectations.map((one) => [nameKey(one), one]))
  return pairs.flatMap((pair) => {
    const expectation = expected.get(nameKey(pair))
    return expectation ? [suspectOf(pair, expectation, common)] : []
  })
}

function suspectOf(
  { vendor, event, former, present, change }: Pair,
  { high, seen }: Expectation,
  common: number,
): Suspect {
  const own = change - common
  const isLarge = own >= Math.log(SMALLEST_RATIO) && seen >= SMALLEST_RISE * high
  const error = Math.hypot(former.error, present.error, SPREAD)
  return {
    kind: 'event_doubled',
    vendor,
    event,
    key: null,
    before: high,
    after: seen,
    effect: seen > 0 ? Math.max(0, 1 - high / seen) : 0,
    chance: isLarge ? normalTail(own / error) : 1,
    matters: isLarge,
  }
}
