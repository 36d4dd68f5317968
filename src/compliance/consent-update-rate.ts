import { DAY_MS, HOUR_MS, type Instant } from '../core/clock.ts'

/**
 * Sessions with consent denied by default that began in an hour, and the number of these in which the visitor later
 * chose.
 */
export interface HourCount {
  vendor: string
  sessions: number
  chosen: number
}

/** A period in which fewer visitors than before answered the consent banner. */
export interface RateDrop {
  vendor: string
  from: Instant
  to: Instant
  sessions: number
  chosen: number
  /** Share of sessions in which the visitor chose, 0 to 1: in this period, and in the previous seven days. */
  rate: number
  rateBefore: number
}

/**
 * Lengths in hours of the periods that are compared with the history. Longer periods are more certain, shorter ones
 * detect a drop sooner.
 */
const LENGTHS = [24, 6, 2]
const DAYS_BEFORE = 7
/** Minimum number of previous days with sessions at the same time of day. */
const MIN_DAYS = 5
const MIN_SESSIONS = 30
/** Minimum number of standard deviations below the expected share for a drop. */
const SURELY = 5
/**
 * Minimum relative standard deviation of the share between days. It takes effect when all seven days had similar
 * shares.
 */
const MIN_SPREAD = 0.08

/** Returns the sums over the hours with `from <= start < to`. */
function sumOf(hours: ReadonlyMap<Instant, HourCount>, from: Instant, to: Instant): HourCount {
  const sum: HourCount = { vendor: '', sessions: 0, chosen: 0 }
  for (let hour = from; hour < to; hour += HOUR_MS) {
    const { vendor = sum.vendor, sessions = 0, chosen = 0 } = hours.get(hour) ?? {}
    sum.vendor = vendor
    sum.sessions += sessions
    sum.chosen += chosen
  }
  return sum
}

/**
 * Returns the longest period with a drop that ends at `end`; null when there is none. A drop means that the share of
 * sessions with a choice is lower than at the same time of day on the previous seven days. `end` is the end of an hour.
 * `hours` contains the counts for one domain by the start of the hour, from eight days before `end`. Hours without
 * sessions may be missing.
 *
 * The share on day j is modelled as p + b_j, where b_j has the variance τ² between days (method of moments, DerSimonian
 * and Laird 1986, https://doi.org/10.1016/0197-2456(86)90046-2). A drop means that (p − p₁) / √(p(1 − p)(1/n₁ + 1/n) +
 * τ²(1 + 1/days)) is at least `SURELY`.
 */
export function rateDropAt(hours: ReadonlyMap<Instant, HourCount>, end: Instant): RateDrop | null {
  for (const length of LENGTHS) {
    const from = end - length * HOUR_MS
    const present = sumOf(hours, from, end)
    if (present.sessions < MIN_SESSIONS) continue
    const days = Array.from({ length: DAYS_BEFORE }, (_, n) =>
      sumOf(hours, from - (n + 1) * DAY_MS, end - (n + 1) * DAY_MS),
    ).filter(({ sessions }) => sessions > 0)
    if (days.length < MIN_DAYS) continue
    const { sessions, chosen, vendor } = present
    const all = days.reduce(
      (sum, day) => ({ sessions: sum.sessions + day.sessions, chosen: sum.chosen + day.chosen }),
      {
        sessions: 0,
        chosen: 0,
      },
    )
    // One session with a choice and one without are added, so that shares of 0 and 1 also have a variance.
    const p = (all.chosen + 1) / (all.sessions + 2)
    const chance = p * (1 - p) * (1 / sessions + 1 / all.sessions)
    const deviation = Math.sqrt(chance + spreadOf(days, p) * (1 + 1 / days.length))
    const [rate, rateBefore] = [chosen / sessions, all.chosen / all.sessions]
    if ((rateBefore - rate) / deviation >= SURELY) return { vendor, from, to: end, sessions, chosen, rate, rateBefore }
  }
  return null
}

/** Returns the variance of the share between days beyond the sampling error. */
function spreadOf(days: readonly HourCount[], p: number): number {
  const total = days.reduce((sum, { sessions }) => sum + sessions, 0)
  const squares = days.reduce((sum, { sessions }) => sum + sessions ** 2, 0)
  const chi = days.reduce((sum, { sessions, chosen }) => sum + sessions * (chosen / sessions - p) ** 2, 0)
  const beyond = (chi - (days.length - 1) * p * (1 - p)) / (total - squares / total)
  return Math.max(beyond || 0, (MIN_SPREAD * p) ** 2)
}
