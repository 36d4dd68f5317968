/**
 * Anscombe transform: returns a root of the count whose variance is about 1 for Poisson counts of any size (Anscombe
 * 1948, https://doi.org/10.1093/biomet/35.3-4.246). Negative counts are treated as 0.
 */
export function anscombe(count: number): number {
  return 2 * Math.sqrt(Math.max(count, 0) + 0.375)
}

/** Returns the count that corresponds to a root, at least 0. */
export function inverseAnscombe(root: number): number {
  return root > 0 ? Math.max(0, (root * root) / 4 - 0.375) : 0
}
