import type { Finding, Window } from '../alerts/finding.ts'
import { HOUR_MS, type Instant } from '../core/clock.ts'
import { type Db, openDatabase } from '../store/database.ts'
import { type Change, type IssueRecord, NO_MUTE } from './issue.ts'
import type { AlertFacts, Evaluation } from './reconcile-issues.ts'

/** Noon on a Wednesday. */
export const NOON: Instant = Date.UTC(2026, 3, 1, 12)

export const volumeAlert: AlertFacts = {
  id: 'alr_volume',
  orgId: 'org_a',
  name: 'Purchase volume',
  alertType: 'volume_threshold',
  severity: 'high',
  impactValue: 500,
  periodMs: HOUR_MS,
}

export const validationAlert: AlertFacts = {
  ...volumeAlert,
  id: 'alr_validation',
  name: 'Purchase has a value',
  alertType: 'data_validation',
}

export function findingOf(values: Partial<Finding> = {}): Finding {
  return {
    domainId: 'dom_shop',
    subject: '',
    vendor: 'ga4',
    event: 'purchase',
    occurrences: 3,
    summary: '3 events broke the rule',
    observed: 3,
    expected: 0,
    firstAt: NOON - HOUR_MS,
    lastAt: NOON - 1,
    hosts: ['shop.example'],
    sample: null,
    sampleSeq: null,
    ...values,
  }
}

export function issueOfAlert(alert: AlertFacts, values: Partial<IssueRecord> = {}): IssueRecord {
  return {
    id: 'iss_1',
    orgId: alert.orgId,
    alertId: alert.id,
    alertName: alert.name,
    alertType: alert.alertType,
    channels: null,
    domainId: 'dom_shop',
    subject: '',
    status: 'open',
    severity: alert.severity,
    title: alert.name,
    occurrences: 5,
    capReached: false,
    heldBack: 0,
    notificationsSent: 1,
    impactValue: alert.impactValue,
    notes: null,
    trackerKey: null,
    assigneeId: null,
    commentCount: 0,
    firstSeenAt: NOON - 5 * HOUR_MS,
    lastSeenAt: NOON - 2 * HOUR_MS,
    statusAt: NOON - 5 * HOUR_MS,
    statusBy: null,
    ...NO_MUTE,
    resolutionToldAt: null,
    clearWindows: 0,
    firing: true,
    firedWindowAt: NOON - 2 * HOUR_MS,
    hosts: null,
    evidence: findingOf({ lastAt: NOON - 2 * HOUR_MS }),
    ...values,
  }
}

/** Returns an evaluation of the hour before noon, performed at noon. */
export function evaluationOf(values: Partial<Evaluation> = {}): Evaluation {
  const window: Window = { from: NOON - HOUR_MS, to: NOON, complete: true }
  let made = 0
  return {
    alert: volumeAlert,
    timezone: 'UTC',
    issues: [],
    findings: [],
    window,
    windowStartAt: (values.window ?? window).from,
    inRunWindow: true,
    now: NOON,
    newId: () => `iss_new${++made}`,
    ...values,
  }
}

/** Returns a database with two organizations and a domain in the first. */
export function databaseWithOrgs(path = ':memory:'): Db {
  const db = openDatabase(path)
  const org = db.prepare('INSERT INTO org (id, name, webhookSecret, customerSalt, createdAt) VALUES (?, ?, ?, ?, ?)')
  for (const id of ['org_a', 'org_b']) org.run(id, id, Buffer.from(''), '', 0)
  db.prepare(
    `INSERT INTO domain (id, orgId, name, system, token, monitoredUrls, vendors, allowManualMonitoring, createdAt)
     VALUES ('dom_shop', 'org_a', 'Shop', 'global', 'pt_1', '[]', '[]', 0, 0)`,
  ).run()
  return db
}

/** Returns the effect of changes as words, for tables of expected results. */
export function outcomeOf(changes: readonly Change[]) {
  const history = changes.filter((change) => change.kind === 'history')
  const updates = changes.filter((change) => change.kind === 'update').map((change) => change.values)
  const opened = changes.find((change) => change.kind === 'open')
  return {
    status: opened?.issue.status ?? updates.findLast((values) => values.status)?.status ?? 'same',
    counted: changes.reduce((sum, change) => sum + (change.kind === 'count' ? change.count : 0), 0),
    history: history.map((change) => change.entry).join(' '),
    notified: changes
      .map((change) =>
        change.kind === 'withdraw' ? 'withdraw' : change.kind === 'history' ? (change.notice?.transition ?? '') : '',
      )
      .filter(Boolean)
      .join(' '),
  }
}
