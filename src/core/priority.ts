import { writeFileSync } from 'node:fs'
import { setPriority } from 'node:os'

/** The lowest there is: what people wait for comes first. */
const NICENESS = 19

/**
 * Gives this process, and what it starts from now on, a low priority. Kernels that share the processor by session (sched(7),
 * "The autogroup feature") weigh sessions by a priority of their own, which is lowered as well where there is one.
 */
export function lowerPriority(): void {
  setPriority(NICENESS)
  try {
    writeFileSync('/proc/self/autogroup', String(NICENESS))
  } catch {
    // Not every kernel has it, and not every container may write it.
  }
}
