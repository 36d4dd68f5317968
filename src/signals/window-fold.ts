import type { Instant } from '../core/clock.ts'
import { type Series, type Span, TICK_MS } from './series.ts'
import { LEAD_MS } from './tracker-memory.ts'
import type { Outcome } from './verdict-row.ts'

/** What the outcomes of one series come to in one window. */
export interface WindowState {
  /** The one that says most. */
  outcome: Outcome
  open: boolean
  alarm: boolean
  /** True when it was open, and explained wherever it was. */
  explained: boolean
}

/** Sums outcomes of one series, at one sensitivity, up by the window. They come in the order of time. */
export class WindowFold {
  private index = 0
  private state: WindowState | null = null
  /** The last row, for windows in which none ends. */
  private before: Outcome | null = null

  /**
   * Windows are in order and don't overlap. `ended` is told of each, with null where nothing is known. `counts`: false for
   * instants that are left out; what goes on when they end is new to whoever did not look before.
   */
  constructor(
    private readonly windows: readonly Span[],
    private readonly series: Pick<Series, 'stepMs'>,
    private readonly counts: (instant: Instant) => boolean,
    private readonly ended: (window: number, state: WindowState | null) => void,
  ) {}

  take(outcome: Outcome): void {
    for (let window = this.windows[this.index]; window && outcome.at > window.to; window = this.windows[this.index]) {
      this.end(window)
    }
    const window = this.windows[this.index]
    if (outcome.row) this.before = outcome
    // An instant is the end of something, which came before it.
    if (window && outcome.at > window.from && this.counts(outcome.at - 1)) this.add(outcome)
  }

  /** There is nothing more. */
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
    this.ended(index, state ?? quiet)
    this.index += 1
    this.state = null
  }
}

/** An alarm says more than what goes on, and that more than what is usual, of which the last says most. */
function rankOf({ open, alarm, score, isHurt, at }: Outcome): number {
  if (open) return (alarm ? 2e9 : 1e9) + score
  return isHurt ? 0 : at / 1e6
}
