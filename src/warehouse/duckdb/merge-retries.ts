import { HOUR_MS, type Instant, MINUTE_MS } from '../../core/clock.ts'
import { firstFew } from '../../core/text.ts'
import type { Merge } from './plan-merges.ts'

const FIRST_PAUSE_MS = MINUTE_MS
const MAX_PAUSE_MS = 6 * HOUR_MS

interface Failure {
  files: readonly string[]
  attempts: number
  nextAt: Instant
}

/**
 * Retries failed merges after a minute, then with delays that double up to six hours. The state is in memory only:
 * after a restart, more memory or disk space may be available.
 */
export class MergeRetries {
  private readonly failures = new Map<string, Failure>()

  /** Number of merges that failed and have not succeeded since. */
  get failing(): number {
    return this.failures.size
  }

  isDue(merge: Merge, now: Instant): boolean {
    const failure = this.failures.get(keyOf(merge))
    // Setting the clock back must not delay a retry.
    return !failure || now >= failure.nextAt || failure.nextAt - now > MAX_PAUSE_MS
  }

  failed(merge: Merge, now: Instant): void {
    const attempts = (this.failures.get(keyOf(merge))?.attempts ?? 0) + 1
    const pauseMs = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempts - 1))
    this.failures.set(keyOf(merge), { files: merge.files.map(({ path }) => path), attempts, nextAt: now + pauseMs })
  }

  /** Drops the failures of merges that are no longer planned, because they succeeded or their files no longer exist. */
  keep(planned: readonly Merge[]): void {
    const known = new Set(planned.map(keyOf))
    for (const key of this.failures.keys()) if (!known.has(key)) this.failures.delete(key)
  }
}

const keyOf = ({ files, level }: Merge) => `${level} ${files.map(({ path }) => path).join(' ')}`

/** Returns the message to the operator about merges that failed for the first time. */
export function mergeNotice(merges: readonly Merge[], reason: string): { subject: string; text: string } {
  const files = merges.flatMap(({ files }) => files.map(({ path }) => path))
  return {
    subject: `event files could not be merged: ${firstFew(files)}`,
    text: `All events remain available, but queries are slower. The merge is retried with increasing delays. Reason: ${reason}`,
  }
}
