import { type Instant, MINUTE_MS } from '../core/clock.ts'

const KEPT_MS = 10 * MINUTE_MS

/** Caches results of history queries for 10 minutes. Above `most` entries, the oldest are dropped. */
export class TtlCache<T> {
  private readonly found = new Map<string, { at: Instant; value: T }>()

  constructor(private readonly most: number) {}

  /** Returns the cached result; undefined without a result from the last 10 minutes. */
  get(key: string, now: Instant): T | undefined {
    const known = this.found.get(key)
    // An entry's time is in the future when the clock has been set back since it was stored.
    return known && known.at <= now && now < known.at + KEPT_MS ? known.value : undefined
  }

  set(key: string, value: T, now: Instant): void {
    this.found.delete(key)
    this.found.set(key, { at: now, value })
    for (const oldest of this.found.keys()) {
      if (this.found.size <= this.most) break
      this.found.delete(oldest)
    }
  }

  delete(key: string): void {
    this.found.delete(key)
  }
}

/** Returns a function that returns the cache of an owner. The cache exists as long as its owner. */
export function cachePerOwner<T>(most: number): (owner: object) => TtlCache<T> {
  const all = new WeakMap<object, TtlCache<T>>()
  return (owner) => {
    const kept = all.get(owner) ?? new TtlCache<T>(most)
    all.set(owner, kept)
    return kept
  }
}

/** Maximum relative change of a count for which a cached result remains valid. */
const ALIKE = 0.01

/** Returns whether a count is within 1 % of an earlier one. */
export const isSimilarCount = (before: number, now: number) => Math.abs(now - before) <= ALIKE * before
