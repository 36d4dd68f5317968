/**
 * The root that makes counts comparable at every height: a Poisson count has a variance of about 1 in it
 * (Anscombe 1948, https://doi.org/10.1093/biomet/35.3-4.246). What is below zero counts as zero.
 */
export function rootOf(count: number): number {
  return 2 * Math.sqrt(Math.max(count, 0) + 0.375)
}

/** The count that has this root, at least 0. */
export function countOf(root: number): number {
  return root > 0 ? Math.max(0, (root * root) / 4 - 0.375) : 0
}
