import { type Instant, MINUTE_MS } from '../core/clock.ts'

const KEPT_MS = 10 * MINUTE_MS

/** Caches query results of the history for 10 minutes. Above `most` entries, the oldest are dropped. */
export class TtlCache<T> {
  private readonly found = new Map<string, { at: Instant; value: T }>()

  constructor(private readonly most: number) {}

  /** Returns the cached result; undefined when there is none from the last 10 minutes. */
  get(key: string, now: Instant): T | undefined {
    const known = this.found.get(key)
    // An entry has a future time when the clock was set back after it was stored.
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

/** Returns a function that provides one cache per owner. The cache exists as long as its owner. */
export function cachePerOwner<T>(most: number): (owner: object) => TtlCache<T> {
  const all = new WeakMap<object, TtlCache<T>>()
  return (owner) => {
    const kept = all.get(owner) ?? new TtlCache<T>(most)
    all.set(owner, kept)
    return kept
  }
}

/** Maximum relative change of a count for which a cached result remains valid: 1 %. */
const ALIKE = 0.01

/** Returns whether a count is about the same as before, within 1 %. */
export const isSimilarCount = (before: number, now: number) => Math.abs(now - before) <= ALIKE * before
