import { type Instant, MINUTE_MS } from '../core/clock.ts'
import { DetectorSet, type Verdict } from '../detector/detector.ts'
import { DropEpisode, EPISODE_MEMORY_MS } from '../detector/drop-episode.ts'
import type { GapRows } from './gap-rows.ts'
import { type Block, rowStart, type Series, TICK_MS } from './series.ts'
import type { RowCounts } from './series-counts.ts'
import type { Outcome, RowNumbers } from './verdict-row.ts'

/**
 * Called for each row, and for each tick inside a row at which there is a silence. For a domain's total traffic, it is
 * also called for each quiet tick (`isQuietTick`). `place`: index of the sensitivity.
 */
export type Emit = (place: number, outcome: Outcome) => void

/**
 * Evaluates one series from the start of a block's history, row by row and tick by tick, at several sensitivities in
 * one pass.
 */
export class SeriesTracker {
  private readonly detectors: DetectorSet
  private readonly episodes: readonly DropEpisode[]
  /** Time from which ticks inside rows are evaluated. */
  private readonly ticksFrom: Instant
  /** Start of the current row. Earlier counts are not needed again. */
  rowStart: Instant
  /** Everything that ends by this time has been evaluated. */
  position: Instant
  /** End of the last row that overlaps no gap. Only gaps after it are relevant. */
  knownUntil: Instant
  /** Number of events that one stored event of the series represents; NaN before the first event. */
  private weight = Number.NaN
  private lastEventAt: Instant | null = null
  private learningUntil: Instant | null = null

  /**
   * `judgedFrom`: outcomes are emitted for everything that ends after this time. `isHoliday`: as in `SeriesShape`; null
   * without holidays in the block and its history.
   */
  constructor(
    readonly series: Series,
    readonly block: Block,
    readonly sensitivities: readonly number[],
    judgedFrom: Instant,
    isHoliday: ((instant: Instant) => boolean) | null = null,
  ) {
    const { stepMs, timezone } = series
    this.detectors = new DetectorSet({ stepMs, timezone, sensitivities, ...(isHoliday && { isHoliday }) })
    this.episodes = sensitivities.map(() => new DropEpisode())
    this.ticksFrom = rowStart(series, judgedFrom - EPISODE_MEMORY_MS - TICK_MS)
    this.rowStart = block.anchor
    this.position = block.anchor
    this.knownUntil = block.anchor
  }

  /**
   * Evaluates everything up to `to`. `counts`: counts of the current and later rows; null when these rows have no
   * events. For a row that has not ended by `to`, only the ticks are evaluated, and the row's counts must be passed
   * again.
   */
  advance(counts: RowCounts | null, to: Instant, gaps: GapRows, emit: Emit): void {
    const { stepMs } = this.series
    for (let end = this.rowStart + stepMs; this.rowStart < to; end += stepMs) {
      this.judgeTicks(counts, Math.min(end - 1, to), gaps, emit)
      if (end > to) break
      this.judgeRow(counts, end, gaps, emit)
      this.rowStart = end
      this.position = end
    }
    this.position = Math.max(this.position, to)
  }

  /** Returns the count of the current row so far, and the baseline for the whole row; null before the first events. */
  running(counts: RowCounts | null): { observed: number; expected: number | null } {
    const observed = counts?.weightAt(this.rowStart) ?? 0
    if (!this.hasEvents) return { observed, expected: null }
    return { observed, expected: this.weighted(this.detectors.expectedAt(this.rowStart)) }
  }

  /** Memory used by the arrays in bytes. */
  get bytes(): number {
    return this.detectors.bytes
  }

  /** False before the first events; until then rows have no baseline. */
  private get hasEvents(): boolean {
    return !Number.isNaN(this.weight)
  }

  /**
   * Returns the start of the silence: the last event, or the end of a later collection gap, in which events may have
   * been missed. Rows after the gap are known, and everything before the gap has been passed to the detector.
   */
  private silenceStart(lastEventAt: Instant | null, gaps: GapRows, at: Instant): Instant | null {
    const gapEnd = gaps.endBefore(at)
    return gapEnd !== null && gapEnd > Math.max(lastEventAt ?? 0, this.knownUntil) ? gapEnd : lastEventAt
  }

  private judgeTicks(counts: RowCounts | null, to: Instant, gaps: GapRows, emit: Emit): void {
    if (!this.hasEvents || to < this.ticksFrom) return
    const after = Math.max(this.position, this.ticksFrom, this.rowStart)
    for (let at = (Math.floor(after / TICK_MS) + 1) * TICK_MS; at <= to; at += TICK_MS) {
      const lastEventAt = counts?.lastEventAt(this.rowStart, at) ?? this.lastEventAt
      const since = this.silenceStart(lastEventAt, gaps, at)
      const score = this.detectors.silenceAt(at, since)
      for (const [place, episode] of this.episodes.entries()) {
        const isSilent = score >= (this.sensitivities[place] ?? 0)
        const { alarm } = episode.judge(at, null, isSilent)
        if (!isSilent && !this.isQuietTick(at, lastEventAt)) continue
        const silence = { ...this.silence(at, since, lastEventAt, score), alarm, row: null, touchesGap: false }
        emit(place, isSilent ? silence : { ...silence, ...QUIET_TICK })
      }
    }
  }

