/** Maximum number of values sorted by insertion, which is faster for few values. */
const INSERTION_SORT_MAX = 32

/**
 * Returns the `q` quantile of the first `size` values; NaN when there are none. Reorders the values, which must not be
 * NaN.
 */
export function quantileOf(values: Float64Array, size: number, q: number): number {
  if (size === 0) return Number.NaN
  return select(values, size, Math.floor(q * (size - 1)))
}

/**
 * Returns the median of the first `size` values; NaN when there are none. Reorders the values, which must not be NaN.
 */
export function medianOf(values: Float64Array, size: number): number {
  if (size === 0) return Number.NaN
  const upper = size >> 1
  const high = select(values, size, upper)
  if (size % 2 === 1) return high
  let low = Number.NEGATIVE_INFINITY
  // `select` leaves no value before `upper` that is larger than it.
  for (let at = 0; at < upper; at++) low = Math.max(low, values[at] ?? 0)
  return (low + high) / 2
}

/** Replaces the first `size` values with their distances from their median. */
export function toDistances(values: Float64Array, size: number): void {
  const middle = medianOf(values, size)
  for (let at = 0; at < size; at++) values[at] = Math.abs((values[at] ?? 0) - middle)
}

/**
 * Returns the value that would be at `place` in sorted order, and leaves no larger value before `place` (Hoare's Find,
 * https://doi.org/10.1145/366622.366647). Several times faster than sorting.
 */
function select(values: Float64Array, size: number, place: number): number {
  let first = 0
  let last = size - 1
  while (last - first >= INSERTION_SORT_MAX) {
    const pivot = middleOf(values[first] ?? 0, values[(first + last) >> 1] ?? 0, values[last] ?? 0)
    let low = first
    let high = last
    while (low <= high) {
      while ((values[low] ?? 0) < pivot) low++
      while ((values[high] ?? 0) > pivot) high--
      if (low > high) break
      const value = values[low] ?? 0
      values[low++] = values[high] ?? 0
      values[high--] = value
    }
    if (place <= high) last = high
    else if (place >= low) first = low
    else return pivot
  }
  insert(values, first, last)
  return values[place] ?? Number.NaN
}

const middleOf = (a: number, b: number, c: number) => Math.max(Math.min(a, b), Math.min(Math.max(a, b), c))

/** Sorts the values from `first` to `last` in ascending order. */
function insert(values: Float64Array, first: number, last: number): void {
  for (let at = first + 1; at <= last; at++) {
    const value = values[at] ?? 0
    let hole = at
    for (; hole > first && (values[hole - 1] ?? 0) > value; hole--) values[hole] = values[hole - 1] ?? 0
    values[hole] = value
  }
}
