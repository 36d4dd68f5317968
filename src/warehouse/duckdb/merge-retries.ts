import { HOUR_MS, type Instant, MINUTE_MS } from '../../core/clock.ts'
import { firstFew } from '../../core/text.ts'
import type { Merge } from './plan-merges.ts'

const FIRST_PAUSE_MS = MINUTE_MS
const LONGEST_PAUSE_MS = 6 * HOUR_MS

interface Failure {
  files: readonly string[]
  attempts: number
  nextAt: Instant
}

/**
 * When merges that failed are tried again: after a minute, then after twice the pause before, up to six hours. Forgotten
 * with the process, which may have more memory or room the next time.
 */
export class MergeRetries {
  private readonly failures = new Map<string, Failure>()

  /** Number of merges that failed and were not carried out since. */
  get failing(): number {
    return this.failures.size
  }

  isDue(merge: Merge, now: Instant): boolean {
    const failure = this.failures.get(keyOf(merge))
    // A clock that was set back must not put a retry off for longer.
    return !failure || now >= failure.nextAt || failure.nextAt - now > LONGEST_PAUSE_MS
  }

  failed(merge: Merge, now: Instant): void {
    const attempts = (this.failures.get(keyOf(merge))?.attempts ?? 0) + 1
    const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempts - 1))
    this.failures.set(keyOf(merge), { files: merge.files.map(({ path }) => path), attempts, nextAt: now + pauseMs })
  }

  /** Forgets failures of what is not planned any more, because it was carried out or its files are gone. */
  keep(planned: readonly Merge[]): void {
    const known = new Set(planned.map(keyOf))
    for (const key of this.failures.keys()) if (!known.has(key)) this.failures.delete(key)
  }
}

const keyOf = ({ files, level }: Merge) => `${level} ${files.map(({ path }) => path).join(' ')}`

/** The message to the operator about merges that failed for the first time. */
export function mergeNotice(merges: readonly Merge[], reason: string): { subject: string; text: string } {
  const files = merges.flatMap(({ files }) => files.map(({ path }) => path))
  return {
    subject: `files of events could not be merged: ${firstFew(files)}`,
    text: `All events are kept and answered, only slower. The merge is tried again, after longer pauses each time. Reason: ${reason}`,
  }
}
