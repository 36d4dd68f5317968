import { type Clock, SECOND_MS, waitUntil } from '../../../core/clock.ts'
import { AppError } from '../../../core/error.ts'
import type { Stage } from './progress.ts'

/** Whoever asks waits so long; what they wait for goes on. */
export const MAX_WAIT_MS = 50 * SECOND_MS

/** Settles as `work` does, or fails with `late` after 50 s, or when whoever waits has left. */
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
/** Lists, and deployments, of one integration at one time. */
const MOST_UNDER_WAY = 10

/** Fails with `unavailable` while an integration has as much under way as it may; `underWay` by its id, a blank, and what it is. */
export function refuseWhenBusy(underWay: ReadonlyMap<string, unknown>, integrationId: string | null): void {
  const own = [...underWay.keys()].filter((key) => key.startsWith(`${integrationId} `))
  if (own.length < MOST_UNDER_WAY) return
  throw new AppError('unavailable', `${MOST_UNDER_WAY} others wait for Tag Manager already`, LATEST_S)
}

/** Whoever asks again waits again, so this need not be exact. */
export function retryAfterS({ waitsUntil }: Stage, clock: Clock): number {
  const restS = waitsUntil === null ? SOON_S : Math.ceil((waitsUntil - clock.now()) / SECOND_MS)
  return Math.min(Math.max(restS, 1), LATEST_S)
}
