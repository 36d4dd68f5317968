import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DAY_MS, HOUR_MS } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { openDatabase } from '../store/database.ts'
import {
  databaseWithOrgs,
  evaluationOf,
  findingOf,
  issueOfAlert,
  NOON,
  validationAlert,
  volumeAlert,
} from './issue.fixture.ts'
import type { NotificationRequest } from './issue.ts'
import { REOPEN_WITHIN_MS, reconcile } from './reconcile-issues.ts'
import { changeIssues, patchIssue } from './routes.ts'
import {
  addHistory,
  applyChanges,
  applyFindings,
  findIssue,
  issueFacts,
  issueHistory,
  issueRecord,
  issuesOfAlert,
  setStatus,
  unmuteDue,
} from './store.ts'

const folder = mkdtempSync(join(tmpdir(), 'issues-'))
afterAll(() => rmSync(folder, { recursive: true }))

const ignore = () => {}
const hand = { orgId: 'org_a', by: 'usr_1', now: NOON + 1 }

function opened(values: Parameters<typeof evaluationOf>[0] = {}) {
  const db = databaseWithOrgs()
  const orders: NotificationRequest[] = []
  const enqueue = (order: NotificationRequest) => void orders.push(order)
  applyFindings(db, evaluationOf({ findings: [findingOf()], ...values }), enqueue)
  const id = issuesOfAlert(db, values.alert?.id ?? volumeAlert.id, NOON)[0]?.id ?? ''
  return { db, orders, enqueue, id }
}

test('a finding is stored as an issue and read back unchanged', () => {
  const { db, orders, id } = opened()
  const expected = issueOfAlert(volumeAlert, {
    id,
    title: 'Purchase volume (ga4 purchase): 3 events broke the rule',
    occurrences: 3,
    notificationsSent: 0,
    firstSeenAt: NOON - HOUR_MS,
    lastSeenAt: NOON - 1,
    statusAt: NOON,
    firedWindowAt: NOON - HOUR_MS,
    hosts: ['shop.example'],
    evidence: findingOf(),
  })
  expect(issueRecord(db, 'org_a', id)).toEqual(expected)
  const payload = { summary: '3 events broke the rule', occurrences: 3, observed: 3, expected: 0 }
  expect(findIssue(db, 'org_a', id)).toMatchObject({
    domainId: 'dom_shop',
    domain: 'Shop',
    occurrenceSeries: [{ day: '2026-04-01', count: 3 }],
    history: [{ kind: 'opened', payload, createdAt: NOON }],
  })
  const notice = { transition: 'opened', finding: findingOf(), delayMs: 0 } as const
  expect(orders).toEqual([{ kind: 'notify', issueId: id, historySeq: 1, at: NOON, ...notice }])
})

test('a window that is evaluated again is reported once', () => {
  const { db, orders, enqueue, id } = opened()
  const window = { from: NOON, to: NOON + HOUR_MS, complete: true }
  for (let n = 0; n < 2; n++)
    applyFindings(db, evaluationOf({ findings: [findingOf()], window, now: NOON + HOUR_MS }), enqueue)
  expect(orders.map((order) => order.kind === 'notify' && order.transition)).toEqual(['opened', 'repeated'])
  expect(issueHistory(db, id).map((entry) => entry.kind)).toEqual(['opened', 'fired'])
})

test('message facts include the number of open issues in the organization', () => {
  const { db, enqueue, id } = opened()
  applyFindings(db, evaluationOf({ findings: [findingOf({ subject: 'b', domainId: null })] }), enqueue)
  applyFindings(
    db,
    evaluationOf({ alert: { ...volumeAlert, id: 'alr_b', orgId: 'org_b' }, findings: [findingOf()] }),
    enqueue,
  )
  expect(issueFacts(db, id)).toEqual({ issue: issueRecord(db, 'org_a', id), domain: 'Shop', openNow: 2 })
  db.prepare('DELETE FROM domain').run()
  setStatus(db, hand, id, 'resolved', enqueue)
  expect(issueFacts(db, id)).toMatchObject({ domain: null, openNow: 1 })
  expect(issueFacts(db, 'iss_none')).toBeNull()
})

