import { describe, expect, test } from 'bun:test'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../core/clock.ts'
import {
  evaluationOf,
  findingOf,
  issueOfAlert,
  NOON,
  outcomeOf,
  validationAlert,
  volumeAlert,
} from './issue.fixture.ts'
import { type IssueRecord, issueTitle } from './issue.ts'
import { type Evaluation, REOPEN_WITHIN_MS, reconcile } from './reconcile-issues.ts'

/** Every possible state of an issue at the time of an evaluation. */
const STATES: Record<string, Partial<IssueRecord> | null> = {
  none: null,
  open: { status: 'open' },
  'open, notified for this window': { status: 'open', firedWindowAt: NOON - HOUR_MS },
  'open, clear for a window': { status: 'open', firing: false, clearWindows: 1 },
  acknowledged: { status: 'acknowledged', statusBy: 'usr_1' },
  'acknowledged, clear for a window': { status: 'acknowledged', statusBy: 'usr_1', firing: false, clearWindows: 1 },
  muted: { status: 'muted', statusBy: 'usr_1' },
  'muted, clear for a window': { status: 'muted', statusBy: 'usr_1', firing: false, clearWindows: 1 },
  'resolved manually': { status: 'resolved', statusBy: 'usr_1', statusAt: NOON - 90 * MINUTE_MS },
  'resolved automatically': { status: 'resolved', statusBy: null, firing: false, statusAt: NOON - DAY_MS },
  'resolved 7 days ago': { status: 'resolved', statusAt: NOON - REOPEN_WITHIN_MS },
  'resolved more than 7 days ago': { status: 'resolved', statusAt: NOON - REOPEN_WITHIN_MS - 1 },
}
type State = keyof typeof STATES

const fires = [findingOf()]
const part = { from: NOON - HOUR_MS, to: NOON - MINUTE_MS, complete: false }
const early = [findingOf({ lastAt: NOON - 2 * MINUTE_MS })]

/** Columns: status, counted, history, notified. */
type Expected = [status: string, counted: number, history: string, notified: string]
const NOTHING: Expected = ['same', 0, '', '']
const ONLY_COUNTS: Expected = ['same', 3, '', '']
const OPENS: Expected = ['open', 3, 'opened', 'opened']
const REPEATS: Expected = ['same', 3, 'fired', 'repeated']
const COUNTS_AND_WRITES: Expected = ['same', 3, 'fired', '']
const REOPENS: Expected = ['open', 3, 'reopened', 'withdraw reopened']
const WAKES: Expected = ['open', 3, 'reopened', 'reopened']
const RESOLVES: Expected = ['resolved', 0, 'resolved', 'resolved']

const wholeFires: Record<State, Expected> = {
  none: OPENS,
  open: REPEATS,
  'open, notified for this window': ONLY_COUNTS,
  'open, clear for a window': REPEATS,
  acknowledged: COUNTS_AND_WRITES,
  'acknowledged, clear for a window': WAKES,
  muted: COUNTS_AND_WRITES,
  'muted, clear for a window': COUNTS_AND_WRITES,
  'resolved manually': REOPENS,
  'resolved automatically': REOPENS,
  'resolved 7 days ago': REOPENS,
  'resolved more than 7 days ago': OPENS,
}
const partFires: Record<State, Expected> = {
  ...wholeFires,
  open: ONLY_COUNTS,
  'open, clear for a window': ONLY_COUNTS,
  acknowledged: ONLY_COUNTS,
  muted: ONLY_COUNTS,
  'muted, clear for a window': ONLY_COUNTS,
}
const nothing = Object.fromEntries(Object.keys(STATES).map((state) => [state, NOTHING]))
const outsideCounts: Record<State, Expected> = Object.fromEntries(
  Object.keys(STATES).map((state) => [state, /none|resolved/.test(state) ? NOTHING : ONLY_COUNTS]),
)

/** Findings that continue or are explained leave the state unchanged and open no issue. */
const keeps = outsideCounts

const EVENTS: Record<
  string,
  { evaluation: Partial<Evaluation>; volume: Record<State, Expected>; validation: Record<State, Expected> }
