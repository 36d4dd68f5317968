import type { ParamType } from '../../url-state/param-types.ts'

/** An ISO 8601 week such as `2026-W47`; empty for the last complete week. */
const week: ParamType<string> = {
  parse: (given) => (/^\d{4}-W(?:0[1-9]|[1-4]\d|5[0-3])$/.test(given) ? given : undefined),
  write: (value) => value,
  fallback: '',
}

/** Search parameters of the weekly report. */
export const REPORT = { week }

const DAY_MS = 86_400_000

/** The ISO 8601 week of a moment, in UTC. A week belongs to the year of its Thursday. */
export function weekOf(at: number): string {
  const day = new Date(at)
  const thursday = at + (4 - (day.getUTCDay() || 7)) * DAY_MS
  const year = new Date(thursday).getUTCFullYear()
  const number = Math.floor((thursday - Date.UTC(year, 0, 1)) / DAY_MS / 7) + 1
  return `${year}-W${String(number).padStart(2, '0')}`
}
