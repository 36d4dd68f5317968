import type { Instant } from '../core/clock.ts'
import { TICK_MS, tickBefore } from '../signals/series.ts'
import type { Alert } from './alert.ts'
import type { Window } from './finding.ts'
import { nextWindow, type Period, parsePeriod, previousWindow, windowAt } from './period.ts'
import { alertTypeOf } from './types/index.ts'

/** Maximum number of past windows that are evaluated after a downtime. */
export const MAX_LATE_WINDOWS = 24

/** How far an alert has been evaluated. */
export interface Cursor {
  /** Everything received before this has been judged, or was received before the alert existed. */
  evaluatedThrough: Instant
  /** Start of the current window; for a type that judges whole windows it may lie in the future. */
  windowStartAt: Instant
}

/** The settings that decide when an alert is due. */
export interface Schedule {
  period: Period
  timezone: string
  /** True when part of a window may be judged; otherwise a window is judged once, whole. */
  partial: boolean
  /** True when parts of a window are judged at the end of every tick; absent: when a violation woke the alert. */
  ticks?: boolean
}

/** One due evaluation. */
export interface DueWindow {
  window: Window
  /** Start of the alert's window that `window` is the whole or a part of. */
  windowStartAt: Instant
  /** The alert's cursor after this evaluation. */
  next: Cursor
}

/**
 * Returns the cursor of an alert that is created, changed or enabled. Types that judge partial windows begin at once;
 * the others begin with the first window that starts then or later, because the count of a partial window means
 * nothing.
 */
export function firstCursor({ period, timezone, partial }: Schedule, now: Instant): Cursor {
  const { start, end } = windowAt(period, timezone, now)
  return { evaluatedThrough: now, windowStartAt: partial || start === now ? start : end }
}

/**
 * Returns the due evaluations, in order: the windows that have ended, at most the last 24; and for an alert with partial
 * windows, when it is woken or at each tick, also the beginning of the current window. `watermark`: everything
 * received before it can be queried.
 *
 * Types that judge counts never judge windows before the last 24. For other types the first window reaches back to the
 * cursor, so that each event is in exactly one evaluation, even after a crash.
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

/** Returns the first `watermark` at which the alert is due without being woken. */
export function nextDueAt({ evaluatedThrough, windowStartAt }: Cursor, schedule: Schedule): Instant {
  const { period, timezone, partial, ticks = false } = schedule
  if (partial) {
    const { end } = windowAt(period, timezone, evaluatedThrough)
    return ticks ? Math.min(end, tickBefore(evaluatedThrough) + TICK_MS) : end
  }
  const window = windowAt(period, timezone, windowStartAt)
  return window.start >= windowStartAt ? window.end : nextWindow(period, timezone, window).end
}

/** Returns the alert's schedule. Throws `AppError('invalid')` for a type of alert that this version does not know. */
export function scheduleOf({ alertType, period, timezone }: Alert): Schedule {
  const { partial, series } = alertTypeOf(alertType)
  return { period: parsePeriod(period), timezone, partial, ticks: series !== undefined }
}
