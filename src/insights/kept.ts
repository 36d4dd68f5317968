import { type Instant, MINUTE_MS } from '../core/clock.ts'

const KEPT_MS = 10 * MINUTE_MS

/** Caches answers of the history for 10 minutes, by query. When there are more than `most`, the oldest are dropped. */
export class Kept<T> {
  private readonly found = new Map<string, { at: Instant; value: T }>()

  constructor(private readonly most: number) {}

  /** Returns the cached answer; undefined when there is none within 10 minutes. */
  get(key: string, now: Instant): T | undefined {
    const known = this.found.get(key)
    // Times in the future are from before the clock was set back.
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

/** Returns a function that returns one cache for each owner, for as long as the owner exists. */
export function keptBy<T>(most: number): (owner: object) => Kept<T> {
  const all = new WeakMap<object, Kept<T>>()
  return (owner) => {
    const kept = all.get(owner) ?? new Kept<T>(most)
    all.set(owner, kept)
    return kept
  }
}

/** Maximum relative change of a count for which a cached answer stays valid: 1 %. */
const ALIKE = 0.01

/** Returns whether a count is about the same as before. */
export const isAlike = (before: number, now: number) => Math.abs(now - before) <= ALIKE * before
