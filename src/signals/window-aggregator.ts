import type { Instant } from '../core/clock.ts'
import { type Series, type Span, TICK_MS } from './series.ts'
import { LEAD_MS } from './series-tracker-cache.ts'
import type { Outcome } from './verdict-row.ts'

/** The merged outcomes of one series in one window. */
export interface WindowState {
  /** The most significant outcome. */
  outcome: Outcome
  open: boolean
  alarm: boolean
  /** True when a deviation was open and always explained. */
  explained: boolean
}

/** Merges the outcomes of one series, at one sensitivity, by window. Outcomes must be added in chronological order. */
export class WindowAggregator {
  private index = 0
  private state: WindowState | null = null
  /** The last row, for windows in which no row ends. */
  private before: Outcome | null = null

  /**
   * Windows must be in order and must not overlap. `onEnd` is called for each window, with null when its state is
   * unknown. `counts`: returns false for instants to ignore; a deviation that is open after them is reported as new.
   */
  constructor(
    private readonly windows: readonly Span[],
    private readonly series: Pick<Series, 'stepMs'>,
    private readonly counts: (instant: Instant) => boolean,
    private readonly onEnd: (window: number, state: WindowState | null) => void,
  ) {}

  take(outcome: Outcome): void {
    for (let window = this.windows[this.index]; window && outcome.at > window.to; window = this.windows[this.index]) {
      this.end(window)
    }
    const window = this.windows[this.index]
    if (outcome.row) this.before = outcome
    // An outcome is timestamped with the end of its row or tick, whose last instant is earlier.
    if (window && outcome.at > window.from && this.counts(outcome.at - 1)) this.add(outcome)
  }

  /** Ends all windows. To be called after the last outcome. */
  endAll(): void {
    for (let window = this.windows[this.index]; window; window = this.windows[this.index]) this.end(window)
  }

  private add(outcome: Outcome): void {
    const { at, open, row, explained = false } = outcome
    const isFirst = open && !explained && !this.counts(at - 1 - (row ? this.series.stepMs : TICK_MS))
    const before = this.state
    this.state = {
      outcome: before && rankOf(before.outcome) >= rankOf(outcome) ? before.outcome : outcome,
      open: open || before?.open === true,
      alarm: outcome.alarm || isFirst || before?.alarm === true,
      explained: open ? explained && (!before?.open || before.explained) : before?.explained === true,
    }
  }

  private end({ from }: Span): void {
    const { before, state, index } = this
    const isKnown = before !== null && before.at > from - LEAD_MS
    const quiet = isKnown ? { outcome: before, open: false, alarm: false, explained: false } : null
    this.onEnd(index, state ?? quiet)
    this.index += 1
    this.state = null
  }
}

/** Alarms rank above open deviations, which rank above normal rows. Among normal rows, the latest ranks highest. */
function rankOf({ open, alarm, score, touchesGap, at }: Outcome): number {
  if (open) return (alarm ? 2e9 : 1e9) + score
  return touchesGap ? 0 : at / 1e6
}
