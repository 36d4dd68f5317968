import type { Instant } from '../../core/clock.ts'

/** Maximum number of destinations in `lastAt`. Beyond this, the least recently used one is removed. */
const MAX_DESTINATIONS = 10_000

const lastAt = new Map<string, Instant>()

/**
 * Reserves a destination's next posting slot. Returns 0 if the slot was reserved, otherwise the time in ms until one is
 * free. Slots are not preserved across restarts, where the product's own rate limit applies.
 * @param intervalMs Minimum interval between two posts to the destination.
 */
export function reserveSlot(destination: string, now: Instant, intervalMs: number): number {
  const last = lastAt.get(destination)
  // A time in the future means that the clock was set back.
  const waitMs = last === undefined || last > now ? 0 : last + intervalMs - now
  if (waitMs > 0) return waitMs
  lastAt.delete(destination)
  lastAt.set(destination, now)
  const [oldest] = lastAt.size > MAX_DESTINATIONS ? lastAt.keys() : []
  if (oldest !== undefined) lastAt.delete(oldest)
  return 0
}
