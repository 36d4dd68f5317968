import { parseArgs } from 'node:util'

/** Arguments of `npm run bench`. Tests that import benchmarks have others, so unknown ones are allowed. */
const { values, positionals } = parseArgs({
  args: process.argv.slice(2),
  options: { tiny: { type: 'boolean' }, minutes: { type: 'string' } },
  allowPositionals: true,
  strict: false,
})

/** Names of the benchmarks to run. Empty: all except those that take very long. */
export const WANTED: readonly string[] = positionals

/** Value of `--minutes`, the length of `soak`; null if it is not given. */
export const MINUTES: number | null = typeof values.minutes === 'string' ? Number(values.minutes) : null

/**
 * `--tiny`: verifies that a benchmark still runs. The benchmark executes the same steps on a minimal amount of data,
 * which takes one or two seconds. Its figures are then meaningless.
 */
export const IS_TINY = values.tiny === true

/** Returns `tiny` with `--tiny`, otherwise `full`. */
export function sized<T>(full: T, tiny: T): T {
  return IS_TINY ? tiny : full
}