describe('the current issue of an alert', () => {
  test.each([
    ['the unresolved one', 'open', NOON - 2 * DAY_MS, 'open'],
    ['otherwise the most recently resolved one', 'resolved', NOON - DAY_MS, 'later'],
    ['never one resolved long ago', 'resolved', NOON - REOPEN_WITHIN_MS - 1, 'later'],
  ] as const)('is selected from several: %s', (_, status, statusAt, expected) => {
    const db = databaseWithOrgs()
    const issues = [
      issueOfAlert(volumeAlert, { id: 'open', status, statusAt }),
      issueOfAlert(volumeAlert, { id: 'later', status: 'resolved', statusAt: NOON - HOUR_MS }),
      issueOfAlert(volumeAlert, { id: 'other alert', alertId: 'alr_x' }),
    ]
    applyChanges(
      db,
      issues.map((issue) => ({ kind: 'open', issue })),
      ignore,
    )
    expect(issuesOfAlert(db, volumeAlert.id, NOON).map((issue) => issue.id)).toEqual([expected])
  })

  test('can be a resolved one only within the reopening period', () => {
    const { db, id } = opened()
    setStatus(db, { ...hand, now: NOON }, id, 'resolved', ignore)
    const found = (now: number) => issuesOfAlert(db, volumeAlert.id, now).length
    expect([found(NOON + REOPEN_WITHIN_MS), found(NOON + REOPEN_WITHIN_MS + 1)]).toEqual([1, 0])
  })

  test.each(['open', 'muted'] as const)('prevents the resolved issue that it replaced from becoming %s', (to) => {
    const { db, id, enqueue } = opened()
    setStatus(db, hand, id, 'resolved', enqueue)
    const later = NOON + 8 * DAY_MS
    const window = { from: later - HOUR_MS, to: later, complete: true }
    applyFindings(db, evaluationOf({ findings: [findingOf()], window, now: later }), enqueue)
    const rival = issuesOfAlert(db, volumeAlert.id, later)[0]?.id
    expect(rival).not.toBe(id)
    expect(() => setStatus(db, hand, id, to, enqueue)).toThrow(
      new AppError('conflict', `status: this issue was replaced by issue ${rival}; update that issue instead`),
    )
    setStatus(db, hand, id, 'resolved', enqueue)
  })
})

