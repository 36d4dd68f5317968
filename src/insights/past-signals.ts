import { HOUR_MS, type Instant } from '../core/clock.ts'
import { keptBy } from './kept.ts'
import { type FoundSignal, signalsOf } from './signal-list.ts'

type Parts = Parameters<typeof signalsOf>

/** Relearning what signals knew takes long, and settings change seldom. */
const keptOf = keptBy<Promise<FoundSignal[]>>(100)

/**
 * Returns the signals of these domains that are watched, as they stood at an instant. Of one that is more than an hour ago
 * as it was found up to 10 minutes before. Fails with `unavailable` when the warehouse does.
 */
export function watchedAt(parts: Parts[0], orgId: string, domains: Parts[2], at: Instant): Promise<FoundSignal[]> {
  const findBy = (follower: Parts[0]['follower']) =>
    signalsOf({ ...parts, follower }, orgId, domains, ({ mode }) => mode === 'auto', at)
  const { follower, now } = parts
  if (at > now - HOUR_MS) return findBy(follower)
  const kept = keptOf(follower)
  const key = `${orgId} ${at} ${Bun.hash(domains.map(({ id }) => id).join())}`
  const known = kept.get(key, now)
  if (known) return known
  const signals = findBy(follower.past)
  signals.catch(() => kept.delete(key))
  kept.set(key, signals, now)
  return signals
}
