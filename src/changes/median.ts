/** Returns the median; 0 for no values. */
export function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const half = sorted.length / 2
  if (sorted.length === 0) return 0
  return Number.isInteger(half) ? ((sorted[half - 1] ?? 0) + (sorted[half] ?? 0)) / 2 : (sorted[Math.floor(half)] ?? 0)
}

/** Returns the weighted median; 0 for no values. */
export function weightedMedian(votes: readonly { value: number; weight: number }[]): number {
  const half = votes.reduce((sum, { weight }) => sum + weight, 0) / 2
  let sum = 0
  for (const { value, weight } of votes.toSorted((a, b) => a.value - b.value)) {
    sum += weight
    if (sum >= half) return value
  }
  return 0
}
