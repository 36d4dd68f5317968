import type { SessionRow, Tables, VolumeRow } from './comparison-tables.ts'
import { medianOf, weightedMedian } from './median.ts'
import { nameKey, type Suspect } from './suspected-effect.ts'
import { countTail } from './tail-probability.ts'

/** Expected and observed number of events with one name. */
export interface Expectation {
  vendor: string
  event: string
  /** Lower and upper bounds of the weighted expectation, based on the history and the rest of the traffic. */
  low: number
  high: number
  seen: number
  /** Relative uncertainty of the expectation. */
  spread: number
  /**
   * Number of events represented by one independent event: the weight of one event multiplied by the number of events
   * in its session.
   */
  unit: number
  /** Usual count in this period on similar days, and its relative variation; null when unknown. */
  usual: { count: number; spread: number } | null
  /** True when no event with this name was received in any earlier period. */
  isNew: boolean
}

/** Minimum number of independent events expected. With fewer, a drop is not significant. */
const MIN_EXPECTED = 8
const LARGEST_FALL = 0.7
const LOST = 0.05
const SMALLEST_RISE = 1.5
/** A count is unusual when its probability, based on the same period on similar days, is at most this. */
const UNUSUAL = 0.01
/** Relative uncertainty of an expectation: its minimum, and its value without a history. */
const LEAST_SPREAD = 0.07
const UNKNOWN_SPREAD = 0.12
/** Weight, in days, of the variance of all names when it is combined with the variance of one name. */
const PRIOR_DAYS = 4
/** Minimum number of days for estimating how much a name varies. */
const MANY_DAYS = 7
/** Minimum number of days for a seasonal pattern. */
const ENOUGH_DAYS = 3
/**
 * Weight of one additional vote for the usual movement when event names vote on how the total traffic moved. Each
 * vendor has one vote.
 */
const PRIOR_VOTE = 0.9
const MIN_VOTER = 10

/** Counts of events with one name on one day, before and after the time of day at which the change occurred. */
interface DayPair {
  before: number
  after: number
  beforeEvents: number
  afterEvents: number
}

const NO_PAIR: DayPair = { before: 0, after: 0, beforeEvents: 0, afterEvents: 0 }

/** Counts of events with one name, by number of days before the change. */
interface Series {
  vendor: string
  event: string
  days: Map<number, DayPair>
}

function seriesOf(rows: readonly VolumeRow[]): Series[] {
  return [...Map.groupBy(rows, nameKey).values()].map((own) => {
    const days = new Map<number, DayPair>()
    for (const { lag, side, events, weight } of own) {
      const day = days.get(lag) ?? { ...NO_PAIR }
      day[side] += weight
      day[side === 'before' ? 'beforeEvents' : 'afterEvents'] += events
      days.set(lag, day)
    }
    const { vendor = '', event = '' } = own[0] ?? {}
    return { vendor, event, days }
  })
}

const dayOf = ({ days }: Series, lag: number) => days.get(lag) ?? NO_PAIR

/** Returns the logarithm of the factor between two counts. It is finite even when a count is 0. */
const logChange = ({ before, after }: DayPair) => Math.log((after + 0.5) / (before + 0.5))

/**
 * Returns a robust estimate of the movement of total traffic on a day, in which all names of a vendor share one vote.
 * Null without traffic.
 */
function commonMove(all: readonly Series[], lag: number, prior: number | null): number | null {
  const voters = all.filter((series) => {
    const { before, after } = dayOf(series, lag)
    return before + after >= MIN_VOTER
  })
  if (voters.length === 0) return null
  const ballot = [...Map.groupBy(voters, ({ vendor }) => vendor).values()].flatMap((own) => {
    const sizes = own.map((series) => Math.sqrt(dayOf(series, lag).before + dayOf(series, lag).after))
    const sum = sizes.reduce((total, size) => total + size, 0)
    return own.map((series, at) => ({ value: logChange(dayOf(series, lag)), weight: (sizes[at] ?? 0) / sum }))
  })
  return weightedMedian(prior === null ? ballot : [...ballot, { value: prior, weight: PRIOR_VOTE }])
}

/** Values that apply to all names. */
interface Frame {
  all: readonly Series[]
  /** Movement of total traffic by number of days before the change, for days with traffic. */
  moves: ReadonlyMap<number, number>
  /** Usual movement of total traffic at this time of day, and today's movement. */
  season: number
  now: number
  /** Average weight of an event after the change. */
  weightEach: number
  isLikeDay(lag: number): boolean
}

