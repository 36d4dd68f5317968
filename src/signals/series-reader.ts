import { DAY_MS, type Instant } from '../core/clock.ts'
import type { History } from '../warehouse/warehouse.ts'
import type { Gap } from './gap.ts'
import { GapRows } from './gap-rows.ts'
import { type RowCounts, readRowCounts, rowCountsQuery } from './row-counts.ts'
import type { Series, Span } from './series.ts'
import type { Emit, Tracker } from './tracker.ts'
import type { Remembered } from './tracker-memory.ts'

/** One query answers at most about so many rows. */
const ROWS_AT_ONCE = 150_000
/** Histories that begin within this time of each other are read together. */
const TOGETHER_MS = 7 * DAY_MS
/** After so many rows others get their turn, such as the collector: 5 ms. */
const ROWS_A_TURN = 400

export interface ReaderParts {
  warehouse: History
  /** When nothing could be collected; in order, without overlaps. */
  gapsOf(from: Instant, to: Instant): readonly Gap[]
}

/** A tracker that is to go on to an instant. */
export interface Track {
  remembered: Remembered
  /** Of what ended after `from` everything is told, or the rows. */
  from: Instant
  to: Instant
  /** Told in the order of time, also of what was said before. */
  emit: Emit
  /** That of the block before, which is told first. */
  before: Track | null
  /** Given the counts of the row under way at the end, when that is wanted. */
  ended?(counts: RowCounts | null): void
}

/** Tracks that have told what they said before. */
type Begun = Set<Track>

function begin(track: Track, begun: Begun): void {
  if (begun.has(track)) return
  begun.add(track)
  if (track.before) begin(track.before, begun)
  track.remembered.repeat(track, track.emit)
}

/** How many rows it has to go through. */
export const rowsAhead = ({ remembered, to }: Track) => Math.max(0, rowsTo(remembered.tracker, to))

/**
 * Gives trackers of one organization, with rows of one kind, the counts that they need. Fails as the warehouse does, and
 * with the signal's reason when that is aborted meanwhile.
 */
export async function advance(tracks: readonly Track[], parts: ReaderParts, signal?: AbortSignal): Promise<void> {
  const begun: Begun = new Set()
  await readOn(tracks, begun, parts, signal)
  for (const track of tracks) begin(track, begun)
}

async function readOn(
  tracks: readonly Track[],
  begun: Begun,
  { warehouse, gapsOf }: ReaderParts,
  signal?: AbortSignal,
): Promise<void> {
  let open = tracks.filter(({ remembered, to, ended }) => remembered.tracker.position < to || ended)
  const [first] = open
  if (!first) return
  const { series } = first.remembered.tracker
  const to = Math.max(...open.map((track) => track.to))
  const since = Math.min(...open.map(({ remembered }) => remembered.tracker.knownUntil))
  const gaps = new GapRows(gapsOf(since, to), series)
  const turn = { rows: 0 }
  while (open.length > 0) {
    const span = nextSpan(open, series.stepMs)
    const wanted = open.filter((track) => startOf(track) < span.to)
    const counts = await read(wanted, span, warehouse)
    for (const [place, track] of wanted.entries()) {
      signal?.throwIfAborted()
      begin(track, begun)
      await give(track, counts[place] ?? null, span, gaps, turn)
    }
    open = open.filter((track) => track.to > span.to)
  }
}

const startOf = ({ remembered }: Track) => remembered.tracker.rowStart

/** What is read next: from where the hindmost stand, and no further than others that stand far ahead. */
function nextSpan(open: readonly Track[], stepMs: number): Span {
  const starts = open.map(startOf)
  const from = Math.min(...starts)
  const isTogether = (start: Instant) => start < from + TOGETHER_MS
  const rows = Math.max(1, Math.floor(ROWS_AT_ONCE / starts.filter(isTogether).length))
  const ahead = starts.filter((start) => !isTogether(start))
  const end = Math.max(...open.map(({ to }) => to))
  return { from, to: Math.min(from + rows * stepMs, end, ...ahead) }
}

async function read(
  tracks: readonly Track[],
  span: Span,
  warehouse: ReaderParts['warehouse'],
): Promise<(RowCounts | null)[]> {
  // Several trackers may follow one series: at the end of a block, or with several sensitivities.
  const [first, ...rest] = tracks.map(({ remembered }) => remembered.tracker.series)
  if (!first) return []
  const series: [Series, ...Series[]] = [first, ...rest]
  return readRowCounts(await warehouse.query(rowCountsQuery(series, span)), series, span)
}

async function give(
  { remembered, to, emit, ended }: Track,
  counts: RowCounts | null,
  span: Span,
  gaps: GapRows,
  turn: { rows: number },
): Promise<void> {
  const { tracker } = remembered
  const end = Math.min(to, span.to)
  const note: Emit = (place, outcome) => {
    if (remembered.note(place, outcome)) emit(place, outcome)
  }
  while (tracker.position < end) {
    const next = Math.min(end, tracker.rowStart + ROWS_A_TURN * tracker.series.stepMs)
    turn.rows += rowsTo(tracker, next)
    tracker.advance(counts, next, gaps, note)
    if (turn.rows >= ROWS_A_TURN) {
      turn.rows = 0
      await Bun.sleep(0)
    }
  }
  if (end === to) ended?.(counts)
}

const rowsTo = ({ rowStart, series }: Tracker, to: Instant) => Math.ceil((to - rowStart) / series.stepMs)
