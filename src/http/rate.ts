import type { Clock, Instant } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import type { Authenticate } from './router.ts'

/** What a name may still have, as it was at an instant. */
interface Bucket {
  tokens: number
  at: Instant
}

/** Lets through at most `perSecond` of a name on average, and bursts of as many as fit `burstS` seconds. */
export class RateLimit {
  private readonly buckets = new Map<string, Bucket>()
  private readonly full: number

  constructor(
    private readonly clock: Clock,
    private readonly perSecond: number,
    burstS = 1,
  ) {
    this.full = perSecond * burstS
  }

  /** Counts one. Fails with `rateLimited` and the seconds to wait when there are too many. */
  take(name: string): void {
    const now = this.clock.now()
    const bucket = this.buckets.get(name) ?? this.begin(name, now)
    bucket.tokens = this.tokensOf(bucket, now)
    bucket.at = now
    // A little less does: fractions don't add up exactly.
    if (bucket.tokens < 1 - 1e-9) {
      const waitS = Math.max(1, Math.ceil((1 - bucket.tokens) / this.perSecond))
      throw new AppError('rateLimited', `too many requests; try again in ${waitS} s`, waitS)
    }
    bucket.tokens--
  }

  private begin(name: string, now: Instant): Bucket {
    if (this.buckets.size >= MAX_NAMES) this.forgetFullest(now)
    const bucket = { tokens: this.full, at: now }
    this.buckets.set(name, bucket)
    return bucket
  }

  private tokensOf({ tokens, at }: Bucket, now: Instant): number {
    // A clock that was set back brings nothing, and takes nothing away.
    return Math.min(this.full, tokens + (Math.max(0, now - at) / 1000) * this.perSecond)
  }

  /** A name that is forgotten begins with a full bucket: so those go that gain least by it, of equal ones the oldest. */
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

/** Names come from outside. Past so many some are forgotten, many at once because it takes milliseconds. */
const MAX_NAMES = 100_000
const FORGOTTEN_AT_ONCE = MAX_NAMES / 10

/** The same callers, each at most as often as the limit lets through; being asked for `again` counts nothing. */
export function rateLimited(authenticate: Authenticate, limit: RateLimit): Authenticate {
  return (headers, options) => {
    const principal = authenticate(headers, options)
    if (!options?.again) limit.take(principal.keyId ?? principal.userId)
    return principal
  }
}