function frameOf({ volumes, isLikeDay }: Tables): Frame {
  const all = seriesOf(volumes)
  const lags = [...new Set(volumes.map(({ lag }) => lag))].filter((lag) => lag > 0).sort((a, b) => a - b)
  const moves = new Map<number, number>()
  for (const lag of lags) {
    const move = commonMove(all, lag, null)
    if (move !== null) moves.set(lag, move)
  }
  const like = [...moves].filter(([lag]) => isLikeDay(lag)).map(([, move]) => move)
  const known = like.length >= ENOUGH_DAYS ? like : [...moves.values()]
  const season = known.length >= ENOUGH_DAYS ? medianOf(known) : 0
  const after = volumes.filter(({ lag, side }) => lag === 0 && side === 'after')
  const sum = (field: 'weight' | 'events') => after.reduce((total, row) => total + row[field], 0)
  const weightEach = sum('events') > 0 ? sum('weight') / sum('events') : 1
  return { all, moves, season, now: commonMove(all, 0, season) ?? season, weightEach, isLikeDay }
}

/** Usual movement of one name relative to the rest of the traffic at this time of day, on earlier days. */
interface Habit {
  move: number
  /** Variance of the daily movement, and the part of it that is not due to chance; null when unknown. */
  total: number | null
  variance: number | null
  /**
   * Variance due to chance alone: the average over the days of 1 / number of events before the time of day of the
   * change.
   */
  chance: number
  days: number
}

function habitOf(series: Series, { moves, isLikeDay }: Frame): Habit {
  const known = [...moves].flatMap(([lag, move]) => {
    const day = dayOf(series, lag)
    if (day.before + day.after < 5) return []
    const chance = 1 / (day.beforeEvents + 0.5) + 1 / (day.afterEvents + 0.5)
    return [{ lag, move: logChange(day) - move, chance, chanceBefore: 1 / (day.beforeEvents + 0.5) }]
  })
  const like = known.filter(({ lag }) => isLikeDay(lag))
  const days = like.length >= ENOUGH_DAYS ? like : known
  if (days.length < ENOUGH_DAYS) return { move: 0, total: null, variance: null, chance: 0, days: days.length }
  const middle = medianOf(days.map(({ move }) => move))
  const chance = days.reduce((sum, one) => sum + one.chance, 0) / days.length
  const deviation = 1.4826 * medianOf(days.map(({ move }) => Math.abs(move - middle)))
  const mean =
    days.reduce((sum, { move }) => sum + Math.min((move - middle) ** 2, (4 * deviation) ** 2), 0) / days.length
  const total = Math.max(deviation ** 2, mean)
  return {
    move: (middle * days.length) / (days.length + 2),
    total,
    variance: Math.max(0, total - chance),
    chance: days.reduce((sum, one) => sum + one.chanceBefore, 0) / days.length,
    days: days.length,
  }
}

/** Returns the expectation for each event name seen before or after the change. */
export function expectationsOf(tables: Tables): Expectation[] {
  const frame = frameOf(tables)
  const habits = new Map(frame.all.map((series) => [series, habitOf(series, frame)]))
  const variances = [...habits.values()].flatMap(({ variance }) => (variance === null ? [] : [variance]))
  const pooled = variances.length >= ENOUGH_DAYS ? medianOf(variances) : UNKNOWN_SPREAD ** 2
  const sessions = Map.groupBy(tables.sessions, nameKey)
  return frame.all.flatMap((series) => {
    const habit = habits.get(series)
    const today = dayOf(series, 0)
    if (!habit || today.before + today.after === 0) return []
    return [
      expectationOf(series, habit, { frame, pooled, perSession: perSession(sessions.get(nameKey(series)) ?? []) }),
    ]
  })
}

/** Returns the average number of correlated events, that is, events in the same session. */
function perSession(rows: readonly SessionRow[]): number {
  const squares = rows.reduce((sum, row) => sum + row.squares, 0)
  const events = rows.reduce((sum, row) => sum + row.events, 0)
  return events > 0 ? Math.max(1, squares / events) : 1
}

/** Minimum number of events required to determine the sampling rate of one name. */
const ENOUGH_EVENTS = 30

/** Returns the number of events that one stored event represents. */
function eventWeight({ after, afterEvents, before, beforeEvents }: DayPair, average: number): number {
  const own = afterEvents > 0 ? after / afterEvents : before / Math.max(1, beforeEvents)
  return afterEvents >= ENOUGH_EVENTS ? own : Math.max(own, average)
}

function expectationOf(
  series: Series,
  habit: Habit,
  { frame, pooled, perSession }: { frame: Frame; pooled: number; perSession: number },
): Expectation {
  const { season, now, weightEach } = frame
  const today = dayOf(series, 0)
  const moved = [now, season].map((move) => today.before * Math.exp(move + habit.move))
  const usual = usualOf(series, frame)
  const isKnown = habit.days >= MANY_DAYS
  const unit = Math.max(eventWeight(today, weightEach), 1e-9) * (isKnown ? 1 : perSession)
  const high = Math.max(...moved, usual?.count ?? 0)
  return {
    vendor: series.vendor,
    event: series.event,
    low: Math.min(...moved),
    high,
    seen: today.after,
    spread: Math.sqrt(
      varianceOf(habit, { pooled, perSession, chance: 1 / (today.beforeEvents + 0.5) }) + LEAST_SPREAD ** 2,
    ),
    unit,
    usual,
    isNew: high < 0.5 && [...series.days].every(([lag, day]) => lag === 0 || day.before + day.after === 0),
  }
}

