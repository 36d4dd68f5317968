import { type Clock, SECOND_MS, waitUntil } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import type { Stage } from './progress.ts'

/** Maximum time that a caller waits. The work continues afterwards. */
export const MAX_WAIT_MS = 50 * SECOND_MS

/** Resolves or fails as `work` does. Fails with `late()` after 50 s or when the caller disconnects. */
export async function withWaitLimit<R>(
  work: Promise<R>,
  { clock, left, late }: { clock: Clock; left: AbortSignal; late: () => AppError },
): Promise<R> {
  const over = new AbortController()
  const tooLong = waitUntil(clock, clock.now() + MAX_WAIT_MS, AbortSignal.any([left, over.signal])).then(() => {
    throw late()
  })
  try {
    return await Promise.race([work, tooLong])
  } catch (error) {
    throw left.aborted ? late() : error
  } finally {
    over.abort()
    tooLong.catch(() => undefined)
  }
}

const SOON_S = 5
const LATEST_S = 100
/** Maximum number of concurrent list requests, and of concurrent deployments, per integration. */
const MAX_RUNNING = 10

/**
 * Fails with `unavailable` if too many operations are running for an integration. Keys of `running` begin with the
 * integration id and a space.
 */
export function refuseWhenBusy(running: ReadonlyMap<string, unknown>, integrationId: string | null): void {
  const own = [...running.keys()].filter((key) => key.startsWith(`${integrationId} `))
  if (own.length < MAX_RUNNING) return
  throw new AppError('unavailable', `${MAX_RUNNING} other requests are already waiting for Tag Manager`, LATEST_S)
}

/** Value for `Retry-After` in seconds. It is an estimate, because a repeated request waits again. */
export function retryAfterS({ waitsUntil }: Stage, clock: Clock): number {
  const restS = waitsUntil === null ? SOON_S : Math.ceil((waitsUntil - clock.now()) / SECOND_MS)
  return Math.min(Math.max(restS, 1), LATEST_S)
}
