import type { AlertChannel } from '../alerts/alert.ts'
import type { Finding } from '../alerts/finding.ts'
import { maskPersonal } from '../conditions/mask-personal-data.ts'
import type { Privacy } from '../conditions/privacy-settings.ts'
import type { Severity } from '../contract/severities.ts'
import type { Instant } from '../core/clock.ts'
import { newId } from '../core/id.ts'
import { timezoneOf } from '../org/store.ts'
import { type Db, tx } from '../store/database.ts'
import { type Change, type Enqueue, incidentKey, MAX_HOSTS } from './issue.ts'
import type { IssueKind } from './issue-kinds.ts'
import { reconcile } from './reconcile-issues.ts'
import { applyChanges, presentIssues } from './store.ts'

/** The flow test or audit that was run. */
export interface RunSubject {
  /** `FLOW_TEST` or `AUDIT` from `issue-kinds.ts`. */
  kind: IssueKind
  /** Id of the flow test, or of the first audit with that name. */
  id: string
  orgId: string
  name: string
  domainId: string | null
  severity: Severity
  impactValue: number | null
  channels: readonly AlertChannel[]
}

/** A finding of a run. All strings are sentences without personal data and without full stops. */
export interface RunFinding {
  kind: string
  vendor: string | null
  event: string | null
  sentence: string
  expected: string | null
  observed: string | null
  step?: number | null
}

/** An event in a run, shown as the sample of a finding. */
interface RunSample {
  vendor: string
  event: string
  account: string | null
  host: string | null
  path: string | null
  params: Record<string, string>
  step?: number
}

/** A finished run. */
export interface EndedRun {
  id: string
  /** End of the run. */
  at: Instant
  findings: readonly RunFinding[]
  /** False if the run ended early. Missing findings are then inconclusive, so no issue is resolved. */
  isWhole: boolean
  /** Hosts of the pages in the run, most frequent first. */
  hosts: readonly string[]
  /**
   * Events of the run in order. The last event that a finding is about becomes its sample, with personal data masked.
   */
  events?: readonly RunSample[]
}

interface RunFindingDeps {
  db: Db
  now: Instant
  privacy: Privacy
  enqueue: Enqueue
}

/**
 * Compares the findings of a run with the existing issues, in one transaction (or in the caller's). A finding opens or
 * continues an issue, and an issue without a finding is resolved. Findings with the same kind, vendor and event belong
 * to one issue, with one occurrence per run. Call once per run, in the order in which runs end. Returns the changes.
 */
export function applyRunFindings(
  { db, now, privacy, enqueue }: RunFindingDeps,
  { kind, channels, ...subject }: RunSubject,
  run: EndedRun,
): Change[] {
  const findings = findingsOf(subject.domainId, run, privacy)
  const found = new Set(findings.map(incidentKey))
  return tx(db, () => {
    const known = presentIssues(db, subject.id, now)
    const changes = reconcile({
      alert: { ...subject, alertType: kind.kind, periodMs: 0 },
      timezone: timezoneOf(db, subject.orgId),
      issues: run.isWhole ? known : known.filter((issue) => found.has(incidentKey(issue))),
      findings,
      // A run is evaluated as a whole when it ends.
      window: { from: run.at, to: run.at + 1, complete: true },
      windowStartAt: run.at,
      inRunWindow: true,
      channels,
      now,
      newId: () => newId('iss', now),
    })
    applyChanges(db, changes, enqueue)
    return changes
  })
}

function findingsOf(domainId: string | null, run: EndedRun, privacy: Privacy): Finding[] {
  const alike = Map.groupBy(run.findings, ({ kind, vendor, event }) => [kind, vendor ?? '', event ?? ''].join(' '))
  return [...alike].flatMap(([subject, [first, ...others]]) => {
    if (!first) return []
    const more = others.length === 0 ? '' : `; ${others.length} more of this kind`
    const sample = sampleOf(first, run.events ?? [])
    return {
      domainId,
      subject,
      vendor: first.vendor,
      event: first.event,
      occurrences: 1,
      summary: `${first.sentence}${more}`,
      observed: null,
      expected: null,
      firstAt: run.at,
      lastAt: run.at,
      ...(first.expected === null ? {} : { expectation: first.expected }),
      ...(first.observed === null ? {} : { observation: first.observed }),
      hosts: run.hosts.slice(0, MAX_HOSTS),
      sample: sample && maskedSample(sample, privacy),
      sampleSeq: null,
      runId: run.id,
    }
  })
}

/** Returns the fields of a sample, named as in stored events. */
function maskedSample({ params, ...event }: RunSample, privacy: Privacy): Record<string, unknown> {
  const fields = (['vendor', 'event', 'account', 'host', 'path'] as const).map((name) => {
    const value = event[name]
    return [name, value === null ? null : maskPersonal(value, `$${name}`, privacy)]
  })
  const masked = Object.entries(params).map(([key, value]) => [
    maskPersonal(key, '', privacy),
    maskPersonal(value, key, privacy),
  ])
  return { ...Object.fromEntries(fields), params: Object.fromEntries(masked) }
}

/**
 * Returns the last event with the finding's vendor and event name, and from its step if it has one; null if there is
 * none.
 */
function sampleOf({ vendor, event, step = null }: RunFinding, events: readonly RunSample[]): RunSample | null {
  if (vendor === null) return null
  const isMeant = (one: RunSample) =>
    one.vendor === vendor && (event === null || one.event === event) && (step === null || one.step === step)
  return events.findLast(isMeant) ?? null
}
