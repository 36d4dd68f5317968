import type { Instant } from '../core/clock.ts'
import { HOUR_MS } from '../core/clock.ts'
import { Alarm, type Judgement } from './alarm.ts'
import { type Reading, RowStatistics, type SeriesShape } from './series-statistics.ts'

/** The state of a series at the end of a row. */
export type SeriesState = 'learning' | 'normal' | 'high' | 'low' | 'silent'

/** The verdict on a row, at one sensitivity. */
export interface Verdict {
  /** The baseline as a count; null until the second row. */
  expected: number | null
  /** The band: counts that are not an anomaly, inclusive. Null while unknown. */
  low: number | null
  high: number | null
  /** Deviations above and below the baseline, k; at least 0. */
  up: number
  down: number
  /** At least the sensitivity if and only if `alarm` is true. */
  score: number
  /** True for each row that deviates by at least the sensitivity. */
  anomaly: boolean
  /**
   * True if and only if a new alarm is raised: no alarm in the same direction was raised in the last 12 hours, or a
   * burst has become 2 k worse.
   */
  alarm: boolean
  /** True from an alarm until two rows are within half the sensitivity. */
  open: boolean
  /** A row in state `learning` is not an anomaly. Bursts and silences can already be detected before learning ends. */
  state: SeriesState
  /** Estimated time at which the season of the series will be known; null when it is known. */
  learningUntil: Instant | null
}

/** Evaluates each row of a count series against the preceding rows, at several sensitivities in one pass. */
export class DetectorSet {
  private readonly measure: RowStatistics
  private readonly alarms: readonly Alarm[]

  /** Sensitivities: deviations from the baseline, 2 (most sensitive) to 8. */
  constructor(shape: SeriesShape & { sensitivities: readonly number[] }) {
    this.measure = new RowStatistics(shape)
    this.alarms = shape.sensitivities.map((sensitivity) => new Alarm(sensitivity))
  }

  /**
   * Returns the verdicts in the order of the sensitivities. `t` is the start of the row. Rows must be passed in
   * chronological order; a missing or null row is unknown, not zero. `quietRuns` as for `RowStatistics.take`.
   */
  push(t: Instant, value: number | null, quietRuns: readonly number[] | null = null): Verdict[] {
    const row = this.measure.take(t, value, quietRuns)
    const learningUntil = this.measure.learningUntil(t)
    return this.alarms.map((alarm) =>
      row ? this.verdictOf(row, alarm, learningUntil) : this.unknown(t, alarm, learningUntil),
    )
  }

  /** Like `RowStatistics.silenceAt`. */
  silenceAt(now: Instant, lastEventAt: Instant | null = null): number {
    return this.measure.silenceAt(now, lastEventAt)
  }

  /** Like `RowStatistics.missingAt`. */
  missingAt(now: Instant, lastEventAt: Instant | null): number {
    return this.measure.missingAt(now, lastEventAt)
  }

  /** Like `RowStatistics.silenceGuard`. */
  get silenceGuard(): number {
    return this.measure.silenceGuard
  }

  /** Returns the baseline for a row that starts at `t`; null while unknown. */
  expectedAt(t: Instant): number | null {
    return orNull(this.measure.expectedAt(t))
  }

  /** Memory used by the arrays in bytes: 42 kB for hourly rows, 160 kB for rows of 5 minutes. */
  get bytes(): number {
    return this.measure.bytes
  }

  private verdictOf(row: Reading, alarm: Alarm, learningUntil: Instant | null): Verdict {
    const { silent, ...judgement } = alarm.judge(row)
    const { low, high } = this.bandOf(row, alarm)
    const expected = orNull(this.measure.expectedOf(row))
    return { expected, low, high, ...judgement, state: stateOf(judgement, silent, learningUntil), learningUntil }
  }

  private bandOf(row: Reading, alarm: Alarm): { low: number | null; high: number | null } {
    const band = alarm.band(row)
    if (row.scale?.regular) return { low: band?.low ?? null, high: band?.high ?? null }
    return { low: band?.low ?? null, high: orNull(this.measure.burstFrom(alarm.sensitivity, row)) }
  }

  private unknown(t: Instant, { open }: Alarm, learningUntil: Instant | null): Verdict {
    return {
      expected: orNull(this.measure.expectedAt(t)),
      low: null,
      high: null,
      up: 0,
      down: 0,
      score: 0,
      anomaly: false,
      alarm: false,
      open,
      state: learningUntil === null ? 'normal' : 'learning',
      learningUntil,
    }
  }
}

/** Evaluates each row of a count series against the preceding rows. */
export class Detector {
  private readonly set: DetectorSet

  /** Parameters as for `DetectorSet`. */
  constructor({ sensitivity, ...shape }: SeriesShape & { sensitivity: number }) {
    this.set = new DetectorSet({ ...shape, sensitivities: [sensitivity] })
  }

  /** Like `DetectorSet.push`. */
  push(t: Instant, value: number | null): Verdict {
    const [verdict] = this.set.push(t, value)
    if (!verdict) throw new Error('a detector set returns one verdict per sensitivity')
    return verdict
  }

  /** Like `RowStatistics.silenceAt`. */
  silenceAt(now: Instant, lastEventAt: Instant | null = null): number {
    return this.set.silenceAt(now, lastEventAt)
  }

  /** Memory used by the arrays in bytes. */
  get bytes(): number {
    return this.set.bytes
  }
}

function stateOf(judgement: Omit<Judgement, 'silent'>, silent: boolean, learningUntil: Instant | null): SeriesState {
  if (!judgement.anomaly) return learningUntil === null ? 'normal' : 'learning'
  if (silent) return 'silent'
  return judgement.up >= judgement.down ? 'high' : 'low'
}

const orNull = (value: number) => (Number.isNaN(value) ? null : value)

/** Maximum number of differences from which the step is computed. */
const MAX_DIFFERENCES = 48

/**
 * Evaluates a series with an unknown step. The step is the median of the differences between the rows so far, at most
 * the first 48. When a row changes the step, earlier rows are re-evaluated, so that a verdict never depends on later
 * rows.
 */
export class InferredStepDetector {
  private readonly rows: { t: Instant; value: number | null }[] = []
  private readonly differences: number[] = []
  private stepMs = HOUR_MS
  private detector: Detector

  constructor(private readonly shape: { sensitivity: number; timezone?: string }) {
    this.detector = new Detector({ ...shape, stepMs: this.stepMs })
  }

  /** Like `Detector.push`. */
  push(t: Instant, value: number | null): Verdict {
    if (this.differences.length < MAX_DIFFERENCES) this.adapt(t, value)
    return this.detector.push(t, value)
  }

  private adapt(t: Instant, value: number | null): void {
    const before = this.rows.at(-1)
    if (before) this.differences.push(t - before.t)
    const stepMs = this.differences.toSorted((a, b) => a - b)[(this.differences.length - 1) >> 1] ?? HOUR_MS
    if (stepMs !== this.stepMs && stepMs > 0) {
      this.stepMs = stepMs
      this.detector = new Detector({ ...this.shape, stepMs })
      for (const row of this.rows) this.detector.push(row.t, row.value)
    }
    this.rows.push({ t, value })
  }
}
