import { afterEach, describe, expect, test } from 'bun:test'
import type { Alert, AlertInput } from '../alerts/alert.ts'
import { updateAlert } from '../alerts/alert-store.ts'
import type { Condition } from '../conditions/condition.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { enqueue as addDelivery } from '../integrations/delivery/outbox.ts'
import { testMessage } from '../integrations/message/message.ts'
import { addHistory, applyFindings } from '../issues/store.ts'
import { type EventFields, HOUR, type WarehouseFixture } from '../warehouse/warehouse.fixture.ts'
import { CALLERS, type Evidence, EvidenceFixture } from './evidence.fixture.ts'

let world: EvidenceFixture
afterEach(() => world.fixture[Symbol.asyncDispose]())

const STORES = {
  'in the spool': async () => {},
  'in new files': (fixture) => fixture.flush(),
  compacted: async (fixture) => {
    await fixture.flush()
    await fixture.compact()
    expect(fixture.levels()).toContain('compacted')
  },
} satisfies Record<string, (fixture: WarehouseFixture) => Promise<void>>

const valueMissing: Partial<AlertInput> = {
  conditions: { logic: 'any', items: [{ parameter: 'value', op: 'is_blank' }] },
  filters: [{ parameter: '$event', op: 'equals', values: ['purchase'] }],
}

/** Invalid purchases between valid ones. The last event has not been evaluated yet. The time is 13:40. */
async function validationStory(): Promise<{ alert: Alert; issueId: string; expected: object }> {
  const alert = world.watch(valueMissing)
  await world.send(5, { id: 'good', params: { value: '49', to: 'bob@example.com' } })
  await world.send(10, { id: 'bad 1', host: 'shop.example', params: { value: '', to: 'ann@example.com' } })
  await world.send(15, { id: 'bad 2', weight: 4, host: 'shop.example', params: { value: ' ' } })
  await world.send(16, { id: 'bad 3', weight: 4, host: 'pay.example', params: {} })
  await world.send(20, { id: 'not in scope', event: 'view', params: {} })
  await world.send(25, { id: 'good of other vendor', vendor: 'Other', params: { value: '7' } })
  await world.send(26, { id: 'other domain', domainId: world.addDomain('Blog'), params: {} })
  await world.evaluate(alert, 0, 60)
  await world.send(90, { id: 'bad 4', params: { to: 'ann@example.com' } })
  world.fixture.clock.set(HOUR + 100 * MINUTE_MS)
  const issueId = world.issueOf(alert)
  const hours = [0, 0, 0, 0, 0, 0, 9, 1].map((observed, index) => ({
    start: HOUR + (index - 6) * HOUR_MS,
    observed,
    expected: 0,
    low: null,
    high: null,
    partial: index === 7,
  }))
  const hidden = { to: 'a***@e***.com' }
  return {
    alert,
    issueId,
    expected: {
      issue: { id: issueId, status: 'open', occurrences: 9, domain: 'Shop' },
      alert: { id: alert.id },
      summary:
        'Purchase has a value: Shop purchase events break the rule on Shop (shop.example and 1 more host), 9 times ' +
        'from 5 Jan 2026, 12:10 to 12:16 UTC.',
      explainedBy: null,
      grain: 'hour',
      series: hours,
      badSample: { id: 'bad 4', params: hidden },
      goodSample: { id: 'good', params: { value: '49', to: 'b***@e***.com' } },
      events: [
        { id: 'bad 4', receivedAt: HOUR + 90 * MINUTE_MS, violations: [alert.id], params: hidden },
        { id: 'bad 3', weight: 4, host: 'pay.example', params: {} },
        { id: 'bad 2', params: { value: ' ' } },
        { id: 'bad 1', params: { value: '', ...hidden } },
      ],
      changes: [],
      deliveries: [{ issueId, alertId: alert.id, transition: 'opened', status: 'pending' }],
    },
  }
}