describe('manual changes', () => {
  test('apply notes and status together or not at all', () => {
    const { db, enqueue, id } = opened()
    const detail = patchIssue(db, hand, id, { status: 'muted', notes: 'known' }, enqueue)
    expect(detail).toMatchObject({ status: 'muted', notes: 'known' })
    expect(detail.history.slice(1)).toEqual([
      { kind: 'note', payload: { by: 'usr_1', text: 'known' }, createdAt: hand.now },
      { kind: 'muted', payload: { by: 'usr_1', from: 'open' }, createdAt: hand.now },
    ])
    const refused = () => patchIssue(db, hand, id, { status: 'acknowledged', notes: 'lost' }, enqueue)
    expect(refused).toThrow(AppError)
    expect(findIssue(db, 'org_a', id)).toEqual(detail)
  })

  test('can mute an issue until a time, at which it reopens automatically, once', () => {
    const { db, orders, enqueue, id } = opened()
    const mutedUntil = hand.now + HOUR_MS
    const detail = patchIssue(db, hand, id, { status: 'muted', mutedUntil }, enqueue)
    expect(detail).toMatchObject({ status: 'muted', mutedUntil })
    const told = orders.length
    unmuteDue(db, mutedUntil - 1, enqueue)
    expect(findIssue(db, 'org_a', id)).toEqual(detail)
    for (const now of [mutedUntil + 5, mutedUntil + 6]) unmuteDue(db, now, enqueue)
    const { history, ...after } = findIssue(db, 'org_a', id)
    expect(after).toMatchObject({ status: 'open' })
    expect(after).not.toHaveProperty('mutedUntil')
    expect(history.slice(1)).toEqual([
      { kind: 'muted', payload: { by: 'usr_1', from: 'open', until: mutedUntil }, createdAt: hand.now },
      { kind: 'unmuted', payload: { by: 'time' }, createdAt: mutedUntil + 5 },
    ])
    expect(issueRecord(db, 'org_a', id)).toMatchObject({ statusBy: null, statusAt: mutedUntil + 5, mutedUntil: null })
    expect(orders).toHaveLength(told)
  })

  test('can mute hosts with a reason, which stay muted when another host reopens the issue', () => {
    const { db, orders, enqueue, id } = opened()
    const mutedUntil = hand.now + HOUR_MS
    const mute = { mutedUntil, muteReason: ' Rebuilt on Monday ', mutedHosts: ['Old.Example.', 'old.example'] }
    const detail = patchIssue(db, hand, id, { status: 'muted', ...mute }, enqueue)
    const shown = { mutedUntil, muteReason: 'Rebuilt on Monday', mutedHosts: ['old.example'] }
    expect(detail).toMatchObject({ status: 'muted', ...shown })
    expect(detail.history.at(-1)?.payload).toEqual({
      by: 'usr_1',
      from: 'open',
      until: mutedUntil,
      reason: 'Rebuilt on Monday',
      hosts: ['old.example'],
    })
    const fire = (now: number, host: string) => {
      const window = { from: now - HOUR_MS, to: now, complete: true }
      applyFindings(db, evaluationOf({ findings: [findingOf({ hosts: [host] })], window, now }), enqueue)
    }
    fire(hand.now + HOUR_MS / 2, 'old.example')
    expect(findIssue(db, 'org_a', id).status).toBe('muted')
    fire(hand.now + HOUR_MS / 2, 'new.example')
    expect(orders.at(-1)).toMatchObject({ kind: 'notify', transition: 'reopened' })
    expect(findIssue(db, 'org_a', id)).toMatchObject({ status: 'open', ...shown })
    const { length } = orders
    unmuteDue(db, mutedUntil, enqueue)
    const after = findIssue(db, 'org_a', id)
    expect(after.status).toBe('open')
    for (const name of Object.keys(shown)) expect(after).not.toHaveProperty(name)
    expect(after.history.at(-1)).toMatchObject({ kind: 'unmuted', payload: { by: 'time', hosts: ['old.example'] } })
    expect(orders).toHaveLength(length)
    fire(mutedUntil + HOUR_MS, 'old.example')
    expect(orders.at(-1)).toMatchObject({ kind: 'notify', transition: 'repeated' })
  })

  test('end the muting of hosts of an open issue, but not of a muted one', () => {
    const { db, enqueue, id } = opened()
    patchIssue(db, hand, id, { status: 'muted', mutedHosts: ['old.example'] }, enqueue)
    const end = () => patchIssue(db, hand, id, { mutedHosts: [] }, enqueue)
    expect(end()).toMatchObject({ status: 'muted', mutedHosts: ['old.example'] })
    const now = NOON + HOUR_MS
    const window = { from: NOON, to: now, complete: true }
    applyFindings(db, evaluationOf({ findings: [findingOf({ hosts: ['new.example'] })], window, now }), enqueue)
    const ended = end()
    expect(ended).not.toHaveProperty('mutedHosts')
    expect(ended.history.at(-1)).toMatchObject({ kind: 'unmuted', payload: { by: 'usr_1', hosts: ['old.example'] } })
    expect(end().history).toHaveLength(ended.history.length)
  })

  test.each(['open', 'resolved'] as const)('from muted to %s end the muting of hosts', (status) => {
    const { db, enqueue, id } = opened()
    patchIssue(db, hand, id, { status: 'muted', mutedHosts: ['old.example'], muteReason: 'old' }, enqueue)
    const detail = patchIssue(db, hand, id, { status }, enqueue)
    expect(detail).not.toHaveProperty('mutedHosts')
    expect(detail).not.toHaveProperty('muteReason')
  })

  test('can mute the whole issue while some of its hosts are muted', () => {
    const { db, enqueue, id } = opened()
    patchIssue(db, hand, id, { status: 'muted', mutedHosts: ['old.example'] }, enqueue)
    const now = NOON + HOUR_MS
    const window = { from: NOON, to: now, complete: true }
    applyFindings(db, evaluationOf({ findings: [findingOf({ hosts: ['new.example'] })], window, now }), enqueue)
    setStatus(db, hand, id, 'acknowledged', enqueue)
    expect(findIssue(db, 'org_a', id)).toMatchObject({ status: 'acknowledged', mutedHosts: ['old.example'] })
    setStatus(db, hand, id, 'muted', enqueue)
    expect(findIssue(db, 'org_a', id)).not.toHaveProperty('mutedHosts')
  })

  test('can mute no hosts of an issue without hosts', () => {
    const { db, enqueue, id } = opened()
    db.prepare('UPDATE issue SET hosts = NULL').run()
    const mute = () => patchIssue(db, hand, id, { status: 'muted', mutedHosts: ['old.example'] }, enqueue)
    expect(mute).toThrow(
      new AppError('invalid', 'mutedHosts: the issue has no hosts; omit this field to mute the whole issue'),
    )
  })

  test('that mute a resolved and notified issue cause another notification when it reopens', () => {
    const { db, orders, enqueue, id } = opened()
    setStatus(db, hand, id, 'resolved', enqueue)
    const muting = { ...hand, now: hand.now + HOUR_MS }
    patchIssue(db, muting, id, { status: 'muted', mutedUntil: muting.now + HOUR_MS }, enqueue)
    unmuteDue(db, muting.now + HOUR_MS, enqueue)
    expect(orders.at(-1)).toMatchObject({ kind: 'notify', transition: 'reopened' })
  })

  test.each([
    ['another time', { status: 'muted', mutedUntil: 2 }, 2, ['muted']],
    ['the same time', { status: 'muted', mutedUntil: 1 }, 1, []],
    ['permanently', { status: 'muted', mutedUntil: null }, undefined, ['muted']],
    ['permanently by default', { status: 'muted' }, undefined, ['muted']],
    ['unmuted', { status: 'open' }, undefined, ['unmuted']],
    ['resolved', { status: 'resolved' }, undefined, ['resolved']],
    ['only a note', { notes: 'wait' }, 1, ['note']],
  ] as const)('can update a temporarily muted issue: %s', (_, patch, hours, kinds) => {
    const { db, enqueue, id } = opened()
    const at = (hours: number) => hand.now + hours * HOUR_MS
    const before = patchIssue(db, hand, id, { status: 'muted', mutedUntil: at(1) }, enqueue)
    const timed = 'mutedUntil' in patch && patch.mutedUntil !== null ? { mutedUntil: at(patch.mutedUntil) } : {}
    const after = patchIssue(db, hand, id, { ...patch, ...timed }, enqueue)
    expect(after.mutedUntil).toBe(hours === undefined ? undefined : at(hours))
    expect(after.history.slice(before.history.length).map(({ kind }) => kind)).toEqual([...kinds])
    unmuteDue(db, at(3), enqueue)
    const waits = after.mutedUntil !== undefined
    expect(findIssue(db, 'org_a', id).status).toBe(waits ? 'open' : after.status)
  })

  test('through another tool do not affect the end of an existing mute', () => {
    const { db, enqueue, id } = opened()
    const detail = patchIssue(db, hand, id, { status: 'muted', mutedUntil: hand.now + HOUR_MS }, enqueue)
    setStatus(db, hand, id, 'muted', enqueue)
    expect(findIssue(db, 'org_a', id)).toEqual(detail)
  })

  test.each([
    [{ status: 'muted', mutedUntil: 0 }, 'mutedUntil: must be in the future'],
    [{ status: 'muted', mutedUntil: 366 * DAY_MS + 1 }, 'mutedUntil: must be at most 366 days ahead'],
    [{ status: 'open', mutedUntil: 1 }, 'mutedUntil: requires `status: "muted"`'],
    [{ mutedUntil: 1 }, 'mutedUntil: requires `status: "muted"`'],
  ] as const)('are rejected: %j', (patch, message) => {
    const { db, enqueue, id } = opened()
    const before = findIssue(db, 'org_a', id)
    const wrong = { ...patch, mutedUntil: hand.now + patch.mutedUntil }
    expect(() => patchIssue(db, hand, id, wrong, enqueue)).toThrow(new AppError('invalid', message))
    expect(findIssue(db, 'org_a', id)).toEqual(before)
  })

  test("of another organization's issue are rejected as not found", () => {
    const { db, enqueue, id } = opened()
    const stranger = { ...hand, orgId: 'org_b' }
    const missing = new AppError('notFound', `id: issue ${id} does not exist`)
    expect(() => findIssue(db, 'org_b', id)).toThrow(missing)
    expect(() => patchIssue(db, stranger, id, { notes: 'x' }, enqueue)).toThrow(missing)
    expect(changeIssues(db, stranger, { ids: [id], status: 'resolved' }, enqueue).failed).toBe(1)
    expect(findIssue(db, 'org_a', id)).toMatchObject({ status: 'open', notes: null })
  })

  test('in bulk apply to valid issues even if others fail', () => {
    const { db, orders, enqueue, id } = opened()
    applyFindings(db, evaluationOf({ findings: [findingOf({ subject: 'b' })] }), enqueue)
    const other = issuesOfAlert(db, volumeAlert.id, NOON).find((issue) => issue.id !== id)?.id ?? ''
    setStatus(db, hand, other, 'muted', enqueue)
    const result = changeIssues(db, hand, { ids: ['iss_none', id, other, id], status: 'acknowledged' }, enqueue)
    expect(result).toEqual({
      updated: 2,
      failed: 2,
      errors: [
        { index: 0, error: 'id: issue iss_none does not exist' },
        { index: 2, error: 'status: a muted issue cannot become acknowledged; open it first' },
      ],
    })
    expect([id, other].map((issueId) => issueRecord(db, 'org_a', issueId).status)).toEqual(['acknowledged', 'muted'])
    expect(orders.filter((order) => order.kind === 'notify')).toHaveLength(2)
  })

  test('are rolled back if the outbox fails', () => {
    const { db, id } = opened()
    const before = findIssue(db, 'org_a', id)
    const full = () => {
      throw new Error('disk full')
    }
    expect(() => changeIssues(db, hand, { ids: [id], status: 'resolved' }, full)).toThrow('disk full')
    expect(() => applyFindings(db, evaluationOf({ findings: [findingOf({ subject: 'b' })] }), full)).toThrow(
      'disk full',
    )
    expect(findIssue(db, 'org_a', id)).toEqual(before)
    expect(issuesOfAlert(db, volumeAlert.id, NOON)).toHaveLength(1)
  })
})

