import { describeKindGroups } from '../alerts/types/describe-alert-types.ts'
import type { Evidence } from '../alerts/types/evidence.ts'
import { alertTypes } from '../alerts/types/index.ts'
import type { IssueMessages } from '../alerts/types/issue-messages.ts'
import { HOUR_MS } from '../core/clock.ts'
import { AppError } from '../core/error.ts'

/** A source of issues: an alert type or a kind of run. */
export interface IssueKind {
  kind: string
  title: string
  messages: IssueMessages
  /** If `valid` is null, no valid event is shown next to the violating one. */
  evidence: Omit<Evidence, 'valid'> & { valid: Evidence['valid'] | null }
  /**
   * True if the next run without a finding resolves the issue; otherwise the issue is resolved after a time without
   * violations.
   */
  clearsAtOnce: boolean
  /** True if the title describes the most recent finding; otherwise it describes the first one. */
  updatesTitle?: true
  /** Minimum time between repeated notifications for an ongoing issue, and between its history entries. */
  renotifyAfterMs: number
}

/**
 * Runs can be minutes apart, so notifications about an ongoing fault are repeated as rarely as those about an ongoing
 * anomaly.
 */
const RENOTIFY_AFTER_MS = 12 * HOUR_MS

/** Returns a kind whose issues come from the findings of runs instead of counts of events. */
const ofRuns = (kind: string, title: string, unit: { one: string; many: string }): IssueKind => ({
  kind,
  title,
  clearsAtOnce: true,
  renotifyAfterMs: RENOTIFY_AFTER_MS,
  messages: {
    unit: { ...unit, meaning: 'runs with this finding' },
    title: ({ name, finding }) => `${name}: ${finding.summary}`,
    summary: ({ summary }) => summary ?? `the ${unit.one} found a problem`,
    expected: null,
    countsFirings: false,
    explainsDrops: false,
    isRise: () => null,
    summarize: () => null,
  },
  evidence: {
    seriesDescription: 'runs with this finding',
    series: () => 'occurrences',
    validMatchesViolating: false,
    valid: null,
  },
})

/** Issues of flow tests; their `alertId` is the id of the flow test. */
export const FLOW_TEST: IssueKind = ofRuns('flow_test', 'Flow test', { one: 'run', many: 'runs' })

/** Issues of audits; their `alertId` is the id of the first audit with that name. */
export const AUDIT: IssueKind = ofRuns('audit', 'Audit', { one: 'audit', many: 'audits' })

const RUN_KIND = ofRuns('order_capture', 'Order capture', { one: 'hour', many: 'hours' })

/** Issues of order capture rules; their `alertId` is the id of the rule, or of the domain when no orders arrive. */
export const ORDER_CAPTURE: IssueKind = {
  ...RUN_KIND,
  updatesTitle: true,
  messages: {
    ...RUN_KIND.messages,
    unit: { one: 'hour', many: 'hours', meaning: 'hours with this problem' },
    summary: ({ summary }) => summary ?? 'orders are not captured as usual',
    countsFirings: true,
  },
  evidence: { ...RUN_KIND.evidence, seriesDescription: 'hours with this problem' },
}

/** All kinds in documentation order: alert types, then kinds of runs. */
export const issueKinds: readonly IssueKind[] = [
  ...alertTypes.map(
    ({ kind, form: { title }, messages, evidence }): IssueKind => ({
      kind,
      title,
      messages,
      evidence,
      clearsAtOnce: false,
      renotifyAfterMs: 0,
    }),
  ),
  FLOW_TEST,
  AUDIT,
  ORDER_CAPTURE,
]

/** Wire names, the values of an issue's `alertType`. */
export const ISSUE_KINDS: readonly string[] = issueKinds.map(({ kind }) => kind)

/** Returns the kind with this wire name. Throws `AppError('invalid')` if this version does not support it. */
export function issueKindOf(kind: string): IssueKind {
  const found = issueKinds.find((candidate) => candidate.kind === kind)
  if (!found) throw new AppError('invalid', `alertType: ${kind} is not available in this version`)
  return found
}

/**
 * Joins the descriptions of all kinds, grouping equal descriptions: ``For `a`: violating events; for `b`, `c`: windows
 * that fired``.
 */
export function describeByKind(describe: (kind: IssueKind) => string): string {
  return describeKindGroups(issueKinds, describe)
}