/** Too few purchases of a plan in two windows of 15 minutes. The time is 12:50. */
async function volumeStory(): Promise<{ alert: Alert; issueId: string; expected: object }> {
  const alert = world.watch({
    name: 'Too few Pro purchases',
    alertType: 'volume_threshold',
    period: '15m',
    volume: { op: 'lte', count: 2, event: 'purchase' },
    vendors: ['Shop'],
    filters: [{ parameter: 'plan', op: 'equals', values: ['pro'] }],
  })
  const pro = { params: { plan: 'pro', to: 'ann@example.com' } }
  for (const minute of [5, 6, 7]) await world.send(minute, pro)
  await world.send(20, { id: 'last', weight: 2, ...pro })
  await world.evaluate(alert, 15, 30)
  await world.evaluate(alert, 30, 45)
  await world.send(46, { params: { plan: 'free' } })
  await world.send(47, { ...pro, vendor: 'Other' })
  await world.send(48, { ...pro, event: 'view' })
  await world.send(49, { ...pro, domainId: world.addDomain('Blog') })
  world.fixture.clock.set(HOUR + 50 * MINUTE_MS)
  const issueId = world.issueOf(alert)
  const windows = [0, 0, 0, 0, 0, 3, 2, 0, 0].map((observed, index) => ({
    start: HOUR + (index - 5) * 15 * MINUTE_MS,
    observed,
    expected: null,
    low: 2,
    high: null,
    partial: index === 8,
  }))
  return {
    alert,
    issueId,
    expected: {
      issue: { id: issueId, occurrences: 2 },
      alert: { id: alert.id },
      summary:
        'Too few Pro purchases: 0 events, expected more than 2 (Shop purchase) on Shop, in 2 windows ' +
        'from 5 Jan 2026, 12:15 to 12:44 UTC.',
      grain: 'hour',
      series: windows,
      badSample: null,
      goodSample: { id: 'last', params: { plan: 'pro', to: 'a***@e***.com' } },
      events: [],
      changes: [],
      deliveries: [{ transition: 'repeated' }, { transition: 'opened' }],
    },
  }
}

const STORIES = { data_validation: validationStory, volume_threshold: volumeStory }

const TABLE = Object.entries(STORIES).flatMap(([type, story]) =>
  Object.entries(STORES).map(([where, store]) => [type, where, story, store] as const),
)

describe.each(TABLE)('evidence of a %s issue, events %s', (_type, _where, story, store) => {
  test('is complete for every reader; viewers and read-only keys get no notification targets', async () => {
    world = await EvidenceFixture.open()
    const { issueId, expected } = await story()
    const channel = { type: 'email' as const, target: 'ops@example.com' }
    addHistory(world.fixture.db, issueId, 'notified', { deliveryId: 'dlv_1', channel }, 1)
    await store(world.fixture)
    const whole = await world.ask(issueId)
    expect(whole).toMatchObject(expected)
    expect(whole.issue.history.at(-1)).toMatchObject({ kind: 'notified', payload: { channel } })
    expect(whole.alert?.channels).toEqual([channel])
    expect(whole.deliveries.map((delivery) => delivery.channel)).toEqual(whole.deliveries.map(() => channel))
    const full = CALLERS.slice(1).filter((caller) => caller !== 'readOnly')
    for (const caller of full) expect(await world.ask(issueId, caller)).toEqual(whole)

    const seen = await world.ask(issueId, 'viewer')
    expect(JSON.stringify(seen)).not.toContain('ops@example.com')
    expect(seen).toEqual({
      ...whole,
      alert: { ...whole.alert, channels: [{ type: 'email', target: 'o***@e***.com' }] } as Evidence['alert'],
      issue: {
        ...whole.issue,
        history: whole.issue.history.map((entry) =>
          entry.kind === 'notified' ? { ...entry, payload: { deliveryId: 'dlv_1' } } : entry,
        ),
      },
      deliveries: whole.deliveries.map((delivery) => ({ ...delivery, channel: { ...channel, target: '' } })),
    })
    expect(await world.ask(issueId, 'readOnly')).toEqual(seen)
    await expect(world.ask(issueId, 'otherOrg')).rejects.toThrow(
      new AppError('notFound', `id: issue ${issueId} does not exist`),
    )
  })
})

test('an unknown issue is not found', async () => {
  world = await EvidenceFixture.open()
  await expect(world.ask('iss_1')).rejects.toMatchObject({ code: 'notFound' })
})