> = {
  'a whole window fires': { evaluation: { findings: fires }, volume: wholeFires, validation: wholeFires },
  'part of a window fires': {
    evaluation: { findings: early, window: part },
    // A firing of a count is reported immediately, because a window has only one.
    volume: wholeFires,
    validation: partFires,
  },
  'an earlier finding continues': {
    evaluation: { findings: [findingOf({ continues: true })] },
    volume: keeps,
    validation: keeps,
  },
  'an earlier finding continues in part of a window': {
    evaluation: { findings: [findingOf({ continues: true, lastAt: NOON - 2 * MINUTE_MS })], window: part },
    volume: keeps,
    validation: keeps,
  },
  'the finding is explained': {
    evaluation: { findings: [findingOf({ explainedBy: '' })] },
    volume: keeps,
    validation: keeps,
  },
  'one of two findings is new': {
    evaluation: { findings: [findingOf({ occurrences: 1, continues: true }), findingOf({ occurrences: 2 })] },
    volume: wholeFires,
    validation: wholeFires,
  },
  'a window is clear': {
    evaluation: {},
    volume: {
      ...nothing,
      'open, clear for a window': RESOLVES,
      'acknowledged, clear for a window': RESOLVES,
    },
    validation: nothing,
  },
  'part of a window is clear': { evaluation: { window: part }, volume: nothing, validation: nothing },
  'a window fires outside the run windows': {
    evaluation: { findings: fires, inRunWindow: false },
    volume: nothing,
    validation: outsideCounts,
  },
  'a window is clear outside the run windows': {
    evaluation: { inRunWindow: false },
    volume: nothing,
    validation: nothing,
  },
}

describe.each(Object.entries(EVENTS))('when %s', (_, { evaluation, volume, validation }) => {
  for (const [alert, table] of [
    [volumeAlert, volume],
    [validationAlert, validation],
  ] as const) {
    test.each(Object.entries(STATES))(`updates the issue of a ${alert.alertType} alert: %s`, (state, values) => {
      const issues = values ? [issueOfAlert(alert, values)] : []
      const { status, counted, history, notified } = outcomeOf(
        reconcile(evaluationOf({ alert, issues, ...evaluation })),
      )
      expect([status, counted, history, notified]).toEqual(table[state] ?? [])
    })
  }
})

describe('the state stored by an evaluation', () => {
  const clearing = (values: Partial<IssueRecord>, evaluation: Partial<Evaluation> = {}) =>
    reconcile(evaluationOf({ issues: [issueOfAlert(volumeAlert, values)], ...evaluation }))

  test.each([
    ['the first clear window', { firing: true, clearWindows: 0 }, { firing: false, clearWindows: 1 }],
    [
      'the second clear window of a muted issue',
      { status: 'muted', firing: false, clearWindows: 1 },
      { firing: false, clearWindows: 2 },
    ],
  ] as const)('is updated by %s', (_, values, expected) => {
    expect(clearing(values)).toEqual([{ kind: 'update', issueId: 'iss_1', values: expected }])
  })

  test('is not written for later clear windows of a muted issue', () => {
    expect(clearing({ status: 'muted', firing: false, clearWindows: 2 })).toEqual([])
  })

  test('is firing after a finding, with the current settings of the alert', () => {
    const alert = { ...volumeAlert, name: 'Sales are reported', severity: 'critical' as const, impactValue: null }
    const [update] = clearing({ firing: false, clearWindows: 1, title: 'stays' }, { alert, findings: fires })
    expect(update).toMatchObject({
      values: {
        alertName: 'Sales are reported',
        severity: 'critical',
        impactValue: null,
        firing: true,
        clearWindows: 0,
      },
    })
    expect(update).not.toHaveProperty('values.title')
  })

  test.each([{ continues: true as const }, { explainedBy: '' }])(
    'includes a finding with %j as evidence, without marking the issue as firing',
    (marks) => {
      const acknowledged = { status: 'acknowledged', firing: false, clearWindows: 1 } as const
      const [update] = clearing(acknowledged, { findings: [findingOf(marks)] })
      expect(update).toMatchObject({ values: { clearWindows: 0, evidence: marks } })
      expect(update).not.toHaveProperty('values.firing')
    },
  )

  test('does not move lastSeenAt back for a session that began before the latest finding', () => {
    const [update] = clearing({ lastSeenAt: NOON - 10 }, { findings: [findingOf({ lastAt: NOON - 20 })] })
    expect(update).toMatchObject({ values: { lastSeenAt: NOON - 10 } })
  })
})

