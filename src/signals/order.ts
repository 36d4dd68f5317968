/** Up to so many values are put in order by insertion, which is faster there. */
const FEW = 32

/** Puts the first `size` values in rising order, in place. They may not be NaN. */
export function sortFirst(values: Float64Array, size: number): void {
  if (size > FEW) {
    values.subarray(0, size).sort()
    return
  }
  for (let at = 1; at < size; at++) {
    const value = values[at] ?? 0
    let hole = at
    for (; hole > 0 && (values[hole - 1] ?? 0) > value; hole--) values[hole] = values[hole - 1] ?? 0
    values[hole] = value
  }
}

/** The value below which the share `q` of the first `size` lies; they must be in order. NaN of none. */
export function quantileOf(sorted: Float64Array, size: number, q: number): number {
  return sorted[Math.floor(q * (size - 1))] ?? Number.NaN
}

/** The median of the first `size` values, which are put in order. NaN of none. */
export function medianOf(values: Float64Array, size: number): number {
  if (size === 0) return Number.NaN
  sortFirst(values, size)
  return ((values[(size - 1) >> 1] ?? 0) + (values[size >> 1] ?? 0)) / 2
}

/** Replaces the first `size` values by their distances from their median. */
export function centre(values: Float64Array, size: number): void {
  const middle = medianOf(values, size)
  for (let at = 0; at < size; at++) values[at] = Math.abs((values[at] ?? 0) - middle)
}
