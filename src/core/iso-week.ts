import { DAY_MS, type Instant } from './clock.ts'

export const WEEK_MS = 7 * DAY_MS
/** 5 January 1970. */
const FIRST_MONDAY = 4 * DAY_MS

/** Returns the Monday, midnight UTC, of the week of an instant. */
export function weekStart(at: Instant): Instant {
  return Math.floor((at - FIRST_MONDAY) / WEEK_MS) * WEEK_MS + FIRST_MONDAY
}

/** Returns the name of the week of an instant as in ISO 8601: `2026-W47`. Its year is that of its Thursday. */
export function weekName(at: Instant): string {
  const thursday = weekStart(at) + 3 * DAY_MS
  const year = new Date(thursday).getUTCFullYear()
  const number = Math.floor((thursday - Date.UTC(year, 0, 1)) / WEEK_MS) + 1
  return `${year}-W${String(number).padStart(2, '0')}`
}

/** Returns the start of the week of this name; null for what names none, such as the 53rd of a year with 52. */
export function parseWeek(name: string): Instant | null {
  const [, year, number] = /^(\d{4})-W(\d\d)$/.exec(name) ?? []
  // 4 January is in the first week of its year.
  const start = weekStart(Date.UTC(Number(year), 0, 4)) + (Number(number) - 1) * WEEK_MS
  return weekName(start) === name ? start : null
}