describe('a window that was already evaluated in parts', () => {
  const window = { from: NOON - MINUTE_MS, to: NOON, complete: true }
  const evaluation = { alert: validationAlert, window, windowStartAt: NOON - HOUR_MS }
  const inThisWindow = NOON - 30 * MINUTE_MS
  const inTheLast = NOON - 61 * MINUTE_MS

  test.each([
    [
      'sends a notification at its end if it fired early and then stopped',
      { lastSeenAt: inThisWindow },
      'repeated',
      'fired',
    ],
    [
      'sends no notification if it fired early and opened the issue',
      { lastSeenAt: inThisWindow, firedWindowAt: NOON - HOUR_MS },
      '',
      '',
    ],
    [
      'sends no notification if it fired early for an acknowledged issue',
      { status: 'acknowledged', lastSeenAt: inThisWindow },
      '',
      'fired',
    ],
    ['sends no notification if the violation was in the previous window', { lastSeenAt: inTheLast }, '', ''],
    [
      'sends no notification if the early violation was outside the run windows',
      { lastSeenAt: inThisWindow, firing: false },
      '',
      '',
    ],
  ] as const)('%s', (_, values, notified, history) => {
    const issue = issueOfAlert(validationAlert, values)
    const outcome = outcomeOf(reconcile(evaluationOf({ ...evaluation, issues: [issue] })))
    expect(outcome).toEqual({ status: 'same', counted: 0, notified, history })
  })

  test.each([
    ['was already counted and reported', { lastSeenAt: inThisWindow, firedWindowAt: NOON - HOUR_MS }, {}, 0, '', ''],
    ['continued an earlier deviation and is now a new one', { lastSeenAt: inThisWindow }, {}, 0, 'repeated', 'fired'],
    [
      'continues an earlier deviation and is counted for the first time',
      { lastSeenAt: inTheLast },
      { continues: true },
      3,
      '',
      '',
    ],
  ] as const)('handles a count that %s', (_, values, marks, counted, notified, history) => {
    const issue = issueOfAlert(volumeAlert, values)
    const findings = [findingOf(marks)]
    const outcome = outcomeOf(reconcile(evaluationOf({ ...evaluation, alert: volumeAlert, findings, issues: [issue] })))
    expect(outcome).toEqual({ status: 'same', counted, notified, history })
  })

  test.each([true, false])('of a count is not clear if an earlier part fired (firing: %p)', (firing) => {
    const issue = issueOfAlert(volumeAlert, { lastSeenAt: inThisWindow, firing, clearWindows: 1 })
    expect(reconcile(evaluationOf({ ...evaluation, alert: volumeAlert, issues: [issue] }))).toEqual([])
  })

  test('has an exclusive end: a volume finding at the end is dated before the next window', () => {
    const first = reconcile(evaluationOf({ findings: [findingOf({ lastAt: NOON })] }))
    const opened = first.find((change) => change.kind === 'open')
    expect(opened?.issue.lastSeenAt).toBe(NOON - 1)
  })
})

