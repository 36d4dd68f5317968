import { type Instant, MINUTE_MS } from '../core/clock.ts'
import type { Window } from './finding.ts'
import { nextWindow, type Period, previousWindow, windowAt } from './period.ts'

/** The windows of an alert that lie wholly in `[from, to)`, in order; they touch. */
export function wholeWindows(period: Period, timezone: string, from: Instant, to: Instant): Window[] {
  const windows: Window[] = []
  const first = windowAt(period, timezone, from)
  let window = first.start === from ? first : nextWindow(period, timezone, first)
  for (; window.end <= to; window = nextWindow(period, timezone, window)) {
    windows.push({ from: window.start, to: window.end, complete: true })
  }
  return windows
}

/** The newest window that ended by `to`. */
export function lastWindow(period: Period, timezone: string, to: Instant): Window {
  const { start, end } = previousWindow(period, timezone, windowAt(period, timezone, to))
  return { from: start, to: end, complete: true }
}

/**
 * The stretches of time that the history is counted by, so that each lies in one window whole: windows of minutes and
 * hours themselves, which are multiples since the epoch, and quarters of an hour for days, because local days begin at
 * those everywhere (https://data.iana.org/time-zones/theory.html).
 */
export function bucketMsOf({ unit, lengthMs }: Period): number {
  return unit === 'd' || unit === 'w' ? 15 * MINUTE_MS : lengthMs
}

/** Something that was counted in the bucket that begins, or at an instant that lies, here. */
export interface Counted {
  bucketAt: Instant
}

/** Puts what was counted into the window that it lies in; a bucket that began before the first belongs to that. */
export function byWindow<T extends Counted>(rows: readonly T[], windows: readonly Window[]): T[][] {
  const { from } = spanOf(windows)
  const groups: T[][] = windows.map(() => [])
  for (const row of rows) groups[indexOf(windows, Math.max(row.bucketAt, from))]?.push(row)
  return groups
}

/** Place of the window that holds an instant; -1 when none does. The windows are in order and touch. */
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

/** From the first to the last of windows that touch; empty for none. */
export function spanOf(windows: readonly Omit<Window, 'complete'>[]): { from: Instant; to: Instant } {
  return { from: windows[0]?.from ?? 0, to: windows.at(-1)?.to ?? 0 }
}
