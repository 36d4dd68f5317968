import type { Severity } from '../alerts/alert.ts'
import type { Change } from '../changes/change.ts'
import type { Finding } from '../compliance/finding.ts'
import { HOUR_MS, type Instant, MINUTE_MS } from '../core/clock.ts'
import type { VendorTally } from '../insights/reconcile.ts'
import type { WeeklyReport } from '../insights/weekly-report.ts'
import type { IssueStatus } from '../issues/issue.ts'
import type { NewParameter } from './parameters.ts'
import type { Nameable, Subject } from './reader-focus.ts'
import type { DigestPeriod } from './schedule.ts'
import type { Traffic } from './traffic.ts'

/** An issue as a digest tells of it; texts are masked. */
export interface DigestIssue extends Subject {
  id: string
  title: string
  status: IssueStatus
  severity: Severity
  domain: string | null
  /** `42 events` */
  occurrences: string
  value: number | null
  firstSeenAt: Instant
  /** What fired last, as a sentence; empty when not known. */
  summary: string
  /** One event that broke the rule, flat; empty for types without samples. */
  sample: readonly (readonly [name: string, value: string])[]
}

export interface DigestChange extends Pick<Change, 'id' | 'title' | 'source' | 'status' | 'occurredAt'> {
  domainId: string
  domain: string
  /** What it did, most effect first; the vendors and events are those of the effect. */
  effects: readonly (Subject & { detail: string; harmful: boolean })[]
}

export type DigestFinding = Pick<Finding, 'vendor' | 'key' | 'kind' | 'count' | 'example' | 'domainIds' | 'issueId'>

export interface DigestOrders {
  domainId: string
  domain: string
  /** Paid in the 24 hours, those of the last 15 minutes left out, and their value. */
  orders: number
  value: number
  /** In the same hours a week earlier. */
  before: number
  vendors: readonly VendorTally[]
}

export interface DigestSuggestion extends Subject {
  name: string
  reason: string
}

/** What happened in an organization, for any reader: the same for all, and personal data is masked. */
export interface DigestFacts {
  at: Instant
  span: DigestPeriod
  orgName: string
  /** What values are amounts in (ISO 4217); null: a unit of their own. */
  currency: string | null
  domainNames: ReadonlyMap<string, string>
  traffic: Traffic
  newParameters: readonly NewParameter[]
  issues: {
    opened: readonly DigestIssue[]
    resolved: readonly DigestIssue[]
    /** Open and acknowledged ones, the gravest first. */
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
  /** On Mondays: what the week before was like; null on other days. */
  week: WeeklyReport | null
  /** How long nothing could be collected because of this server, in the 24 hours and a week earlier. */
  gaps: { nowMs: number; beforeMs: number }
  lastEventAt: Instant | null
  /** What a context can name. */
  names: readonly Nameable[]
  /** What could not be looked up in time, in words. */
  leftOut: readonly string[]
}

/** The gravest has the largest. */
export const SEVERITY_RANK: Readonly<Record<Severity, number>> = { low: 0, medium: 1, high: 2, critical: 3 }

/**
 * True when something happened: events now or in the same hours a week earlier, an issue that moved, a change, a finding, an
 * order. What only stands since longer is nothing that happened.
 */
export function hasData({ traffic, issues, changes, findings, orders }: DigestFacts): boolean {
  const lists = [traffic.names, issues.opened, issues.resolved, changes, findings.seen, orders]
  return lists.some((list) => list.length > 0)
}

/** In hours, rounded up to what people say: `2.5 h`, `12 min`. */
export const durationText = (ms: number): string =>
  ms >= HOUR_MS ? `${Number((ms / HOUR_MS).toFixed(1))} h` : `${Math.max(1, Math.round(ms / MINUTE_MS))} min`