test('the history contains the 500 most recent entries, oldest first', () => {
  const { db, id } = opened()
  for (let at = 1; at <= 600; at++) addHistory(db, id, 'note', null, at)
  const history = issueHistory(db, id)
  expect(history.map((entry) => entry.createdAt)).toEqual(Array.from({ length: 500 }, (_, index) => 101 + index))
})

describe('concurrent evaluations', () => {
  test('the second of two based on the same state is rejected entirely', () => {
    const path = join(folder, 'look.db')
    const [first, second] = [databaseWithOrgs(path), openDatabase(path)]
    const decide = (id: string) => reconcile(evaluationOf({ findings: [findingOf()], newId: () => id }))
    applyChanges(first, decide('iss_first'), ignore)
    expect(() => applyChanges(second, decide('iss_second'), ignore)).toThrow(/UNIQUE/)
    expect(issuesOfAlert(second, volumeAlert.id, NOON).map((issue) => [issue.id, issue.occurrences])).toEqual([
      ['iss_first', 3],
    ])
    expect(issueHistory(second, 'iss_second')).toEqual([])
  })

  test('with the same findings open each issue once and lose no count', async () => {
    const path = join(folder, 'race.db')
    const db = databaseWithOrgs(path)
    const script = `
      const { openDatabase } = await import('${import.meta.dir}/../store/database.ts')
      const { applyFindings } = await import('${import.meta.dir}/store.ts')
      const { evaluationOf, findingOf, validationAlert: alert } = await import('${import.meta.dir}/issue.fixture.ts')
      const db = openDatabase('${path}')
      let opened = 0
      const enqueue = (order) => { opened += order.transition === 'opened' ? 1 : 0 }
      for (let n = 0; n < 30; n++) applyFindings(db, evaluationOf({ alert, findings: [findingOf({ subject: String(n) })] }), enqueue)
      console.log(opened)`
    const racers = [1, 2].map(() => Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe', stderr: 'inherit' }))
    const counts = await Promise.all(racers.map(async (racer) => Number(await new Response(racer.stdout).text())))
    const issues = issuesOfAlert(db, validationAlert.id, NOON)
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(30)
    expect(issues).toHaveLength(30)
    expect(issues.every((issue) => issue.occurrences === 6)).toBe(true)
  })
})

test('an evaluation of one alert does not affect the issues of another', () => {
  const { db, enqueue, id } = opened()
  const later = NOON + 30 * DAY_MS
  const window = { from: later - HOUR_MS, to: later, complete: true }
  applyFindings(db, evaluationOf({ alert: validationAlert, window, now: later }), enqueue)
  expect(issueRecord(db, 'org_a', id).status).toBe('open')
})