/** The rule's condition, an event's parameters, and strings that must never be shown. */
const PERSONAL: [Condition, EventFields, string][] = [
  [{ parameter: 'to', op: 'contains_email' }, { params: { to: 'ann@example.com' } }, 'ann@'],
  [{ parameter: '*', op: 'contains_email' }, { params: { a: 'x', b: 'mail ann@example.com now' } }, 'ann@'],
  [{ parameter: 'to', op: 'contains_email' }, { params: { to: 'ann%2540example.com' } }, 'ann%'],
  [{ parameter: '$path', op: 'contains_email' }, { path: '/of/ann@example.com' }, 'ann@'],
  [{ parameter: '$title', op: 'contains_email' }, { title: 'ann@example.com' }, 'ann@'],
  [{ parameter: '$event', op: 'contains_email' }, { event: 'ann@example.com' }, 'ann@'],
  [{ parameter: '$host', op: 'contains_email' }, { host: 'ann@example.com' }, 'ann@'],
  [{ parameter: '$sessionId', op: 'contains_email' }, { sessionId: 'ann@example.com' }, 'ann@'],
  [{ parameter: 'tel', op: 'contains_phone' }, { params: { tel: '+1 506 234 5678' } }, '234'],
  [{ parameter: 'iban', op: 'custom_pii_regex', values: ['DE[0-9]+'] }, { params: { iban: 'DE12345' } }, 'DE12345'],
  [{ parameter: '$path', op: 'custom_pii_regex', values: ['patient'] }, { path: '/patient/7' }, 'patient/7'],
]

test.each(PERSONAL)('personal values matched by %j are masked for every caller', async (condition, values, secret) => {
  world = await EvidenceFixture.open()
  const { clock, db } = world.fixture
  const alert = world.watch({ conditions: { logic: 'any', items: [condition] } })
  await world.send(5, { id: 'bad', ...values })
  await world.evaluate(alert, 0, 60)
  const issueId = world.issueOf(alert)
  const answers = async () => await Promise.all(CALLERS.map((caller) => world.ask(issueId, caller)))
  for (const answer of await answers()) {
    expect(answer).toMatchObject({ badSample: { id: 'bad' }, events: [{ id: 'bad' }] })
    expect(JSON.stringify({ ...answer, alert: null })).not.toContain(secret)
  }
  clock.advance(MINUTE_MS)
  world.remove(alert)
  for (const answer of await answers()) {
    expect(answer).toMatchObject({ alert: null, badSample: { id: 'bad' }, events: [] })
    expect(JSON.stringify(answer)).not.toContain(secret)
  }
  expect(db.prepare('SELECT count(*) FROM alert').pluck().get()).toBe(0)
})

test('the valid sample is masked like the violating one, even with filters on phone numbers', async () => {
  world = await EvidenceFixture.open()
  const alert = world.watch({
    filters: [{ parameter: 'tel', op: 'contains_phone' }],
    conditions: { logic: 'any', items: [{ parameter: 'iban', op: 'custom_pii_regex', values: ['DE'] }] },
  })
  await world.send(1, { id: 'good', params: { tel: '+1 506 234 5678', mail: 'bob@example.com' } })
  await world.send(2, { id: 'no phone', params: { tel: '+1 000 000 0000' } })
  await world.send(3, { id: 'bad', params: { tel: '+1 506 234 5678', iban: 'DE12345' } })
  await world.evaluate(alert, 0, 60)
  const { goodSample, badSample } = await world.ask(world.issueOf(alert))
  expect(goodSample).toMatchObject({ id: 'good', params: { tel: '***78', mail: 'b***@e***.com' } })
  expect(badSample).toMatchObject({ id: 'bad', params: { tel: '***78', iban: '***' } })
})

test('a drop is explained by a drop in total traffic', async () => {
  world = await EvidenceFixture.open()
  const { db, clock } = world.fixture
  const { issueId } = await volumeStory()
  expect(await world.ask(issueId)).toMatchObject({ explainedBy: null })
  const [from, to] = [HOUR, HOUR + 45 * MINUTE_MS]
  const finding = {
    domainId: world.domainId,
    subject: '',
    vendor: null,
    event: null,
    occurrences: 1,
    observed: 3,
    expected: 90,
    summary: 'all traffic dropped to 3 events, expected about 90',
    firstAt: from,
    lastAt: to - 1,
    hosts: [],
    sample: null,
    sampleSeq: null,
  }
  const alert = {
    id: 'alr_auto',
    orgId: world.people.orgId,
    name: 'Automatic signals: Shop',
    impactValue: null,
    alertType: 'volume_anomaly' as const,
    severity: 'medium' as const,
    periodMs: HOUR_MS,
  }
  const window = { from, to, complete: false }
  const evaluation = { alert, findings: [finding], window, windowStartAt: from, inRunWindow: true, now: clock.now() }
  applyFindings(db, evaluation, () => {})
  const { explainedBy, summary } = await world.ask(issueId)
  const title = 'Automatic signals: Shop: all traffic dropped to 3 events, expected about 90'
  expect(explainedBy).toEqual({ issueId: world.issueOf({ id: 'alr_auto' }), title })
  expect(summary).toEndWith(` to 12:44 UTC; explained by "${title}".`)
})

