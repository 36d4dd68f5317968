import { DAY_MS, HOUR_MS, type Instant } from '../core/clock.ts'

/**
 * The periods to compare around a change: the time since the change, the same length of time before it, and the same
 * hours on earlier days.
 */
export interface ChangeWindow {
  orgId: string
  domainId: string
  /** Time of the change. */
  at: Instant
  /** Length of the compared period on each side. */
  lengthMs: number
}

const LIKE_DAYS_BACK = 28
const WEEKS_BACK = 56

/** Returns the distance in days between the earlier periods, which must not overlap. */
export function lagDays({ lengthMs }: Pick<ChangeWindow, 'lengthMs'>): number {
  if (2 * lengthMs <= DAY_MS) return 1
  return 2 * lengthMs <= 7 * DAY_MS ? 7 : 14
}

/** Returns the maximum age in days of the earlier periods. */
export const maxDaysBack = (window: ChangeWindow): number => (lagDays(window) === 1 ? LIKE_DAYS_BACK : WEEKS_BACK)

/** Returns the start of the oldest compared period. */
export function oldestPeriodStart(window: ChangeWindow): Instant {
  return window.at - maxDaysBack(window) * DAY_MS - window.lengthMs
}

/**
 * Returns SQL for the number of days by which an instant's period precedes the change, and SQL that tests whether the
 * instant is in one of the compared periods.
 */
export function lagSql(window: ChangeWindow, instant: string, quotient: (number: string, divisor: number) => string) {
  const stepMs = lagDays(window) * DAY_MS
  const back = `(${window.at + window.lengthMs - 1} - ${instant})`
  const steps = quotient(back, stepMs)
  const rest = `(${back} - ${steps} * ${stepMs})`
  return {
    lag: `${steps} * ${lagDays(window)}`,
    side: `CASE WHEN ${rest} >= ${window.lengthMs} THEN 'before' ELSE 'after' END`,
    isCompared: `${rest} < ${2 * window.lengthMs}`,
  }
}

const isWeekend = (instant: Instant) => [0, 6].includes(new Date(instant).getUTCDay())

/**
 * Returns a function that tests whether the day this many days before the change is of the same kind as the day of the
 * change: a working day or a weekend day (UTC).
 */
export const isLikeDay =
  ({ at }: Pick<ChangeWindow, 'at'>) =>
  (lag: number): boolean =>
    isWeekend(at - lag * DAY_MS) === isWeekend(at)

const FIRST_LOOK = 0.05
const GROWTH = 1.3
const SHORTEST_MS = HOUR_MS / 60

/** Returns the times after a change at which it is evaluated, ascending. The last one is the end of its window. */
export function evaluationTimesOf(windowMs: number): number[] {
  const looks: number[] = []
  for (
    let ms = Math.max(SHORTEST_MS, FIRST_LOOK * windowMs);
    ms < windowMs;
    ms = Math.max(ms * GROWTH, ms + SHORTEST_MS)
  )
    looks.push(Math.round(ms))
  return [...looks, windowMs]
}