describe('validation and journey issues', () => {
  test.each([
    ['period of 1 h, after a day', HOUR_MS, 24 * HOUR_MS, {}, 'resolved'],
    ['period of 1 h, after almost a day', HOUR_MS, 24 * HOUR_MS - 1, {}, 'same'],
    ['period of 1 d, after three days', DAY_MS, 3 * DAY_MS, {}, 'resolved'],
    ['period of 1 d, after almost three days', DAY_MS, 3 * DAY_MS - 1, {}, 'same'],
    ['acknowledged', HOUR_MS, DAY_MS, { status: 'acknowledged', statusBy: 'usr_1', statusAt: NOON - 1 }, 'resolved'],
    ['never when muted', HOUR_MS, 30 * DAY_MS, { status: 'muted' }, 'same'],
    ['opened manually just now', HOUR_MS, 3 * DAY_MS, { statusBy: 'usr_1', statusAt: NOON - HOUR_MS }, 'same'],
    ['opened manually a day ago', HOUR_MS, 3 * DAY_MS, { statusBy: 'usr_1', statusAt: NOON - DAY_MS }, 'resolved'],
  ] as const)('are resolved only after a period without findings: %s', (_, periodMs, silentMs, values, expected) => {
    for (const alertType of ['data_validation', 'journey'] as const) {
      const alert = { ...validationAlert, alertType, periodMs }
      const issue = issueOfAlert(alert, { lastSeenAt: NOON - silentMs, ...values })
      const outcome = outcomeOf(reconcile(evaluationOf({ alert, issues: [issue] })))
      expect(outcome.status).toBe(expected)
      expect(outcome.notified).toBe(expected === 'resolved' ? 'resolved' : '')
    }
  })
})

test('the history says since when there has been no violation, in the time zone of the organization', () => {
  const alert = { ...validationAlert, periodMs: HOUR_MS }
  const issue = issueOfAlert(alert, { lastSeenAt: NOON - 2 * DAY_MS })
  const [, entry] = reconcile(evaluationOf({ alert, issues: [issue], timezone: 'Europe/Berlin' }))
  expect(entry).toMatchObject({ payload: { reason: 'no violation since 30 Mar 2026, 14:00 CEST' } })
})

describe('an issue that is muted on one host', () => {
  const muted = { status: 'muted', statusBy: 'usr_1', mutedHosts: ['old.example'], mutedUntil: NOON + DAY_MS } as const
  const reopened = { ...muted, status: 'open', statusBy: null } as const
  const resolved = { ...muted, status: 'resolved', statusBy: null } as const
  test.each([
    ['counts the muted host', muted, ['old.example'], COUNTS_AND_WRITES],
    ['reopens on another host', muted, ['new.example'], WAKES],
    ['reopens on another host in addition to the muted one', muted, ['old.example', 'new.example'], WAKES],
    ['reopens on events without a host', muted, [], WAKES],
    ['ignores another host before the mute', { ...muted, statusAt: NOON + 1 }, ['new.example'], ['same', 3, '', '']],
    ['counts the muted host while open', reopened, ['old.example'], ONLY_COUNTS],
    ['repeats the notification for another host', reopened, ['new.example'], REPEATS],
    ['counts the muted host while acknowledged', { ...reopened, status: 'acknowledged' }, ['old.example'], ONLY_COUNTS],
    ['counts the muted host while resolved', resolved, ['old.example'], ONLY_COUNTS],
    ['counts the muted host long after', { ...resolved, statusAt: NOON - 9 * DAY_MS }, ['old.example'], ONLY_COUNTS],
    ['reopens long after', { ...resolved, statusAt: NOON - 9 * DAY_MS }, ['new.example'], REOPENS],
  ] as const)('%s', (_, values, hosts, expected) => {
    const issues = [issueOfAlert(validationAlert, { ...values, mutedHosts: [...values.mutedHosts] })]
    const findings = [findingOf({ hosts: [...hosts] })]
    const changes = reconcile(evaluationOf({ alert: validationAlert, issues, findings }))
    const { status, counted, history, notified } = outcomeOf(changes)
    expect([status, counted, history, notified]).toEqual([...expected])
    // The muted host stays muted until the time is over.
    for (const change of changes) expect(change).not.toHaveProperty('values.mutedHosts')
  })
})

