import { DAY_MS, HOUR_MS } from '../core/clock.ts'

const WEEK_MS = 7 * DAY_MS
const SCALE_DAYS = 28
const SCALE_ROWS = 84
/** Three days of hourly rows, minus those lost when a sum extends into a day of another kind. */
const MIN_RESIDUALS = 60
const MIN_DAYS = 3

/**
 * Lengths in rows, derived from the row length. A block has one residual and is an hour, or one row if rows are longer.
 */
export interface Calendar {
  day: number
  week: number
  block: number
  /** In blocks: a day, the period from which scales are estimated, and its minimum. */
  dayBlocks: number
  scaleBlocks: number
  minBlocks: number
  /** The first slot with a daily season. */
  seasonFrom: number
}

export function calendarOf(stepMs: number): Calendar {
  const rows = (ms: number) => Math.max(1, Math.round(ms / stepMs))
  const [day, block] = [rows(DAY_MS), rows(HOUR_MS)]
  const dayBlocks = Math.max(1, Math.round(day / block))
  const minBlocks = Math.min(MIN_RESIDUALS, Math.max(SCALE_DAYS, (SCALE_DAYS / 2) * dayBlocks))
  const seasonFrom = MIN_DAYS * day
  return {
    day,
    week: rows(WEEK_MS),
    block,
    dayBlocks,
    minBlocks,
    seasonFrom,
    scaleBlocks: Math.max(SCALE_DAYS * dayBlocks, SCALE_ROWS),
  }
}

/** Maximum number of blocks from which scales are estimated. With rows of 40 minutes there are 36 blocks a day. */
export const MAX_SCALE_BLOCKS = 36 * SCALE_DAYS
