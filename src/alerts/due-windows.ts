import type { Instant } from '../core/clock.ts'
import { TICK_MS, tickBefore } from '../signals/series.ts'
import type { Alert } from './alert.ts'
import { nextWindow, type Period, parsePeriod, previousWindow, windowAt } from './alert-period.ts'
import type { Window } from './finding.ts'
import { isPartial } from './types/alert-type.ts'
import { alertTypeOf } from './types/index.ts'

/** Maximum number of past windows that are evaluated after downtime. */
export const MAX_LATE_WINDOWS = 24

/** The progress of an alert's evaluation. */
export interface Cursor {
  /** Events received before this instant have been evaluated, or were received before the alert existed. */
  evaluatedThrough: Instant
  /** Start of the current window. May be in the future for a type that evaluates only whole windows. */
  windowStartAt: Instant
}

/** The settings that determine when an alert is due. */
export interface Schedule {
  period: Period
  timezone: string
  /** True when partial windows are evaluated; otherwise each window is evaluated once, as a whole. */
  partial: boolean
  /**
   * True when partial windows are evaluated at the end of every tick. When absent, they are evaluated when a violation
   * wakes the alert.
   */
  ticks?: boolean
}

/** One due evaluation. */
export interface DueWindow {
  window: Window
  /** Start of the alert's window that contains `window`. */
  windowStartAt: Instant
  /** The alert's cursor after this evaluation. */
  next: Cursor
}

/**
 * Returns the cursor of an alert that is created, changed or enabled. Types that evaluate partial windows start
 * immediately. Other types start with the first window that begins at or after `now`, because the count of a partial
 * window is meaningless.
 */
export function firstCursor({ period, timezone, partial }: Schedule, now: Instant): Cursor {
  const { start, end } = windowAt(period, timezone, now)
  return { evaluatedThrough: now, windowStartAt: partial || start === now ? start : end }
}

/**
 * Returns the due evaluations, in order: the windows that have ended, at most the last 24. For an alert with partial
 * windows, also the elapsed part of the current window, when the alert is woken or at each tick. `watermark`: all
 * events received before it can be queried.
 * Types that evaluate counts never evaluate windows before the last 24. For other types, the first window begins at the
 * cursor, so that each event is evaluated exactly once, even after a crash.
 */
export function dueWindows(cursor: Cursor, schedule: Schedule, watermark: Instant, woken: boolean): DueWindow[] {
  const { period, timezone, partial, ticks = false } = schedule
  const current = windowAt(period, timezone, watermark)
  const isDue = (window: { start: Instant; end: Instant }) =>
    partial ? window.end > cursor.evaluatedThrough : window.start >= cursor.windowStartAt
  const due: DueWindow[] = []
  for (
    let window = previousWindow(period, timezone, current);
    isDue(window) && due.length < MAX_LATE_WINDOWS;
    window = previousWindow(period, timezone, window)
  ) {
    const { start, end } = window
    due.unshift({
      window: { from: start, to: end, complete: true },
      windowStartAt: start,
      next: { evaluatedThrough: end, windowStartAt: end },
    })
  }
  if (!partial) return due
  const first = due[0]
  if (first) {
    first.window.from = ticks ? Math.max(cursor.evaluatedThrough, first.windowStartAt) : cursor.evaluatedThrough
    first.windowStartAt = windowAt(period, timezone, first.window.from).start
  }
  const from = Math.max(cursor.evaluatedThrough, current.start)
  const to = ticks ? tickBefore(watermark) : watermark
  if ((woken || ticks) && to > from) {
    due.push({
      window: { from, to, complete: false },
      windowStartAt: current.start,
      next: { evaluatedThrough: to, windowStartAt: current.start },
    })
  }
  return due
}

/** Returns the earliest `watermark` at which the alert is due without being woken. */
export function nextDueAt({ evaluatedThrough, windowStartAt }: Cursor, schedule: Schedule): Instant {
  const { period, timezone, partial, ticks = false } = schedule
  if (partial) {
    const { end } = windowAt(period, timezone, evaluatedThrough)
    return ticks ? Math.min(end, tickBefore(evaluatedThrough) + TICK_MS) : end
  }
  const window = windowAt(period, timezone, windowStartAt)
  return window.start >= windowStartAt ? window.end : nextWindow(period, timezone, window).end
}

/** Returns the alert's schedule. Throws `AppError('invalid')` for an alert type that this version does not support. */
export function scheduleOf({ alertType, period, timezone }: Alert): Schedule {
  const type = alertTypeOf(alertType)
  const ticks = type.evaluated === 'along a series'
  return { period: parsePeriod(period), timezone, partial: isPartial(type), ticks }
}
