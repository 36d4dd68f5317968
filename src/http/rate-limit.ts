import type { Clock, Instant } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import type { Authenticate } from './router.ts'

/** The tokens left for a name at a point in time (token bucket). */
interface Bucket {
  tokens: number
  at: Instant
}

/**
 * A token bucket per name. Allows at most `perSecond` calls per second on average, and bursts of as many calls as
 * `burstS` seconds would allow.
 */
export class RateLimit {
  private readonly buckets = new Map<string, Bucket>()

  /** @param share returns the part of the limit that this process allows: 1 if it is the only one */
  constructor(
    private readonly clock: Clock,
    private readonly limitPerSecond: number,
    private readonly burstS = 1,
    private readonly share: () => number = () => 1,
  ) {}

  private get perSecond(): number {
    return this.limitPerSecond * this.share()
  }

  /** At least one call is always possible after a while. */
  private get full(): number {
    return Math.max(this.perSecond * this.burstS, Math.min(1, this.limitPerSecond * this.burstS))
  }

  /**
   * Takes one token. When none is left, throws `rateLimited` with the number of seconds to wait. With `count` 0, only
   * checks that a token is left.
   */
  take(name: string, count: 0 | 1 = 1): void {
    const now = this.clock.now()
    const bucket = this.buckets.get(name) ?? this.begin(name, now)
    bucket.tokens = this.tokensOf(bucket, now)
    bucket.at = now
    // Slightly less than 1 is enough, because of rounding errors.
    if (bucket.tokens < 1 - 1e-9) {
      const waitS = Math.max(1, Math.ceil((1 - bucket.tokens) / this.perSecond))
      throw new AppError('rateLimited', `too many requests; try again in ${waitS} s`, waitS)
    }
    bucket.tokens -= count
  }

  private begin(name: string, now: Instant): Bucket {
    if (this.buckets.size >= MAX_NAMES) this.forgetFullest(now)
    const bucket = { tokens: this.full, at: now }
    this.buckets.set(name, bucket)
    return bucket
  }

  private tokensOf({ tokens, at }: Bucket, now: Instant): number {
    // When the clock has been set back, tokens are neither added nor removed.
    return Math.min(this.full, tokens + (Math.max(0, now - at) / 1000) * this.perSecond)
  }

  /**
   * Evicts the buckets with the most tokens, and the oldest first among equals. An evicted name starts again with a
   * full bucket.
   */
  private forgetFullest(now: Instant): void {
    const levels = Float64Array.from(this.buckets.values(), (bucket) => this.tokensOf(bucket, now)).sort()
    const least = levels.at(-FORGOTTEN_AT_ONCE) ?? 0
    const above = levels.length - levels.findLastIndex((level) => level <= least) - 1
    let equal = FORGOTTEN_AT_ONCE - above
    for (const [name, bucket] of this.buckets) {
      const tokens = this.tokensOf(bucket, now)
      if (tokens > least || (tokens === least && equal-- > 0)) this.buckets.delete(name)
    }
  }
}

/**
 * Maximum number of names, which callers can choose freely. When it is exceeded, many names are evicted at once,
 * because each eviction pass takes milliseconds.
 */
const MAX_NAMES = 100_000
const FORGOTTEN_AT_ONCE = MAX_NAMES / 10

/** Adds a rate limit per caller to `authenticate`. Calls with `again` do not count. */
export function rateLimited(authenticate: Authenticate, limit: RateLimit): Authenticate {
  return (headers, options) => {
    const principal = authenticate(headers, options)
    if (!options?.again) limit.take(principal.userId)
    return principal
  }
}
