import type { Severity } from '../contract/severities.ts'
import { HOUR_MS, type Instant } from '../core/clock.ts'
import { countText, shareText } from '../core/text.ts'
import type { IssueRecord } from '../issues/issue.ts'

/** Possible causes of an issue, in the order in which they are tested. */
export const CAUSE_KINDS = ['pipeline', 'traffic', 'container', 'consent', 'vendor', 'release', 'tag'] as const
type CauseKind = (typeof CAUSE_KINDS)[number]

/**
 * Maximum time between a consent finding and an issue that it may have caused, and between the starts of two issues of
 * the same vendor that may share a cause.
 */
export const TOGETHER_MS = 2 * HOUR_MS
/** Share of failed requests above which the vendor counts as the cause, if the share has also doubled. */
const MIN_FAILURE_SHARE = 0.1
const FAILURE_RISE = 2
/**
 * The tag manager counts as stopped when at most this share of its usual reports is received while other events
 * continue.
 */
const STOPPED_SHARE = 0.05
const GOES_ON_SHARE = 0.25
/** Minimum number of reports before the issue. With fewer reports, a pause is not significant. */
const MIN_REPORTS = 20

/** Events per hour in the day before the issue began, and since it began. */
interface HourlyRates {
  before: number
  since: number
}

/** Facts about the time at which an issue began. */
export interface IssueFacts {
  issue: Pick<IssueRecord, 'id' | 'domainId' | 'firstSeenAt' | 'severity' | 'impactValue' | 'title' | 'evidence'>
  /** Name of the issue's domain; null when the issue has no domain. */
  domain: string | null
  /** The collection gap at the time the issue began; null when there was none. */
  gap: { fromAt: Instant } | null
  /** The issue about the total traffic of the domain: this issue, or the one that explains it. */
  traffic: { issueId: string; title: string } | null
  /**
   * Hourly rates of tag manager reports and of other events in the issue's domain; null when unknown. `reported` is the
   * number of reports in the day before the issue.
   */
  container: { reports: HourlyRates; others: HourlyRates; reported: number } | null
  /**
   * The most recent consent finding in the issue's domain in the 2 hours before the issue. Also null when the vendor's
   * consent was first checked on the day of the finding, because then no change can be shown.
   */
  consent: { vendor: string; kind: string; firstSeenAt: Instant } | null
  /** Shares of failed requests to the issue's vendor, 0 to 1; null when unknown. */
  failures: { before: number; since: number } | null
  /** The most recent change whose watch window contains the beginning of the issue. */
  change: { id: string; title: string; occurredAt: Instant } | null
}

/** The cause of one issue. Issues with the same `key` have the same cause. */
export interface Rung {
  kind: CauseKind
  key: string
  title: string
  /** Time at which the cause began; null when it began with the first issue. */
  since: Instant | null
  vendor: string | null
  changeId: string | null
}

/** A cause with all of its issues. */
export interface Cause {
  kind: CauseKind
  title: string
  detail: string
  since: Instant
  /** Null when the issues belong to several domains. */
  domainId: string | null
  vendor: string | null
  changeId: string | null
  issueIds: string[]
  severity: Severity
  impactValue: number
}

const RANK: Readonly<Record<Severity, number>> = { critical: 3, high: 2, medium: 1, low: 0 }

/**
 * Returns the causes of these issues, most severe first. Each issue has exactly one cause: the first kind that applies.
 * `all` contains every open or acknowledged issue of the organization, including these.
 */
export function causesOf(
  facts: readonly IssueFacts[],
  all: readonly (Peer & Pick<IssueRecord, 'evidence'>)[],
): Cause[] {
  const ofVendor = Map.groupBy(all, ({ evidence }) => evidence?.vendor ?? null)
  const rungs = facts.map((one) => ({
    ...one,
    rung: rungOf(one, ofVendor.get(one.issue.evidence?.vendor ?? null) ?? []),
  }))
  return [...Map.groupBy(rungs, ({ rung }) => rung.key).values()]
    .map(causeOf)
    .sort((a, b) => RANK[b.severity] - RANK[a.severity] || b.impactValue - a.impactValue || b.since - a.since)
}

/** The fields of an issue that are compared with other issues of the same vendor. */
export type Peer = Pick<IssueRecord, 'domainId' | 'firstSeenAt'>

/**
 * Returns the cause of one issue. `peers` contains all open and acknowledged issues of the same vendor, including this
 * one.
 */
