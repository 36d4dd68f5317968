import type { Instant } from '../core/clock.ts'
import type { Span } from './series.ts'
import type { Outcome } from './verdict-row.ts'

/** Eight days of hourly rows. */
const MAX_ROWS = 192
/** Values per row: end, observed, expected, low, high, and whether a gap overlaps the row. Null is stored as NaN. */
const CELLS = 6

/** The most recent rows of one series with their baselines, stored compactly. */
export class RowHistory {
  private readonly cells = new Float64Array(MAX_ROWS * CELLS)
  private next = 0
  private size = 0

  constructor(private readonly stepMs: number) {}

  /** Adds a row; ticks inside rows are ignored. */
  add({ at, row, touchesGap }: Outcome): void {
    if (!row) return
    const orNaN = (value: number | null) => value ?? Number.NaN
    this.cells.set(
      [at, row.observed, orNaN(row.expected), orNaN(row.low), orNaN(row.high), Number(touchesGap)],
      this.next * CELLS,
    )
    this.next = (this.next + 1) % MAX_ROWS
    this.size = Math.min(MAX_ROWS, this.size + 1)
  }

  /** True when all rows that ended after `from` are available. */
  reaches(from: Instant): boolean {
    return this.size > 0 && (this.cells[this.oldest * CELLS] ?? 0) - this.stepMs <= from
  }

  /** Emits the rows that ended in `from < t <= to`, oldest first. Only the fields of the row are set. */
  replay({ from, to }: Span, emit: (outcome: Outcome) => void): void {
    for (let index = 0; index < this.size; index++) {
      const first = ((this.oldest + index) % MAX_ROWS) * CELLS
      const [at = 0, observed = 0, ...others] = this.cells.subarray(first, first + CELLS)
      if (at <= from || at > to) continue
      const [expected = null, low = null, high = null] = others.map((cell) => (Number.isNaN(cell) ? null : cell))
      emit({
        ...BLANK_OUTCOME,
        at,
        since: at - this.stepMs,
        row: { observed, expected, low, high },
        touchesGap: others[3] === 1,
      })
    }
  }

  get bytes(): number {
    return this.cells.byteLength
  }

  private get oldest(): number {
    return (this.next - this.size + MAX_ROWS) % MAX_ROWS
  }
}

const BLANK_OUTCOME: Omit<Outcome, 'at' | 'since' | 'row' | 'touchesGap'> = {
  state: 'normal',
  learningUntil: null,
  observed: 0,
  expected: null,
  low: null,
  high: null,
  open: false,
  alarm: false,
  silentSince: null,
  lastEventAt: null,
  score: 0,
  unlikely: 0,
}
