import { HOUR_MS, type Instant } from '../core/clock.ts'
import { type Block, rowStart, type Series, type Span, seriesKey } from './series.ts'
import { RowHistory } from './series-history.ts'
import { type Emit, SeriesTracker } from './series-tracker.ts'
import type { Outcome } from './verdict-row.ts'

/** Retention of cached outcomes, so that repeated queries and current states are served from memory. */
const OUTCOME_RETENTION_MS = 10 * HOUR_MS
/** A verdict on a window considers data from this time before it. */
export const LEAD_MS = 7 * HOUR_MS
/** Trackers that have not been queried for this time are discarded. */
const IDLE_MS = HOUR_MS
const MAX_OUTCOMES = 1000
/** Size of a tracker in bytes in addition to its arrays, and of each cached outcome. */
const OVERHEAD_BYTES = 5000
const OUTCOME_BYTES = 350

/** A tracker with its recent outcomes. */
export class CachedTracker {
  private outcomes: { place: number; outcome: Outcome }[] = []
  /** The rows for charts, which reach further back than outcomes. Present when there is one sensitivity. */
  private readonly log: RowHistory | null
  /** All outcomes that ended after this are cached. */
  private knownFrom: Instant

  private constructor(readonly tracker: SeriesTracker) {
    this.knownFrom = tracker.block.from - 1
    this.log = tracker.sensitivities.length === 1 ? new RowHistory(tracker.series.stepMs) : null
  }

  /**
   * Returns a tracker that has not learned yet. It will cache outcomes that end after `from`, and some earlier ones.
   */
  static from(
    series: Series,
    block: Block,
    sensitivities: readonly number[],
    from: Instant,
    isHoliday: ((instant: Instant) => boolean) | null,
  ): CachedTracker {
    const knownFrom = Math.max(block.from - 1, rowStart(series, from) - OUTCOME_RETENTION_MS)
    const cached = new CachedTracker(new SeriesTracker(series, block, sensitivities, knownFrom, isHoliday))
    cached.knownFrom = knownFrom
    return cached
  }

  /** True when all outcomes that ended after `from` are cached. */
  hasOutcomesSince(from: Instant): boolean {
    return this.knownFrom <= from
  }

  /** True when at least the rows that ended after `from` and the outcome at `to` are cached. */
  hasRowsOf({ from, to }: Span): boolean {
    return this.log?.reaches(from) === true && to > this.knownFrom + this.tracker.series.stepMs
  }

  /** Emits the cached outcomes that ended in `from < t <= to`. Where only rows are cached, emits the rows. */
  replay({ from, to }: Span, emit: Emit): void {
    this.log?.replay({ from, to: Math.min(to, this.knownFrom) }, (outcome) => emit(0, outcome))
    for (const { place, outcome } of this.outcomes) if (outcome.at <= to) emit(place, outcome)
  }

  /** Caches an outcome. Returns false when the outcome must not be emitted because it belongs to the previous block. */
  record(place: number, outcome: Outcome): boolean {
    this.log?.add(outcome)
    if (outcome.at <= this.knownFrom) return false
    this.outcomes.push({ place, outcome })
    if (this.outcomes.length >= MAX_OUTCOMES) this.trim()
    return true
  }

  /** Discards outcomes that are no longer needed. */
  trim(): void {
    const from = this.tracker.position - OUTCOME_RETENTION_MS
    if (from <= this.knownFrom) return
    this.knownFrom = from
    this.outcomes = this.outcomes.filter(({ outcome }) => outcome.at > from)
  }

  get bytes(): number {
    return this.tracker.bytes + (this.log?.bytes ?? 0) + OVERHEAD_BYTES + this.outcomes.length * OUTCOME_BYTES
  }
}

/** Returns the same key for series and sensitivities that share one tracker per block. */
export function trackerKey(series: Series, sensitivities: readonly number[]): string {
  const { stepMs, offsetMs = 0, timezone } = series
  return `${seriesKey(series)} ${stepMs} ${offsetMs} ${timezone} ${sensitivities}`
}

const cacheKey = (key: string, { from }: Pick<Block, 'from'>) => `${key} ${from}`

/** Cache of trackers with a maximum size in bytes. */
export class TrackerCache {
  private readonly entries = new Map<string, { cached: CachedTracker; bytes: number; usedAt: Instant }>()
  private used = 0
  private cleanedAt = Number.NEGATIVE_INFINITY

  constructor(private readonly maxBytes: number) {}

  get bytes(): number {
    return this.used
  }

  get(key: string, block: Block): CachedTracker | null {
    return this.entries.get(cacheKey(key, block))?.cached ?? null
  }

  /**
   * Caches the tracker if there is space in addition to the recently queried trackers. `at`: end of the queried time
   * range.
   */
  set(key: string, cached: CachedTracker, at: Instant): void {
    const { tracker } = cached
    const place = cacheKey(key, tracker.block)
    const before = this.entries.get(place)
    if (before && before.cached.tracker.position > tracker.position) return
    this.drop(place)
    if (at >= this.cleanedAt + IDLE_MS) this.dropIdle(at)
    cached.trim()
    const { bytes } = cached
    if (this.used + bytes > this.maxBytes) return
    this.entries.set(place, { cached, bytes, usedAt: at })
    this.used += bytes
  }

  private dropIdle(at: Instant): void {
    this.cleanedAt = at
    for (const [place, { usedAt }] of this.entries) if (usedAt < at - IDLE_MS) this.drop(place)
  }

  private drop(place: string): void {
    const entry = this.entries.get(place)
    if (!entry) return
    this.entries.delete(place)
    this.used -= entry.bytes
  }
}