describe('evidence of an alert that was deleted or changed to another type contains only stored data', () => {
  const other: AlertInput = {
    name: 'Event count',
    alertType: 'volume_threshold',
    period: '1h',
    volume: { op: 'gte', count: 0 },
    channels: [{ type: 'email', target: 'ops@example.com' }],
  }
  const LOSSES: [string, (alert: Alert) => void][] = [
    ['deleted', (alert) => world.remove(alert)],
    ['changed type', ({ id, orgId }) => void updateAlert(world.fixture.db, world.fixture.clock, { id, orgId }, other)],
  ]

  test.each(LOSSES)('for a validation issue: %s', async (_, lose) => {
    world = await EvidenceFixture.open()
    const { alert, issueId, expected } = await validationStory()
    lose(alert)
    const { series, grain } = expected as Evidence
    const kept = { id: 'bad 3', violations: [alert.id], weight: 4, host: 'pay.example' }
    expect(await world.ask(issueId)).toMatchObject({ series, grain, events: [], badSample: kept, goodSample: null })
  })

  test('for a volume issue', async () => {
    world = await EvidenceFixture.open()
    const { alert, issueId } = await volumeStory()
    world.remove(alert)
    const nothing = { series: [], events: [], badSample: null, goodSample: null }
    const { summary, ...answer } = await world.ask(issueId)
    expect(answer).toMatchObject({ alert: null, issue: { status: 'resolved' }, ...nothing })
    expect(summary).toEndWith('; the issue is resolved.')
  })
})

test('events past their retention are not queried', async () => {
  world = await EvidenceFixture.open()
  const { issueId } = await validationStory()
  world.fixture.clock.advance(91 * DAY_MS)
  const { badSample, events, goodSample, series, grain } = await world.ask(issueId)
  expect({ badSample, events, goodSample, grain }).toMatchObject({
    badSample: { id: 'bad 3' },
    events: [],
    goodSample: null,
    grain: 'day',
  })
  expect(series.length).toBe(90)
  expect(series.every(({ observed }) => observed === 0)).toBe(true)
})

test('evidence contains at most the 50 most recent deliveries, all for the same issue', async () => {
  world = await EvidenceFixture.open()
  const { db, clock } = world.fixture
  const { alert, issueId } = await validationStory()
  const message = testMessage({ at: 0, publicUrl: '', label: 'x' })
  const add = (instance: number, issueId: string) =>
    addDelivery(db, {
      orgId: alert.orgId,
      issueId,
      alertId: alert.id,
      transition: 'reopened',
      instance,
      message,
      channels: alert.channels,
      throttle: null,
      delayMs: 0,
      now: clock.now(),
    })
  const elsewhere = db.prepare('SELECT id FROM issue WHERE id <> ?').pluck().get(issueId) as string
  for (let instance = 1000; instance < 1060; instance++) {
    add(instance, issueId)
    add(instance + 1000, elsewhere)
  }
  const { deliveries } = await world.ask(issueId)
  const newest = db.prepare('SELECT id FROM delivery WHERE issueId = ? ORDER BY seq DESC LIMIT 50').pluck().all(issueId)
  expect(deliveries.map(({ id }) => id)).toEqual(newest as string[])
})

test('the evidence request fails with the warehouse error', async () => {
  world = await EvidenceFixture.open()
  const { issueId } = await validationStory()
  const refusal = new AppError('unavailable', 'the warehouse did not respond', 5)
  await expect(world.ask(issueId, 'owner', { query: () => Promise.reject(refusal) })).rejects.toBe(refusal)
})