  private isQuietTick(at: Instant, lastEventAt: Instant | null): boolean {
    const { vendor, event } = this.series
    return vendor === null && event === null && lastEventAt !== null && at - lastEventAt >= TICK_MS
  }

  private judgeRow(counts: RowCounts | null, end: Instant, gaps: GapRows, emit: Emit): void {
    const start = this.rowStart
    const [observed, events] = [counts?.weightAt(start) ?? 0, counts?.eventsAt(start) ?? 0]
    const touchesGap = gaps.touches(start)
    this.lastEventAt = counts?.lastEventAt(start, end) ?? this.lastEventAt
    if (!this.hasEvents && events > 0 && !touchesGap) this.weight = observed / events || 1
    if (!this.hasEvents) {
      for (const place of this.episodes.keys()) emit(place, this.unknown(end, observed, touchesGap))
      return
    }
    if (!touchesGap) this.knownUntil = end
    const since = this.silenceStart(this.lastEventAt, gaps, end)
    const count = observed / this.weight
    // Without counts, the row has no events.
    const quietRuns = counts?.quietRunsAt(start) ?? [this.series.stepMs / MINUTE_MS]
    const verdicts = this.detectors.push(start, touchesGap ? null : count, quietRuns)
    const score = this.detectors.silenceAt(end, since)
    this.learningUntil = verdicts[0]?.learningUntil ?? null
    for (const [place, verdict] of verdicts.entries()) {
      const isSilent = score >= (this.sensitivities[place] ?? 0) || (!touchesGap && verdict.state === 'silent')
      const judged = this.episodes[place]?.judge(end, touchesGap ? null : { ...verdict, count }, isSilent)
      const row = this.numbers(observed, verdict)
      const shown = isSilent
        ? this.silence(end, since, this.lastEventAt, Math.max(score, verdict.down))
        : this.calm(end, row, verdict, touchesGap ? null : (judged?.deviation ?? null))
      emit(place, { ...shown, alarm: judged?.alarm ?? false, row, touchesGap })
    }
  }

  private numbers(observed: number, { expected, low, high }: Verdict): RowNumbers {
    return { observed, expected: this.weighted(expected), low: this.weighted(low), high: this.weighted(high) }
  }

  private silence(at: Instant, since: Instant | null, lastEventAt: Instant | null, score: number): Shown {
    const missing = this.detectors.missingAt(at, since)
    return {
      at,
      since: since ?? at,
      state: 'silent',
      learningUntil: this.learningUntil,
      observed: 0,
      expected: this.weighted(missing),
      low: null,
      high: null,
      open: true,
      silentSince: lastEventAt,
      lastEventAt,
      score,
      unlikely: missing / this.detectors.silenceGuard,
    }
  }

  /** `deviation`: the open deviation, which the last row may no longer show. */
  private calm(
    at: Instant,
    row: RowNumbers,
    { learningUntil, anomaly, up, down }: Verdict,
    trouble: 'high' | 'low' | null,
  ): Shown {
    const state = trouble ?? (learningUntil === null ? 'normal' : 'learning')
    const { lastEventAt } = this
    // Sums that still include an ended deviation are ignored.
    const score = anomaly && trouble === null ? 0 : Math.max(up, down)
    return {
      at,
      since: this.rowStart,
      ...row,
      state,
      learningUntil,
      open: trouble !== null,
      silentSince: null,
      lastEventAt,
      score,
      unlikely: 0,
    }
  }

  private unknown(at: Instant, observed: number, touchesGap: boolean): Outcome {
    const row = { observed, expected: null, low: null, high: null }
    return {
      at,
      since: this.rowStart,
      ...row,
      row,
      touchesGap,
      state: 'learning',
      learningUntil: null,
      open: false,
      alarm: false,
      silentSince: null,
      lastEventAt: this.lastEventAt,
      score: 0,
      unlikely: 0,
    }
  }

  /** The detector counts events at the first sampling rate; outcomes use weighted events. */
  private weighted(count: number | null): number | null {
    return count === null ? null : count * this.weight
  }
}

const QUIET_TICK = { state: 'normal', open: false, silentSince: null, unlikely: 0 } as const

type Shown = Omit<Outcome, 'alarm' | 'row' | 'touchesGap'>
