import type { Issue } from '#client/types.gen'

/** The input of a verdict. */
export interface Situation {
  /** All open issues by severity. */
  openCounts: Readonly<Record<Issue['severity'], number>>
  /** Open issues, most severe first; contains at least one if any is open. */
  issues: readonly Pick<Issue, 'id' | 'title' | 'severity' | 'firstSeenAt' | 'hosts'>[]
  domains: readonly { id: string; name: string; status: 'waiting' | 'active' | 'silent'; lastEventAt?: number | null }[]
  /**
   * Numbers of monitored signals and of signals that are still learning, and the time at which the last signal will
   * have finished learning, if known.
   */
  signals: { watched: number; learning: number; learnedAt?: number | null }
  /** Time since which received events have not been stored; null when all are stored. */
  gapSince: number | null
}

/** The verdict, in order of importance. */
export type Verdict =
  | { is: 'behind'; since: number }
  | { is: 'critical' | 'high'; problems: number; worst: Situation['issues'][number]; more: number }
  | { is: 'silent'; domains: Situation['domains'] }
  | { is: 'small'; problems: number; worst: Situation['issues'][number] }
  | { is: 'waiting'; domain: Situation['domains'][number] }
  | { is: 'learning'; until: number | null }
  | { is: 'empty' }
  | { is: 'well'; signals: number; lastEventAt: number | null }

/**
 * Returns the overall verdict. A domain that has stopped sending events counts as a problem. The verdict `well`
 * includes its evidence: the number of signals that have finished learning, and the time of the last event.
 */
export function verdictOf({ openCounts, issues, domains, signals, gapSince }: Situation): Verdict {
  if (gapSince !== null) return { is: 'behind', since: gapSince }
  const { critical, high, medium, low } = openCounts
  const open = critical + high + medium + low
  const [worst] = issues
  if (worst && (worst.severity === 'critical' || worst.severity === 'high')) {
    const problems = openCounts[worst.severity]
    return { is: worst.severity, problems, worst, more: open - 1 }
  }
  const silent = domains.filter(({ status }) => status === 'silent')
  if (silent.length > 0) return { is: 'silent', domains: silent }
  if (worst) return { is: 'small', problems: open, worst }
  if (domains.length === 0) return { is: 'empty' }
  const waiting = domains.find(({ status }) => status === 'waiting')
  if (waiting && domains.every(({ status }) => status === 'waiting')) return { is: 'waiting', domain: waiting }
  if (signals.watched > 0 && signals.learning === signals.watched) {
    return { is: 'learning', until: signals.learnedAt ?? null }
  }
  const moments = domains.flatMap(({ lastEventAt }) => lastEventAt ?? [])
  return {
    is: 'well',
    signals: signals.watched - signals.learning,
    lastEventAt: moments.length === 0 ? null : Math.max(...moments),
  }
}

/** Number of domains with the most severe problems; at least 1. */
export function badDomains(issues: Situation['issues'], domains: number): number {
  const gravest = issues.filter(({ severity }) => severity === issues[0]?.severity)
  const hosts = new Set(gravest.flatMap(({ hosts }) => hosts ?? []))
  return Math.max(1, Math.min(hosts.size, domains))
}
