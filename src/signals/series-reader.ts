import { DAY_MS, type Instant } from '../core/clock.ts'
import type { History } from '../warehouse/warehouse.ts'
import type { Gap } from './gap.ts'
import { GapRows } from './gap-rows.ts'
import type { Series, Span } from './series.ts'
import { type RowCounts, readRowCounts, rowCountsQuery } from './series-counts.ts'
import type { Emit, SeriesTracker } from './series-tracker.ts'
import type { CachedTracker } from './series-tracker-cache.ts'

/** Approximate maximum number of rows in one query result. */
const MAX_ROWS_PER_QUERY = 150_000
/** Histories whose starts are within this time of each other are read by one query. */
const MAX_START_DISTANCE_MS = 7 * DAY_MS
/** Number of rows after which the event loop is released, about 5 ms. */
const ROWS_PER_TURN = 400

export interface ReaderDeps {
  warehouse: History
  /** Returns the collection gaps, in order and without overlaps. */
  gapsOf(from: Instant, to: Instant): readonly Gap[]
}

/** A tracker to be advanced to an instant. */
export interface TrackerRun {
  cached: CachedTracker
  /** All outcomes that end after `from` are emitted, or only the rows. */
  from: Instant
  to: Instant
  /** Called in chronological order, including for cached outcomes. */
  emit: Emit
  /** The run for the previous block, which is replayed first. */
  before: TrackerRun | null
  /** Called at the end with the counts of the current row. */
  onEnd?(counts: RowCounts | null): void
}

/** Runs that have replayed their cached outcomes. */
type Replayed = Set<TrackerRun>

function replay(track: TrackerRun, replayed: Replayed): void {
  if (replayed.has(track)) return
  replayed.add(track)
  if (track.before) replay(track.before, replayed)
  track.cached.replay(track, track.emit)
}

/** Returns the number of rows to evaluate. */
export const rowsAhead = ({ cached, to }: TrackerRun) => Math.max(0, rowsTo(cached.tracker, to))

/**
 * Reads the counts needed by trackers of one organization with the same row length and offset, and advances the
 * trackers. Fails when the warehouse is unavailable, and with the signal's reason when the signal is aborted.
 */
export async function advance(tracks: readonly TrackerRun[], parts: ReaderDeps, signal?: AbortSignal): Promise<void> {
  const replayed: Replayed = new Set()
  await readAndAdvance(tracks, replayed, parts, signal)
  for (const track of tracks) replay(track, replayed)
}

async function readAndAdvance(
  tracks: readonly TrackerRun[],
  replayed: Replayed,
  { warehouse, gapsOf }: ReaderDeps,
  signal?: AbortSignal,
): Promise<void> {
  let open = tracks.filter(({ cached, to, onEnd }) => cached.tracker.position < to || onEnd)
  const [first] = open
  if (!first) return
  const { series } = first.cached.tracker
  const to = Math.max(...open.map((track) => track.to))
  const since = Math.min(...open.map(({ cached }) => cached.tracker.knownUntil))
  const gaps = new GapRows(gapsOf(since, to), series)
  const turn = { rows: 0 }
  while (open.length > 0) {
    const span = nextSpan(open, series.stepMs)
    const wanted = open.filter((track) => startOf(track) < span.to)
    const counts = await read(wanted, span, warehouse)
    for (const [place, track] of wanted.entries()) {
      signal?.throwIfAborted()
      replay(track, replayed)
      await feed(track, counts[place] ?? null, span, gaps, turn)
    }
    open = open.filter((track) => track.to > span.to)
  }
}

const startOf = ({ cached }: TrackerRun) => cached.tracker.rowStart

/** Returns the time range of the next query: from the earliest position up to the start of runs that are far ahead. */
function nextSpan(open: readonly TrackerRun[], stepMs: number): Span {
  const starts = open.map(startOf)
  const from = Math.min(...starts)
  const isTogether = (start: Instant) => start < from + MAX_START_DISTANCE_MS
  const rows = Math.max(1, Math.floor(MAX_ROWS_PER_QUERY / starts.filter(isTogether).length))
  const ahead = starts.filter((start) => !isTogether(start))
  const end = Math.max(...open.map(({ to }) => to))
  return { from, to: Math.min(from + rows * stepMs, end, ...ahead) }
}

async function read(
  tracks: readonly TrackerRun[],
  span: Span,
  warehouse: ReaderDeps['warehouse'],
): Promise<(RowCounts | null)[]> {
  // Several trackers may track one series, at the end of a block or with several sensitivities.
  const [first, ...rest] = tracks.map(({ cached }) => cached.tracker.series)
  if (!first) return []
  const series: [Series, ...Series[]] = [first, ...rest]
  return readRowCounts(await warehouse.query(rowCountsQuery(series, span)), series, span)
}

async function feed(
  { cached, to, emit, onEnd }: TrackerRun,
  counts: RowCounts | null,
  span: Span,
  gaps: GapRows,
  turn: { rows: number },
): Promise<void> {
  const { tracker } = cached
  const end = Math.min(to, span.to)
  const record: Emit = (place, outcome) => {
    if (cached.record(place, outcome)) emit(place, outcome)
  }
  while (tracker.position < end) {
    const next = Math.min(end, tracker.rowStart + ROWS_PER_TURN * tracker.series.stepMs)
    turn.rows += rowsTo(tracker, next)
    tracker.advance(counts, next, gaps, record)
    if (turn.rows >= ROWS_PER_TURN) {
      turn.rows = 0
      await Bun.sleep(0)
    }
  }
  if (end === to) onEnd?.(counts)
}

const rowsTo = ({ rowStart, series }: SeriesTracker, to: Instant) => Math.ceil((to - rowStart) / series.stepMs)
