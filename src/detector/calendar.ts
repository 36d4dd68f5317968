import { DAY_MS, HOUR_MS } from '../core/clock.ts'

const WEEK_MS = 7 * DAY_MS
const SCALE_DAYS = 28
const SCALE_ROWS = 84
/** Of three days of hours, less what is lost where a sum reaches into a day of another kind. */
const NEEDED_RESIDUALS = 60
const NEEDED_DAYS = 3

/** Lengths in rows, for rows that are so far apart. A block is what one residual is kept of: an hour, or a longer row. */
export interface Calendar {
  day: number
  week: number
  block: number
  /** In blocks: a day, what scales are made of, and the least that these need. */
  dayBlocks: number
  scaleBlocks: number
  neededBlocks: number
  /** From this slot there is a season by the day. */
  seasonFrom: number
}

export function calendarOf(stepMs: number): Calendar {
  const rows = (ms: number) => Math.max(1, Math.round(ms / stepMs))
  const [day, block] = [rows(DAY_MS), rows(HOUR_MS)]
  const dayBlocks = Math.max(1, Math.round(day / block))
  const neededBlocks = Math.min(NEEDED_RESIDUALS, Math.max(SCALE_DAYS, (SCALE_DAYS / 2) * dayBlocks))
  const seasonFrom = NEEDED_DAYS * day
  return {
    ...{ day, week: rows(WEEK_MS), block, dayBlocks, neededBlocks, seasonFrom },
    scaleBlocks: Math.max(SCALE_DAYS * dayBlocks, SCALE_ROWS),
  }
}

/** No calendar has more blocks to make scales of: rows 40 minutes apart make 36 of a day. */
export const MOST_BLOCKS = 36 * SCALE_DAYS
