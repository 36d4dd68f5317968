import type { Privacy } from '../conditions/privacy-settings.ts'
import type { Instant } from '../core/clock.ts'
import { compareWithBaseline, eventKinds } from './baseline.ts'
import { judgeExpectations } from './judge-expectations.ts'
import { judgeOrders } from './judge-orders.ts'
import { applyRules, type Judged, judgeRules } from './judge-recording.ts'
import type { GateExpectations, GateRules } from './read-rules.ts'
import { type GateDomain, type RecordedFile, readRecording } from './recording.ts'
import { type EventKind, type GateReport, MAX_FINDINGS, MAX_UNREAD, REPORT_FORMAT } from './report.ts'

/** A recording and everything that it is checked against. */
export interface GateInput {
  name: string
  ref: string | null
  now: Instant
  files: readonly RecordedFile[]
  rules: GateRules
  domain: GateDomain
  privacy: Privacy
  expectations: GateExpectations | null
  baseline: { name: string; events: readonly EventKind[] } | null
}

/** Checks a recording. Pure. Throws `invalid` for alerts that can't be evaluated. */
export function runGate({ files, rules, domain, privacy, expectations, baseline, ...run }: GateInput): GateReport {
  const applied = applyRules(rules, domain, privacy)
  const recording = readRecording(files, domain, applied.judge)
  const judged = [
    ...judgeRules(recording, applied, domain, privacy),
    ...(expectations ? [judgeExpectations(recording, expectations, { ...rules, privacy })] : []),
    judgeOrders(recording, privacy),
    ...(baseline ? [compareWithBaseline(recording, baseline, privacy)] : []),
  ]
  return {
    ...reportOf(judged, run),
    domainId: domain.id || null,
    recordings: recording.files.map(({ name: file, requests, events }) => ({ file, requests, events })),
    baseline: baseline?.name ?? null,
    events: eventKinds(recording, privacy),
    unread: recording.unread.slice(0, MAX_UNREAD),
  }
}

/** Returns the report of checks. */
export function reportOf(
  judged: readonly Judged[],
  { name, ref, now }: { name: string; ref: string | null; now: Instant },
): GateReport {
  const findings = judged.flatMap(({ findings }, check) => findings.map((finding) => ({ check, ...finding })))
  return {
    format: REPORT_FORMAT,
    name,
    ref,
    domainId: null,
    status: findings.length > 0 ? 'failed' : 'passed',
    createdAt: now,
    recordings: [],
    checks: judged.map(({ check }) => check),
    findings: findings.slice(0, MAX_FINDINGS),
    moreFindings: Math.max(0, findings.length - MAX_FINDINGS),
    baseline: null,
    events: [],
    unread: [],
  }
}