export function rungOf(facts: IssueFacts, peers: readonly Peer[]): Rung {
  const { issue, gap, traffic, consent, change } = facts
  const vendor = issue.evidence?.vendor ?? null
  const where = facts.domain === null ? '' : ` on ${facts.domain}`
  const none = { since: null, vendor: null, changeId: null }
  if (gap) {
    const title = 'Tagwarden could not collect events'
    return { ...none, kind: 'pipeline', key: `pipeline ${gap.fromAt}`, title, since: gap.fromAt }
  }
  if (traffic) return { ...none, kind: 'traffic', key: `traffic ${traffic.issueId}`, title: traffic.title }
  if (hasStopped(facts)) {
    const title = `Reports from the tag manager stopped${where}`
    return { ...none, kind: 'container', key: `container ${issue.domainId}`, title }
  }
  if (consent) {
    const { kind, firstSeenAt } = consent
    const title = `Consent changed: ${consentChange(consent)}${where}`
    const key = `consent ${issue.domainId} ${kind} ${consent.vendor}`
    return { ...none, kind: 'consent', key, title, since: firstSeenAt, vendor: consent.vendor }
  }
  if (vendor !== null && (isOfSeveralDomains(facts, peers) || hasFailures(facts))) {
    return { ...none, kind: 'vendor', key: `vendor ${vendor}`, title: `${vendor} has a problem`, vendor }
  }
  if (change) {
    const { id, title, occurredAt } = change
    return { kind: 'release', key: `release ${id}`, title, since: occurredAt, vendor: null, changeId: id }
  }
  const title = `${vendor ?? 'A tag'}${where}`
  return { ...none, kind: 'tag', key: `tag ${issue.domainId} ${vendor ?? issue.id}`, title, vendor }
}

/** Text for each kind of consent finding: what has changed in the vendor's behaviour. */
const CONSENT_CHANGES: Readonly<Record<string, string>> = {
  no_signal: 'sends requests without a consent signal',
  not_set: 'sends requests while consent is not set',
  no_default: 'sends requests before a consent default is set',
  granted_by_default: 'has consent granted by default',
  after_denial: 'sends requests after consent was denied',
  update_rate: 'gets fewer responses to the consent banner',
}

function consentChange({ vendor, kind }: { vendor: string; kind: string }): string {
  return `${vendor} now ${CONSENT_CHANGES[kind] ?? 'differs'}`
}

/** Returns the cause of an issue as a sentence; null when only the tag itself is known as the cause. */
export function causeSentence(facts: IssueFacts, { kind, title }: Rung): string | null {
  const failures = hasFailures(facts) ? facts.failures : null
  const sentences: Readonly<Record<CauseKind, string | null>> = {
    pipeline: `${title} when the issue began.`,
    traffic: `All traffic of the domain dropped: ${title}.`,
    container: `${title} while other events continued.`,
    consent: `${title}, within 2 hours before the issue began.`,
    vendor: failures
      ? `${title}: ${shareText(failures.since)} of the requests to it failed when the issue began.`
      : `${title}: another domain has an issue with this vendor that began within 2 hours of this one.`,
    release: `The issue began in the watch window of a change: ${title}.`,
    tag: null,
  }
  return sentences[kind]
}

function hasStopped({ container }: IssueFacts): boolean {
  if (!container || container.reported < MIN_REPORTS) return false
  const { reports, others } = container
  return reports.since <= reports.before * STOPPED_SHARE && others.since > others.before * GOES_ON_SHARE
}

/** Returns whether another domain has an issue with the same vendor that began within 2 hours of this issue. */
function isOfSeveralDomains({ issue }: IssueFacts, peers: readonly Peer[]): boolean {
  return peers.some(
    ({ domainId, firstSeenAt }) =>
      domainId !== issue.domainId && Math.abs(firstSeenAt - issue.firstSeenAt) <= TOGETHER_MS,
  )
}

function hasFailures({ failures }: IssueFacts): boolean {
  return failures !== null && failures.since >= MIN_FAILURE_SHARE && failures.since >= failures.before * FAILURE_RISE
}

function causeOf(members: readonly (IssueFacts & { rung: Rung })[]): Cause {
  const [first, ...others] = members
  if (!first) throw new Error('a cause has at least one issue')
  const { kind, title, vendor, changeId, since } = first.rung
  const issues = members.map(({ issue }) => issue)
  const begins = issues.map(({ firstSeenAt }) => firstSeenAt)
  const isOfOne = others.every(({ issue }) => issue.domainId === first.issue.domainId)
  return {
    kind,
    title,
    vendor,
    changeId,
    detail: detailOf(first.rung, members),
    since: since ?? Math.min(...begins),
    domainId: isOfOne ? first.issue.domainId : null,
    issueIds: issues.map(({ id }) => id),
    severity: issues.reduce<Severity>(
      (worst, { severity }) => (RANK[severity] > RANK[worst] ? severity : worst),
      'low',
    ),
    impactValue: issues.reduce((sum, { impactValue }) => sum + (impactValue ?? 0), 0),
  }
}

/** Returns one sentence with the number of issues and the reason why they are attributed to this cause. */
function detailOf({ kind, vendor }: Rung, members: readonly IssueFacts[]): string {
  const count = `${countText(members.length)} ${members.length === 1 ? 'issue' : 'issues'}`
  const domains = new Set(members.map(({ issue }) => issue.domainId)).size
  const failures = Math.max(0, ...members.map((member) => (hasFailures(member) ? (member.failures?.since ?? 0) : 0)))
  const why: Readonly<Record<CauseKind, string>> = {
    pipeline: 'began when this server could not collect events',
    traffic: 'began when all traffic of the domain dropped',
    container: 'began when the tag manager stopped reporting while other events continued',
    consent: 'began within 2 hours after consent changed',
    vendor:
      failures > 0
        ? `began when ${shareText(failures)} of the requests to ${vendor} failed`
        : `with ${vendor} began within 2 hours in ${countText(domains)} domains`,
    release: 'began in the watch window of this change',
    tag: 'with no cause beyond the tag itself',
  }
  return `${count} ${why[kind]}.`
}
