import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { alertOf, volumeInput } from '../alerts/alert.fixture.ts'
import type { Alert } from '../alerts/alert.ts'
import type { Finding } from '../alerts/finding.ts'
import { DAY_MS, HOUR_MS } from '../core/clock.ts'
import { explanationOf } from '../issues/domain-drop-explanation.ts'
import { databaseWithOrgs, evaluationOf, findingOf, NOON, volumeAlert } from '../issues/issue.fixture.ts'
import type { IssueRecord } from '../issues/issue.ts'
import type { AlertFacts } from '../issues/reconcile-issues.ts'
import { applyFindings, issueRecord, setStatus } from '../issues/store.ts'
import type { Db } from '../store/database.ts'

let db: Db
beforeEach(() => {
  db = databaseWithOrgs()
})
afterEach(() => db.close())

const automatic: AlertFacts = {
  ...volumeAlert,
  id: 'alr_auto',
  name: 'Automatic signals: Shop',
  alertType: 'volume_anomaly',
}
const whole = findingOf({
  subject: '',
  vendor: null,
  event: null,
  summary: 'all traffic dropped',
  observed: 3,
  expected: 90,
})
const signal = findingOf({ subject: 'ga4 purchase', summary: 'the count dropped', observed: 0, expected: 30 })

/** Evaluates the hour that ends this number of hours after noon. */
function hourTo(hour: number, alert: AlertFacts, findings: readonly Finding[]): void {
  const to = NOON + hour * HOUR_MS
  const window = { from: to - HOUR_MS, to, complete: true }
  const times = { firstAt: window.from, lastAt: to - 1 }
  const { issues, newId, ...rest } = evaluationOf({ alert, window, now: to })
  applyFindings(db, { ...rest, findings: findings.map((finding) => ({ ...finding, ...times })) }, () => {})
}

const issueOf = (alertId: string, subject: string): IssueRecord => {
  const id = db.prepare('SELECT id FROM issue WHERE alertId = ? AND subject = ? ORDER BY firstSeenAt DESC').pluck()
  return issueRecord(db, 'org_a', String(id.get(alertId, subject)))
}

const explain = (issue: IssueRecord, rule: Alert | null = null) => explanationOf(db, { issue, rule })
const wholeIssue = () => {
  const { id: issueId, title } = issueOf('alr_auto', '')
  return { issueId, title }
}

describe('the issue referenced by the latest finding', () => {
  test('is the explanation', () => {
    hourTo(0, automatic, [signal])
    hourTo(1, automatic, [whole, { ...signal, explainedBy: '' }])
    expect(explain(issueOf('alr_auto', 'ga4 purchase'))).toEqual(wholeIssue())
    expect(wholeIssue().title).toBe('Automatic signals: Shop: all traffic dropped')
  })

  test('is no longer the explanation after a finding without a reference', () => {
    hourTo(0, automatic, [signal])
    hourTo(1, automatic, [whole, { ...signal, explainedBy: '' }])
    hourTo(2, automatic, [signal])
    expect(explain(issueOf('alr_auto', 'ga4 purchase'))).toBeNull()
  })

  test('is not the explanation if it is too old', () => {
    hourTo(-300, automatic, [whole])
    hourTo(0, automatic, [{ ...signal }])
    expect(explain({ ...issueOf('alr_auto', 'ga4 purchase'), evidence: { ...signal, explainedBy: '' } })).toBeNull()
  })
})

/**
 * A threshold alert: the hours in which the alert and the domain's total traffic fired, and whether the drop in traffic
 * then explains the alert's issue.
 */
