import { px } from './scales.ts'

/** A holiday or a maintenance window, as in the API. Times are in milliseconds since the epoch. */
export interface SpecialPeriod {
  kind: 'holiday' | 'maintenance'
  name: string
  from: number
  to: number
}

/** A band behind the counts, in pixels. */
export interface SpecialBand {
  kind: SpecialPeriod['kind']
  x: number
  width: number
  /** Null if there is no room for the name. */
  label: string | null
}

interface Plot {
  /** Times at the edges of the plot. */
  from: number
  to: number
  /** Edges of the plot in pixels. */
  left: number
  right: number
  x(at: number): number
}

const PX_A_LETTER = 6.4
const PADDING_PX = 8
/** Shorter names are not worth showing. */
const MIN_LETTERS = 6
const MIN_WIDTH_PX = 2

/** Places the bands of the periods that overlap the plot, in order. Names are cut to the room up to the next band. */
export function layOutSpecial(periods: readonly SpecialPeriod[], { from, to, left, right, x }: Plot): SpecialBand[] {
  const shown = periods.filter((period) => period.to > from && period.from < to).sort((a, b) => a.from - b.from)
  let taken = left
  return shown.map(({ kind, name, ...period }, index) => {
    const start = Math.max(left, x(period.from))
    const end = Math.min(right, x(period.to))
    const next = shown[index + 1]
    const room = Math.min(right, next ? Math.max(start, x(next.from)) : right) - start
    const letters = start < taken ? 0 : Math.floor((room - PADDING_PX) / PX_A_LETTER)
    const label = cut(name, letters)
    if (label !== null) taken = start + label.length * PX_A_LETTER + PADDING_PX
    return { kind, x: px(start), width: px(Math.max(MIN_WIDTH_PX, end - start)), label }
  })
}

function cut(name: string, letters: number): string | null {
  if (name.length <= letters) return name
  return letters < MIN_LETTERS ? null : `${name.slice(0, letters - 1).trimEnd()}…`
}

/** Returns the periods that overlap a bucket. */
export const specialIn = (periods: readonly SpecialPeriod[], start: number, step: number): SpecialPeriod[] =>
  periods.filter(({ from, to }) => to > start && from < start + step)
