import type { Instant } from '../core/clock.ts'
import type { Span } from './series.ts'
import type { Outcome } from './verdict-row.ts'

/** Eight days of hours. */
const ROWS = 192
/** End, observed, expected, low, high, and whether a gap lies in it; null as NaN. */
const CELLS = 6

/** The last rows of one series and what was expected of them, in little memory. */
export class RowLog {
  private readonly cells = new Float64Array(ROWS * CELLS)
  private next = 0
  private size = 0

  constructor(private readonly stepMs: number) {}

  /** Ticks within rows are passed over. */
  add({ at, row, isHurt }: Outcome): void {
    if (!row) return
    const orNaN = (value: number | null) => value ?? Number.NaN
    this.cells.set(
      [at, row.observed, orNaN(row.expected), orNaN(row.low), orNaN(row.high), Number(isHurt)],
      this.next * CELLS,
    )
    this.next = (this.next + 1) % ROWS
    this.size = Math.min(ROWS, this.size + 1)
  }

  /** True when it has every row that ended after `from`. */
  reaches(from: Instant): boolean {
    return this.size > 0 && (this.cells[this.oldest * CELLS] ?? 0) - this.stepMs <= from
  }

  /** Rows that ended in `from < t <= to`, oldest first. Of each only the row is told. */
  repeat({ from, to }: Span, tell: (outcome: Outcome) => void): void {
    for (let index = 0; index < this.size; index++) {
      const first = ((this.oldest + index) % ROWS) * CELLS
      const [at = 0, observed = 0, ...others] = this.cells.subarray(first, first + CELLS)
      if (at <= from || at > to) continue
      const [expected = null, low = null, high = null] = others.map((cell) => (Number.isNaN(cell) ? null : cell))
      tell({ ...BLANK, at, since: at - this.stepMs, row: { observed, expected, low, high }, isHurt: others[3] === 1 })
    }
  }

  get bytes(): number {
    return this.cells.byteLength
  }

  private get oldest(): number {
    return (this.next - this.size + ROWS) % ROWS
  }
}

const BLANK: Omit<Outcome, 'at' | 'since' | 'row' | 'isHurt'> = {
  ...{ state: 'normal', learningUntil: null, observed: 0, expected: null, low: null, high: null, open: false },
  ...{ alarm: false, silentSince: null, lastEventAt: null, score: 0, unlikely: 0 },
}