test.each<[string, { own: number[]; whole: number[]; clear?: number[] }, boolean]>([
  ['at the same time', { own: [0, 1], whole: [0, 1] }, true],
  ['shortly before', { own: [3], whole: [0, 1, 2, 3] }, true],
  ['detected an hour later', { own: [0, 1, 2], whole: [1, 2] }, true],
  ['long after the issue began', { own: [0, 1, 2, 3, 4, 5], whole: [5] }, false],
  ['already over', { own: [9], whole: [0, 1], clear: [2, 3] }, false],
  ['only later', { own: [0], whole: [2] }, false],
  ['never', { own: [0], whole: [] }, false],
  ['recurring with the issue', { own: [9], whole: [0, 9], clear: [1, 2] }, true],
  ['before, but not when the issue recurred', { own: [0, 9], whole: [0], clear: [1, 2] }, false],
  ['when the issue recurred', { own: [0, 9], whole: [9], clear: [1, 2] }, true],
])('a drop in total traffic explains an issue or not: %s', (_, { own, whole: fell, clear = [] }, explained) => {
  const hours = [...new Set([...own, ...fell, ...clear])].toSorted((a, b) => a - b)
  for (const hour of hours) {
    hourTo(hour, automatic, fell.includes(hour) ? [whole] : [])
    hourTo(hour, volumeAlert, own.includes(hour) ? [findingOf({ subject: 'ga4', observed: 2, expected: 10 })] : [])
  }
  expect(explain(issueOf('alr_volume', 'ga4'))).toEqual(explained ? wholeIssue() : null)
})

test('a muted issue whose incident is over explains no other issue', () => {
  hourTo(0, automatic, [whole])
  setStatus(db, { orgId: 'org_a', by: 'usr_1', now: NOON }, wholeIssue().issueId, 'muted', () => {})
  for (const hour of [1, 2, 3]) hourTo(hour, automatic, [])
  hourTo(9, volumeAlert, [findingOf({ subject: 'ga4', observed: 2, expected: 10 })])
  expect(explain(issueOf('alr_volume', 'ga4'))).toBeNull()
})

describe('an hourly drop in total traffic', () => {
  test.each([
    ['1d', true],
    ['1h', false],
  ])("explains an issue only if the alert's period is one day: %s", (period, explained) => {
    hourTo(0, volumeAlert, [findingOf({ subject: 'ga4', observed: 2, expected: 10 })])
    hourTo(20, automatic, [whole])
    const issue = { ...issueOf('alr_volume', 'ga4'), lastSeenAt: NOON - HOUR_MS + DAY_MS - 1 }
    expect(explain(issue, alertOf({ ...volumeInput, volume: { op: 'lte', count: 10 }, period }))).toEqual(
      explained ? wholeIssue() : null,
    )
  })
})

describe('a drop in total traffic', () => {
  const fell = (values: Partial<IssueRecord>, rule: Alert | null = null) => {
    hourTo(0, automatic, [whole])
    hourTo(0, volumeAlert, [findingOf({ subject: 'ga4', observed: 10, expected: 10 })])
    return explain({ ...issueOf('alr_volume', 'ga4'), ...values }, rule)
  }

  test.each<[string, Partial<IssueRecord>, Alert | null]>([
    ['a rise', { evidence: findingOf({ observed: 11, expected: 10 }) }, null],
    ['a count at its upper bound', {}, alertOf(volumeInput)],
    [
      'an increase',
      { alertType: 'tag_volume_change' },
      alertOf({ ...volumeInput, alertType: 'tag_volume_change', volume: { direction: 'increase', percent: 5 } }),
    ],
    ['events that break a rule', { alertType: 'data_validation' }, null],
    ['failed sessions', { alertType: 'journey' }, null],
    ['an issue without a domain', { domainId: null }, null],
    ['an issue of another domain', { domainId: 'dom_other' }, null],
    ['an issue of another organization', { orgId: 'org_b' }, null],
  ])('does not explain %s', (_, values, rule) => {
    expect(fell(values, rule)).toBeNull()
    expect(fell({})).toEqual(wholeIssue())
  })

  test('does not explain itself', () => {
    hourTo(0, automatic, [whole])
    expect(explain(issueOf('alr_auto', ''))).toBeNull()
  })
})
