import type { Change } from '../changes/change.ts'
import type { Finding } from '../compliance/compliance-finding.ts'
import type { Severity } from '../contract/severities.ts'
import { HOUR_MS, type Instant, MINUTE_MS } from '../core/clock.ts'
import type { VendorTally } from '../insights/reconcile-orders.ts'
import type { WeeklyReport } from '../insights/weekly-report.ts'
import type { IssueStatus } from '../issues/issue.ts'
import type { DigestPeriod } from './digest-schedule.ts'
import type { Traffic } from './event-traffic.ts'
import type { NewParameter } from './new-parameters.ts'
import type { Nameable, Subject } from './reader-focus.ts'

/** An issue in a digest, with personal data masked in all strings. */
export interface DigestIssue extends Subject {
  id: string
  title: string
  status: IssueStatus
  severity: Severity
  domain: string | null
  /** Such as `42 events`. */
  occurrences: string
  value: number | null
  firstSeenAt: Instant
  /** Most recent finding as a sentence; empty if unknown. */
  summary: string
  /** One violating event as flat rows; empty for types without samples. */
  sample: readonly (readonly [name: string, value: string])[]
}

export interface DigestChange extends Pick<Change, 'id' | 'title' | 'source' | 'status' | 'occurredAt'> {
  domainId: string
  domain: string
  /** Effects, largest first, with the affected vendors and events. */
  effects: readonly (Subject & { detail: string; harmful: boolean })[]
}

export type DigestFinding = Pick<Finding, 'vendor' | 'key' | 'kind' | 'count' | 'example' | 'domainIds' | 'issueId'>

export interface DigestOrders {
  domainId: string
  domain: string
  /** Orders paid in the 24 hours, excluding the last 15 minutes. */
  orders: number
  value: number
  /** Orders paid in the same hours a week earlier. */
  before: number
  vendors: readonly VendorTally[]
}

interface DigestSuggestion extends Subject {
  name: string
  reason: string
}

/** Activity of an organization, the same for all recipients. Personal data is masked. */
export interface DigestFacts {
  at: Instant
  span: DigestPeriod
  orgName: string
  /** Currency of values (ISO 4217); null if none is configured. */
  currency: string | null
  /** Time zone of the organization. */
  timezone: string
  domainNames: ReadonlyMap<string, string>
  traffic: Traffic
  newParameters: readonly NewParameter[]
  issues: {
    opened: readonly DigestIssue[]
    resolved: readonly DigestIssue[]
    /** Open and acknowledged issues, most severe first. */
    open: readonly DigestIssue[]
    openedBefore: number
    resolvedBefore: number
  }
  value: { open: number; opened: number; resolved: number; resolved30d: number }
  scores: { overall: number; parts: readonly { name: string; score: number; detail: string }[] } | null
  changes: readonly DigestChange[]
  findings: { fresh: readonly DigestFinding[]; seen: readonly DigestFinding[] }
  orders: readonly DigestOrders[]
  suggestions: readonly DigestSuggestion[]
  /** Report on the previous week, on Mondays; null on other days. */
  week: WeeklyReport | null
  /** Sentences about the segments that the worst issues of the last week affect, by issue id. */
  affected: ReadonlyMap<string, string>
  /** Time in ms for which this server could not collect data, in the 24 hours and in the same hours a week earlier. */
  gaps: { nowMs: number; beforeMs: number }
  lastEventAt: Instant | null
  /** Names that a context can refer to. */
  names: readonly Nameable[]
  /** Names of the parts that were omitted because their query took too long. */
  leftOut: readonly string[]
}

/** Rank by severity; higher is more severe. */
export const SEVERITY_RANK: Readonly<Record<Severity, number>> = { low: 0, medium: 1, high: 2, critical: 3 }

/**
 * True if there was activity: events in the 24 hours or a week earlier, an opened or resolved issue, a change, a
 * finding or an order. Issues opened earlier are not considered.
 */
export function hasData({ traffic, issues, changes, findings, orders }: DigestFacts): boolean {
  const lists = [traffic.names, issues.opened, issues.resolved, changes, findings.seen, orders]
  return lists.some((list) => list.length > 0)
}

/** Formats a duration: `2.5 h`, `12 min`; at least 1 min. */
export const durationText = (ms: number): string =>
  ms >= HOUR_MS ? `${Number((ms / HOUR_MS).toFixed(1))} h` : `${Math.max(1, Math.round(ms / MINUTE_MS))} min`
