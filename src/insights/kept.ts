import { type Instant, MINUTE_MS } from '../core/clock.ts'

const KEPT_MS = 10 * MINUTE_MS

/** What the history said, by what it was asked, for 10 minutes. Of more than `most` the ones that were found first go. */
export class Kept<T> {
  private readonly found = new Map<string, { at: Instant; value: T }>()

  constructor(private readonly most: number) {}

  /** Returns what was found; undefined when nothing was within 10 minutes. */
  get(key: string, now: Instant): T | undefined {
    const known = this.found.get(key)
    // Times to come are from before the clock was put back.
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

/** Returns a function that has one `RecoveredSegment` for each owner, for as long as that is there. */
export function keptBy<T>(most: number): (owner: object) => Kept<T> {
  const all = new WeakMap<object, Kept<T>>()
  return (owner) => {
    const kept = all.get(owner) ?? new Kept<T>(most)
    all.set(owner, kept)
    return kept
  }
}

/** The most by which a count may have grown or shrunk for what was found beside it to hold: 1 %. */
const ALIKE = 0.01

/** True when a count is about what it was. */
export const isAlike = (before: number, now: number) => Math.abs(now - before) <= ALIKE * before
