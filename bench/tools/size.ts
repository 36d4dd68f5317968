/**
 * `--tiny`: a bench does all that it does for its figures, on so little that it takes a second or two, to show that it still
 * runs. Its figures then say nothing.
 */
export const IS_TINY = process.argv.includes('--tiny')

/** Returns the size for figures, or the tiny one. */
export function sized<T>(full: T, tiny: T): T {
  return IS_TINY ? tiny : full
}
