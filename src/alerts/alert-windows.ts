import { type Instant, MINUTE_MS } from '../core/clock.ts'
import { nextWindow, type Period, previousWindow, windowAt } from './alert-period.ts'
import type { Window } from './finding.ts'

/** Returns the windows of an alert that lie entirely within `[from, to)`, in order. */
export function wholeWindows(period: Period, timezone: string, from: Instant, to: Instant): Window[] {
  const windows: Window[] = []
  const first = windowAt(period, timezone, from)
  let window = first.start === from ? first : nextWindow(period, timezone, first)
  for (; window.end <= to; window = nextWindow(period, timezone, window)) {
    windows.push({ from: window.start, to: window.end, complete: true })
  }
  return windows
}

/** Returns the last window that ended at or before `to`. */
export function lastWindow(period: Period, timezone: string, to: Instant): Window {
  const { start, end } = previousWindow(period, timezone, windowAt(period, timezone, to))
  return { from: start, to: end, complete: true }
}

/**
 * Returns the bucket length for counting the history; each bucket lies in exactly one window. For minutes and hours it
 * is the window length, because these windows are counted from the epoch. For days it is 15 minutes, because in every
 * time zone local days begin at a multiple of 15 minutes (https://data.iana.org/time-zones/theory.html).
 */
export function bucketMsOf({ unit, lengthMs }: Period): number {
  return unit === 'd' || unit === 'w' ? 15 * MINUTE_MS : lengthMs
}

/** A count with the start of its bucket, or a single event with its time. */
export interface Bucketed {
  bucketAt: Instant
}

/** Groups counted rows by window. A bucket that began before the first window is assigned to the first window. */
export function groupByWindow<T extends Bucketed>(rows: readonly T[], windows: readonly Window[]): T[][] {
  const { from } = spanOf(windows)
  const groups: T[][] = windows.map(() => [])
  for (const row of rows) groups[indexOf(windows, Math.max(row.bucketAt, from))]?.push(row)
  return groups
}

/**
 * Returns the index of the window that contains an instant; -1 when no window contains it. Windows are in order and
 * adjacent.
 */
function indexOf(windows: readonly Window[], instant: Instant): number {
  let low = 0
  let high = windows.length - 1
  while (low <= high) {
    const middle = (low + high) >> 1
    const { from, to } = windows[middle] ?? { from: 0, to: 0 }
    if (instant < from) high = middle - 1
    else if (instant >= to) low = middle + 1
    else return middle
  }
  return -1
}

/** Returns the time range from the first to the last of adjacent windows; empty when there are none. */
export function spanOf(windows: readonly Omit<Window, 'complete'>[]): { from: Instant; to: Instant } {
  return { from: windows[0]?.from ?? 0, to: windows.at(-1)?.to ?? 0 }
}