/**
 * Returns the variance of the difference between a movement and the usual movement. If many days are known, it is based
 * on the history of the event name; otherwise, on that of all event names. The variance due to chance and the
 * uncertainty of the usual movement are added.
 */
function varianceOf(
  { total, variance, chance: usualChance, days }: Habit,
  { pooled, perSession, chance }: { pooled: number; perSession: number; chance: number },
): number {
  const known = variance === null ? 0 : days
  const beyond = ((variance ?? 0) * known + pooled * PRIOR_DAYS) / (known + PRIOR_DAYS)
  const model = beyond + (days >= ENOUGH_DAYS ? beyond / days : UNKNOWN_SPREAD ** 2) + perSession * chance
  if (total === null || days < MANY_DAYS) return model
  // A name with fewer events today than on earlier days varies more due to chance.
  const said = total * (1 + 1 / days) + perSession * Math.max(0, chance - usualChance)
  return (said * days + model * PRIOR_DAYS) / (days + PRIOR_DAYS)
}

/** Returns the usual count in this period on similar days, adjusted to today's traffic; null when unknown. */
function usualOf(series: Series, { moves, all, season, now, isLikeDay }: Frame): Expectation['usual'] {
  const lags = [...moves.keys()].filter(isLikeDay)
  const days = lags.length >= ENOUGH_DAYS ? lags : [...moves.keys()]
  if (days.length < ENOUGH_DAYS) return null
  const since = sinceItCame(series, days)
  if (since.length < ENOUGH_DAYS) return null
  const counts = since.map((lag) => dayOf(series, lag).after)
  const count = medianOf(counts)
  if (count === 0) return { count: 0, spread: 1 }
  const logs = counts.map((one) => Math.log((one + 0.5) / (count + 0.5)))
  const spread = Math.max(
    LEAST_SPREAD,
    1.4826 * medianOf(logs.map(Math.abs)),
    UNKNOWN_SPREAD / Math.sqrt(counts.length),
  )
  const levels = all.flatMap((other) => {
    const usual = medianOf(days.map((lag) => dayOf(other, lag).before))
    return usual >= MIN_VOTER ? [Math.log((dayOf(other, 0).before + 0.5) / usual)] : []
  })
  const level = levels.length > 0 ? medianOf(levels) : 0
  return { count: count * Math.exp(level + now - season), spread }
}

/** Returns the days since the name was first used; all days when it was used only from time to time. */
function sinceItCame(series: Series, days: readonly number[]): number[] {
  const has = (lag: number) => dayOf(series, lag).before + dayOf(series, lag).after > 0
  const sorted = days.toSorted((a, b) => a - b)
  const gone = sorted.findIndex((lag) => !has(lag))
  return gone >= ENOUGH_DAYS && !sorted.slice(gone).some(has) ? sorted.slice(0, gone) : sorted
}

/** Returns the suspects found by comparing the number of observed events with the expectation. */
export function volumeSuspects(expectation: Expectation): Suspect[] {
  const { vendor, event, low, high, seen, spread, unit, usual, isNew } = expectation
  const about = { vendor, event, key: null, after: seen }
  if (isNew) {
    const chance = countTail('high', seen / unit, 0.5, 1)
    return [{ ...about, kind: 'event_new', before: 0, effect: 1, chance, matters: seen / unit >= MIN_EXPECTED }]
  }
  const tail = (side: 'low' | 'high', expected: number, uncertain: number) =>
    expected > 0 ? countTail(side, seen / unit, expected / unit, uncertain) : 1
  const expected = Math.min(low, usual?.count ?? low)
  const fallen = seen <= LARGEST_FALL * expected && expected / unit >= MIN_EXPECTED
  // A count that is usual in this period is not a drop, even when the count before the change was higher.
  const isUnusual = !usual || tail('low', usual.count, Math.hypot(usual.spread, spread)) <= UNUSUAL
  const fallChance = isUnusual ? tail('low', low, spread) : 1
  const risen = seen >= SMALLEST_RISE * high && (seen - high) / unit >= MIN_EXPECTED
  return [
    {
      ...about,
      kind: seen <= LOST * expected ? 'event_lost' : 'event_fell',
      before: expected,
      effect: expected > 0 ? Math.max(0, 1 - seen / expected) : 0,
      chance: fallen ? fallChance : 1,
      matters: fallen,
    },
    {
      ...about,
      kind: 'event_rose',
      before: high,
      effect: seen > 0 ? Math.max(0, 1 - high / seen) : 0,
      chance: risen ? tail('high', Math.max(high, 0.5 * unit), spread) : 1,
      matters: risen,
    },
  ]
}
