/**
 * `--tiny`: verifies that a bench still runs. It executes the same steps on a minimal amount of data, which takes one
 * or two seconds. The figures are then meaningless.
 */
export const IS_TINY = process.argv.includes('--tiny')

/** Returns the full size, or the tiny one with `--tiny`. */
export function sized<T>(full: T, tiny: T): T {
  return IS_TINY ? tiny : full
}
