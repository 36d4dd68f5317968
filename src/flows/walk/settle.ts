import { setTimeout as sleep } from 'node:timers/promises'
import type { Traffic } from '../../browser/traffic.ts'

/** Silence that ends a step: what a page sends with a delay belongs to the step that made it do so. */
const SILENCE_MS = 500
/** Silence is waited for at most so long: some pages never fall silent. */
const MOST_SILENCE_MS = 3000
const LOOK_EVERY_MS = 25

/**
 * Waits for the tags of a step: until none that is expected is missing, then for silence. Returns the milliseconds.
 * @param patience for how long after the end of the step something is still worth waiting for, in milliseconds; 0: no more
 */
export async function waitForTags(traffic: Traffic, patience: () => number, stopping: AbortSignal): Promise<number> {
  const from = performance.now()
  const waited = () => performance.now() - from
  while (patience() > waited()) await sleep(LOOK_EVERY_MS, null, { signal: stopping })
  await traffic.quiet(SILENCE_MS, MOST_SILENCE_MS, stopping)
  return Math.round(waited())
}