describe('findings from before a resolution', () => {
  const statusAt = NOON - 30 * MINUTE_MS
  const resolved = { status: 'resolved', statusBy: 'usr_1', statusAt } as const
  const journeyAlert = { ...validationAlert, alertType: 'journey' as const }

  test.each([
    ['a violation before the resolution is only counted', validationAlert, resolved, statusAt - 1, 'same'],
    ['a violation at the time of the resolution reopens the issue', validationAlert, resolved, statusAt, 'open'],
    ['a session before the resolution is only counted', journeyAlert, resolved, statusAt - 1, 'same'],
    ['a count applies to its whole window', volumeAlert, resolved, statusAt - 1, 'open'],
    [
      'any violation reopens an issue that was resolved automatically',
      validationAlert,
      { ...resolved, statusBy: null },
      statusAt - 1,
      'open',
    ],
  ] as const)('%s', (_, alert, values, lastAt, expected) => {
    const issues = [issueOfAlert(alert, values)]
    const outcome = outcomeOf(reconcile(evaluationOf({ alert, issues, findings: [findingOf({ lastAt })] })))
    expect(outcome.status).toBe(expected)
    expect(outcome.counted).toBe(3)
  })

  test('are only counted if their volume window ended before the resolution', () => {
    const window = { from: NOON - 2 * HOUR_MS, to: NOON - HOUR_MS, complete: true }
    const issues = [issueOfAlert(volumeAlert, resolved)]
    expect(outcomeOf(reconcile(evaluationOf({ issues, findings: fires, window }))).status).toBe('same')
  })
})

describe('findings', () => {
  test('with the same domain and subject are grouped into one issue', () => {
    const findings = [
      findingOf({ occurrences: 2, lastAt: NOON - 5, hosts: ['a.example'], summary: 'earlier' }),
      findingOf({ occurrences: 5, firstAt: NOON - 9, hosts: ['b.example', 'a.example'], summary: 'later' }),
      findingOf({ domainId: null }),
      findingOf({ subject: 'ga4 add_to_cart' }),
    ]
    const changes = reconcile(evaluationOf({ findings }))
    const opened = changes.filter((change) => change.kind === 'open').map((change) => change.issue)
    expect(opened).toHaveLength(3)
    expect(new Set(opened.map((issue) => issue.id)).size).toBe(3)
    expect(opened[0]).toMatchObject({ firstSeenAt: NOON - HOUR_MS, hosts: ['b.example', 'a.example'] })
    expect(opened[0]?.evidence).toMatchObject({ occurrences: 7, summary: 'later' })
  })

  test.each([
    ['on the day of the latest violation', NOON, 3, '2026-04-01', 3],
    ['on the day that ends at midnight', Date.UTC(2026, 3, 2), 3, '2026-04-01', 3],
    ['rounded to whole numbers', NOON, 3.4, '2026-04-01', 3],
    ['at least once per finding', NOON, 0.2, '2026-04-01', 1],
  ] as const)('are counted: %s', (_, to, occurrences, day, count) => {
    const findings = [findingOf({ occurrences, lastAt: to })]
    const changes = reconcile(evaluationOf({ findings, window: { from: to - HOUR_MS, to, complete: true } }))
    expect(changes.find((change) => change.kind === 'count')).toMatchObject({ day, count })
  })

  test.each([
    ['new hosts come first if they have more occurrences', 5, ['new', 'both'], ['both', 'old'], ['new', 'both', 'old']],
    ['new hosts come last if they have fewer occurrences', 4, ['new', 'both'], ['both', 'old'], ['both', 'old', 'new']],
    ['the first hosts', 5, ['new'], null, ['new']],
    [
      'at most twenty',
      5,
      Array.from({ length: 15 }, (_, i) => `n${i}`),
      Array.from({ length: 15 }, (_, i) => `o${i}`),
      null,
    ],
  ] as const)('update the list of hosts: %s', (_, occurrences, hosts, before, expected) => {
    const issues = [issueOfAlert(volumeAlert, { hosts: before && [...before] })]
    const [update] = reconcile(evaluationOf({ issues, findings: [findingOf({ occurrences, hosts: [...hosts] })] }))
    const merged = update?.kind === 'update' ? update.values.hosts : null
    if (expected) expect(merged).toEqual([...expected])
    else expect(merged).toHaveLength(20)
  })
})

