import { HOUR_MS, type Instant, MINUTE_MS } from '../core/clock.ts'
import type { Follower } from '../signals/follower.ts'
import { type FoundSignal, signalsOf } from './signal-list.ts'

/** How long an answer about the past is kept: relearning what signals knew then takes long, and settings change seldom. */
const KEPT_MS = 10 * MINUTE_MS
const MAX_KEPT = 100

interface Kept {
  at: Instant
  signals: Promise<FoundSignal[]>
}

type Parts = Parameters<typeof signalsOf>
const keptOf = new WeakMap<Pick<Follower, 'signals'>, Map<string, Kept>>()

/**
 * Returns the signals of these domains that are watched, as they stood at an instant. Of one that is more than an hour ago
 * as it was found up to 10 minutes before. Fails with `unavailable` when the warehouse does.
 */
export function watchedAt(parts: Parts[0], orgId: string, domains: Parts[2], at: Instant): Promise<FoundSignal[]> {
  const findBy = (follower: Parts[0]['follower']) =>
    signalsOf({ ...parts, follower }, orgId, domains, ({ mode }) => mode === 'auto', at)
  const { follower, now } = parts
  if (at > now - HOUR_MS) return findBy(follower)
  const kept = keptOf.get(follower) ?? new Map<string, Kept>()
  keptOf.set(follower, kept)
  const key = `${orgId} ${at} ${Bun.hash(domains.map(({ id }) => id).join())}`
  const known = kept.get(key)
  // Times to come are from before the clock was put back.
  if (known && known.at <= now && now < known.at + KEPT_MS) return known.signals
  const signals = findBy(follower.past)
  signals.catch(() => kept.delete(key))
  kept.delete(key)
  kept.set(key, { at: now, signals })
  for (const oldest of kept.keys()) {
    if (kept.size <= MAX_KEPT) break
    kept.delete(oldest)
  }
  return signals
}
