/**
 * `--tiny`: verifies that a benchmark still runs. The benchmark executes the same steps on a minimal amount of data,
 * which takes one or two seconds. Its figures are then meaningless.
 */
export const IS_TINY = process.argv.includes('--tiny')

/** Returns `tiny` with `--tiny`, otherwise `full`. */
export function sized<T>(full: T, tiny: T): T {
  return IS_TINY ? tiny : full
}