describe('the evidence of a window evaluated in parts', () => {
  const before = findingOf({
    occurrences: 12,
    observed: 12,
    total: 300,
    did: 'had no `value`',
    hosts: ['a.example'],
  })
  const now = findingOf({ occurrences: 3, observed: 3, total: 340, did: 'had no `value`', hosts: ['b.example'] })
  const evidenceOf = (issue: Partial<IssueRecord>, finding = now, values: Partial<Evaluation> = {}) => {
    const issues = [issueOfAlert(validationAlert, { evidence: before, lastSeenAt: NOON - 30 * MINUTE_MS, ...issue })]
    const changes = reconcile(evaluationOf({ alert: validationAlert, issues, findings: [finding], ...values }))
    const update = changes.find(({ kind }) => kind === 'update')
    const notice = changes.find((change) => change.kind === 'history')?.notice ?? null
    expect(changes.filter(({ kind }) => kind === 'count')).toMatchObject([{ count: finding.occurrences }])
    return { evidence: update?.kind === 'update' ? update.values.evidence : null, notice }
  }
  test('is the sum of its parts, including in the notification', () => {
    const { evidence, notice } = evidenceOf({})
    const expected = { occurrences: 15, observed: 15, total: 340, hosts: ['b.example', 'a.example'] }
    expect(evidence).toMatchObject({
      ...expected,
      summary: '15 of 340 purchase events had no `value`; expected none',
    })
    expect(notice?.finding).toEqual(evidence ?? null)
  })

  test.each<[string, Partial<IssueRecord>, Partial<Evaluation>]>([
    ['from an earlier window is omitted', { lastSeenAt: NOON - HOUR_MS - 1 }, {}],
    ['of a count is from the latest part', {}, { alert: volumeAlert }],
    ['from before a resolution is omitted', { status: 'resolved', statusAt: NOON - 20 * MINUTE_MS }, {}],
    ['that was not stored is omitted', { evidence: null }, {}],
  ])('covers only the current part: evidence %s', (_, issue, values) => {
    const alert = values.alert ?? validationAlert
    const issues = [issueOfAlert(alert, { evidence: before, lastSeenAt: NOON - 30 * MINUTE_MS, ...issue })]
    const changes = reconcile(evaluationOf({ alert, issues, findings: [now], ...values }))
    const update = changes.find(({ kind }) => kind === 'update')
    expect(update?.kind === 'update' ? update.values.evidence : null).toEqual(now)
  })

  test('includes the vendor and event only if all parts agree', () => {
    const { evidence } = evidenceOf({}, { ...now, event: 'refund' })
    expect(evidence).toMatchObject({ vendor: 'ga4', event: null })
    expect(evidence?.summary).toStartWith('15 of 340 events ')
  })
})

describe('issue titles', () => {
  test.each([
    ['data_validation', {}, 'Purchase has a value: ga4 purchase events break the rule on shop.example'],
    ['data_validation', { vendor: null, event: null, hosts: [] }, 'Purchase has a value: events break the rule'],
    [
      'data_validation',
      { hosts: ['a.example', 'b.example', 'c.example'] },
      'Purchase has a value: ga4 purchase events break the rule on a.example and 2 more hosts',
    ],
    [
      'journey',
      { vendor: null, event: null, hosts: ['a.example', 'b.example'] },
      'Purchase has a value: sessions do not follow the journey on a.example and 1 more host',
    ],
    [
      'volume_threshold',
      { summary: '0 events, expected at least 10' },
      'Purchase has a value (ga4 purchase): 0 events, expected at least 10',
    ],
    ['volume_anomaly', { vendor: null, event: '', summary: 'far fewer' }, 'Purchase has a value: far fewer'],
  ] as const)('describe the alert and the finding: %s %j', (alertType, values, expected) => {
    const finding = findingOf({ ...values, hosts: [...('hosts' in values ? values.hosts : ['shop.example'])] })
    expect(issueTitle({ name: validationAlert.name, alertType }, finding)).toBe(expected)
  })

  test('are limited to 300 characters', () => {
    const title = issueTitle({ ...volumeAlert, name: 'n'.repeat(200) }, findingOf({ summary: 's'.repeat(500) }))
    expect(title).toHaveLength(300)
    expect(title.endsWith('s…')).toBe(true)
  })

  test('are never cut within a character', () => {
    const name = `${'x'.repeat(298)}😀😀`
    expect(issueTitle({ name, alertType: 'data_validation' }, findingOf())).toBe(`${'x'.repeat(298)}…`)
  })
})
