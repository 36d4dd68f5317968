import { HOUR_MS, type Instant } from '../core/clock.ts'
import { RowLog } from './row-log.ts'
import { type Block, nameOf, rowStart, type Series, type Span } from './series.ts'
import { type Emit, Tracker } from './tracker.ts'
import type { Outcome } from './verdict-row.ts'

/** What was said lately is kept, so that whoever asks again, or how things stand, is answered from memory. */
const KEPT_MS = 10 * HOUR_MS
/** What is said of a window takes this time before it into account. */
export const LEAD_MS = 7 * HOUR_MS
/** Who was not asked for in so long is forgotten. */
const IDLE_MS = HOUR_MS
const MOST_KEPT = 1000
/** What a tracker takes beside the arrays that it counts, and each of the things that it said. */
const OVERHEAD_BYTES = 5000
const OUTCOME_BYTES = 350

/** A tracker, and what it said lately. */
export class Remembered {
  private outcomes: { place: number; outcome: Outcome }[] = []
  /** Where there is but one sensitivity: for charts, which reach further back. */
  private readonly log: RowLog | null
  /** Of what ended later, everything is known. */
  private knownFrom: Instant

  private constructor(readonly tracker: Tracker) {
    this.knownFrom = tracker.block.from - 1
    this.log = tracker.sensitivities.length === 1 ? new RowLog(tracker.series.stepMs) : null
  }

  /** A new one that has everything to learn; it will know what ends after `from`, and some time before. */
  static from(series: Series, block: Block, sensitivities: readonly number[], from: Instant): Remembered {
    const knownFrom = Math.max(block.from - 1, rowStart(series, from) - KEPT_MS)
    const remembered = new Remembered(new Tracker(series, block, sensitivities, knownFrom))
    remembered.knownFrom = knownFrom
    return remembered
  }

  /** True when it can say how everything stood that ended after `from`. */
  knows(from: Instant): boolean {
    return this.knownFrom <= from
  }

  /** True when it can say at least what the rows were that ended after `from`, and how everything stood at `to`. */
  recalls({ from, to }: Span): boolean {
    return this.log?.reaches(from) === true && to > this.knownFrom + this.tracker.series.stepMs
  }

  /** Tells what it said before of what ended in `from < t <= to`; of what it does not know whole, the rows. */
  repeat({ from, to }: Span, emit: Emit): void {
    this.log?.repeat({ from, to: Math.min(to, this.knownFrom) }, (outcome) => emit(0, outcome))
    for (const { place, outcome } of this.outcomes) if (outcome.at <= to) emit(place, outcome)
  }

  /** Takes note of an outcome of the tracker. False when it isn't to be told: it belongs to the block before. */
  note(place: number, outcome: Outcome): boolean {
    this.log?.add(outcome)
    if (outcome.at <= this.knownFrom) return false
    this.outcomes.push({ place, outcome })
    if (this.outcomes.length >= MOST_KEPT) this.trim()
    return true
  }

  /** Forgets what is no longer to be repeated. */
  trim(): void {
    const from = this.tracker.position - KEPT_MS
    if (from <= this.knownFrom) return
    this.knownFrom = from
    this.outcomes = this.outcomes.filter(({ outcome }) => outcome.at > from)
  }

  get bytes(): number {
    return this.tracker.bytes + (this.log?.bytes ?? 0) + OVERHEAD_BYTES + this.outcomes.length * OUTCOME_BYTES
  }
}

/** Two that are equal are followed alike, by one tracker in each block. */
export function keyOf(series: Series, sensitivities: readonly number[]): string {
  const { stepMs, offsetMs = 0, timezone } = series
  return `${nameOf(series)} ${stepMs} ${offsetMs} ${timezone} ${sensitivities}`
}

const placeOf = (key: string, { from }: Pick<Block, 'from'>) => `${key} ${from}`

/** The trackers that are kept in memory, so many that they fit. */
export class TrackerMemory {
  private readonly entries = new Map<string, { remembered: Remembered; bytes: number; usedAt: Instant }>()
  private used = 0
  private cleanedAt = Number.NEGATIVE_INFINITY

  constructor(private readonly maxBytes: number) {}

  get bytes(): number {
    return this.used
  }

  find(key: string, block: Block): Remembered | null {
    return this.entries.get(placeOf(key, block))?.remembered ?? null
  }

  /** Keeps it for the next time, if there is room beside those that were asked for lately. `at`: up to when it was asked. */
  keep(key: string, remembered: Remembered, at: Instant): void {
    const { tracker } = remembered
    const place = placeOf(key, tracker.block)
    const before = this.entries.get(place)
    if (before && before.remembered.tracker.position > tracker.position) return
    this.drop(place)
    if (at >= this.cleanedAt + IDLE_MS) this.dropIdle(at)
    remembered.trim()
    const { bytes } = remembered
    if (this.used + bytes > this.maxBytes) return
    this.entries.set(place, { remembered, bytes, usedAt: at })
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
