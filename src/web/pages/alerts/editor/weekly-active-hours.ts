import { formatDate } from '../../../components/format.ts'
import type { Draft } from './draft.ts'

/** Days and hours in which notifications may be sent. The end hour is exclusive. Day 0 is Sunday. */
export type RunWindows = NonNullable<Draft['runWindows']>
/** A change of active hours. `hours: undefined` means all hours. */
export type WindowsChange = Pick<RunWindows, 'days'> & { hours?: RunWindows['hours'] | undefined }

export const HOURS_OF_DAY = 24
/** Days in display order; 0 is Sunday. */
export const WEEK = [1, 2, 3, 4, 5, 6, 0] as const

/** True when every hour of the day is active. */
export const isAllDay = ({ hours }: RunWindows): boolean => hours === undefined || hours[0] === hours[1]

/** The selected days; empty: every day. */
export const daysOf = ({ days = [] }: RunWindows): number[] => WEEK.filter((day) => days.includes(day))

/** True when notifications may be sent at any time. */
export const isAlways = (windows: RunWindows | undefined): boolean =>
  windows === undefined || (isAllDay(windows) && [0, WEEK.length].includes(daysOf(windows).length))

/** True when the hour is active. A window that spans midnight belongs to the day on which it starts. */
export function isActive(windows: RunWindows, day: number, hour: number): boolean {
  const days = daysOf(windows)
  const isOn = (one: number) => days.length === 0 || days.includes(one)
  const [from = 0, to = 0] = windows.hours ?? []
  if (from === to) return isOn(day)
  if (from < to) return hour >= from && hour < to && isOn(day)
  return (hour >= from && isOn(day)) || (hour < to && isOn((day + 6) % 7))
}

/** The active hours of a day as intervals `[from, to)`. */
export function intervalsOf(windows: RunWindows, day: number): { from: number; to: number }[] {
  const stretches: { from: number; to: number }[] = []
  for (let hour = 0; hour < HOURS_OF_DAY; hour++) {
    if (!isActive(windows, day, hour)) continue
    const last = stretches.at(-1)
    if (last?.to === hour) last.to = hour + 1
    else stretches.push({ from: hour, to: hour + 1 })
  }
  return stretches
}

/** Ranges of consecutive days, in display order: `[[1, 5], [0, 0]]` for weekdays and Sunday. */
export function consecutiveDays(days: readonly number[]): [first: number, last: number][] {
  const rows: [number, number][] = []
  for (const [index, day] of WEEK.entries()) {
    if (!days.includes(day)) continue
    const last = rows.at(-1)
    if (last && WEEK.indexOf(last[1] as never) === index - 1) last[1] = day
    else rows.push([day, day])
  }
  return rows
}

/** The active hours with this change; undefined when they no longer restrict anything. */
export function withWindows(before: RunWindows | undefined, part: WindowsChange): RunWindows | undefined {
  const { hours, days = [] } = { ...before, ...part }
  const next = { ...(hours && { hours }), ...(days.length > 0 && { days }) }
  return Object.keys(next).length > 0 ? next : undefined
}

/** Formats an hour: `08:00`. */
export const clockOf = (hour: number): string => `${String(hour).padStart(2, '0')}:00`

// 2026-01-04 was a Sunday.
const SUNDAY = Date.UTC(2026, 0, 4)
const DAY_MS = 86_400_000

/** The localized name of a day. */
export const dayName = (day: number, length: 'short' | 'long'): string =>
  formatDate(SUNDAY + day * DAY_MS, 'UTC', { weekday: length })

/** Formats days: `Mon–Fri, Sun`. */
export const formatDays = (days: readonly number[]): string =>
  consecutiveDays(days)
    .map(([first, last]) =>
      first === last ? dayName(first, 'short') : `${dayName(first, 'short')}–${dayName(last, 'short')}`,
    )
    .join(', ')
