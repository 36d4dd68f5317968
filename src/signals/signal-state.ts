import type { Instant } from '../core/clock.ts'
import type { Signal } from './signal.ts'
import { isLull, type Outcome } from './verdict-row.ts'

/** The state of a series, from its outcomes in the order of time. */
export class SignalState {
  private lastRow: Outcome | null = null
  private last: Outcome | null = null

  take(outcome: Outcome): void {
    if (isLull(outcome)) return
    if (outcome.row) this.lastRow = outcome
    this.last = outcome
  }

  /** Returns the state at the end of a tick; ticks inside a row have outcomes only in a silence. */
  at(tick: Instant): Pick<Signal, 'learningUntil' | 'observed' | 'expected' | 'silentSince'> & {
    state: NonNullable<Signal['state']>
  } {
    const outcome = this.last?.at === tick ? this.last : this.lastRow
    const { observed = null, expected = null } = this.lastRow?.row ?? {}
    const { learningUntil = null, silentSince = null } = outcome ?? {}
    return { state: this.stateOf(outcome), learningUntil, observed, expected, silentSince }
  }

  private stateOf(outcome: Outcome | null): NonNullable<Signal['state']> {
    return outcome?.state ?? 'learning'
  }
}
