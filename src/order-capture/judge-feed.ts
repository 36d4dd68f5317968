import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS } from '../core/clock.ts'

/** Orders of an hour. `delayMs`: median time from an order to its posting; null when unknown. */
export interface FeedHour {
  at: Instant
  orders: number
  delayMs: number | null
}

const MIN_HISTORY_DAYS = 7
const MIN_ORDERS = 50
/** Delays above this belong to orders that were posted as a history. */
const MAX_DELAY_MS = 3 * DAY_MS
/** Delay when none is known. */
const DEFAULT_DELAY_MS = DAY_MS
const MIN_SILENCE_MS = 30 * MINUTE_MS
/** Share of hours whose delay is usual. */
const USUAL_SHARE = 0.98
const MAX_PROBABILITY_YEARS = 10
/** Variation of the number of orders between days, at least. */
const MIN_VARIATION = 0.3
const WEEK_HOURS = 7 * 24

const hourOfWeek = (at: Instant) => Math.floor(at / HOUR_MS) % WEEK_HOURS

/**
 * Returns whether the shop has stopped posting orders, judged by its own rhythm.
 *
 * `L` is the number of orders that were to be expected since the last one, by hour of the week, up to the usual delay of
 * postings before now. The number of orders varies between days by more than chance, so no order is expected with the
 * negative binomial probability `(1 + L/k)^−k`, where `1/k` is the squared coefficient of variation of days. The feed has
 * stopped when this is less likely than once in 10 years.
 * @param hours orders of the last weeks; hours without orders may be absent
 * @param lastAt time of the most recent order
 */
export function hasFeedStopped(hours: readonly FeedHour[], lastAt: Instant, now: Instant): boolean {
  const known = hours.filter(({ orders, at }) => orders > 0 && at <= lastAt)
  const first = known[0]?.at ?? now
  const total = known.reduce((sum, { orders }) => sum + orders, 0)
  const days = (lastAt - first) / DAY_MS
  if (days < MIN_HISTORY_DAYS || total < MIN_ORDERS) return false
  const delayMs = usualDelay(known) * 1.1 + MINUTE_MS * 15
  const until = now - delayMs
  if (until - lastAt < MIN_SILENCE_MS) return false
  const rate = hourlyRates(known, first, lastAt)
  let expected = 0
  // A longer silence than two weeks needs no further evidence.
  const end = Math.min(until, lastAt + 2 * WEEK_HOURS * HOUR_MS)
  for (let at = lastAt; at < end; ) {
    const next = Math.min(end, (Math.floor(at / HOUR_MS) + 1) * HOUR_MS)
    expected += (rate(at) * (next - at)) / HOUR_MS
    at = next
  }
  const k = 1 / variationOf(known, first, lastAt, rate)
  const logProbability = -k * Math.log1p(expected / k)
  return logProbability < -Math.log((MAX_PROBABILITY_YEARS * 365 * total) / days)
}

function usualDelay(hours: readonly FeedHour[]): number {
  const delays = hours.flatMap(({ delayMs }) =>
    delayMs === null || delayMs > MAX_DELAY_MS ? [] : [Math.max(0, delayMs)],
  )
  if (delays.length === 0) return DEFAULT_DELAY_MS
  delays.sort((a, b) => a - b)
  return delays[Math.min(delays.length - 1, Math.floor(delays.length * USUAL_SHARE))] ?? DEFAULT_DELAY_MS
}

/**
 * Returns orders per hour by hour of the week. In shops with few orders, it is drawn to the average of the hour of the
 * day.
 */
function hourlyRates(hours: readonly FeedHour[], from: Instant, to: Instant): (at: Instant) => number {
  const weeks = Math.max(1, (to - from) / (WEEK_HOURS * HOUR_MS))
  const sums = new Float64Array(WEEK_HOURS)
  for (const { at, orders } of hours) sums[hourOfWeek(at)] = (sums[hourOfWeek(at)] ?? 0) + orders
  const days = Array.from({ length: 24 }, (_, hour) => {
    let sum = 0
    for (let day = 0; day < 7; day++) sum += sums[hour + day * 24] ?? 0
    return sum / 7
  })
  const prior = 2
  return (at) => {
    const slot = hourOfWeek(at)
    const usual = (days[slot % 24] ?? 0) / weeks
    return ((sums[slot] ?? 0) + prior * usual) / (weeks + prior)
  }
}

/** Returns the squared coefficient of variation of orders per day beyond rhythm and chance. */
function variationOf(hours: readonly FeedHour[], from: Instant, to: Instant, rate: (at: Instant) => number): number {
  const firstDay = Math.ceil(from / DAY_MS)
  const endDay = Math.floor(to / DAY_MS)
  const observed = new Map<number, number>()
  for (const { at, orders } of hours) {
    const day = Math.floor(at / DAY_MS)
    observed.set(day, (observed.get(day) ?? 0) + orders)
  }
  let [sum, count] = [0, 0]
  for (let day = firstDay; day < endDay; day++) {
    let expected = 0
    for (let hour = 0; hour < 24; hour++) expected += rate(day * DAY_MS + hour * HOUR_MS)
    if (expected < 1) continue
    const seen = observed.get(day) ?? 0
    sum += ((seen - expected) ** 2 - expected) / expected ** 2
    count++
  }
  return Math.max(MIN_VARIATION ** 2, count === 0 ? 0 : sum / count)
}
