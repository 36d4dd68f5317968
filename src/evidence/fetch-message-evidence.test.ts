import { afterEach, expect, test } from 'bun:test'
import type { AlertInput } from '../alerts/alert.ts'
import { activeAlerts } from '../alerts/alert-store.ts'
import { noteChange } from '../changes/store.ts'
import { HOUR_MS, MINUTE_MS } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { messageOfDelivery } from '../integrations/delivery/delivery.ts'
import { listDeliveries } from '../integrations/delivery/delivery-store.ts'
import { withHistory } from '../integrations/message/add-event-history.ts'
import { comparedRowsOf } from '../integrations/message/message-text.ts'
import { HOUR } from '../warehouse/warehouse.fixture.ts'
import type { History } from '../warehouse/warehouse.ts'
import { EvidenceFixture } from './evidence.fixture.ts'
import { messageHistoryFetcher } from './fetch-message-evidence.ts'

let world: EvidenceFixture
afterEach(() => world.fixture[Symbol.asyncDispose]())

const valueMissing: Partial<AlertInput> = {
  conditions: { logic: 'any', items: [{ parameter: 'value', op: 'is_blank' }] },
  conditionGroups: [
    {
      op: 'any',
      items: [
        { parameter: '$event', op: 'equals', values: ['purchase'] },
        { parameter: '*', op: 'not_blank' },
      ],
    },
  ],
}

const tellerOf = (warehouse?: History) => messageHistoryFetcher(world.insightDeps(warehouse))

const never = new AbortController().signal

/** Sends a violating purchase after valid ones, while a release is being monitored. */
async function broken(): Promise<{ orgId: string; id: string }> {
  world = await EvidenceFixture.open()
  const { db, clock } = world.fixture
  const { orgId } = world.people
  const alert = world.watch(valueMissing)
  clock.set(HOUR)
  noteChange(db, HOUR, {
    orgId,
    domainId: world.domainId,
    source: 'deploy',
    ref: '42',
    title: 'Release 42 of ann@example.com',
    occurredAt: HOUR,
    windowMinutes: 60,
  })
  for (const minute of [1, 2, 3]) {
    await world.send(minute, { host: 'shop.example', params: { value: '49', to: 'bob@example.com' } })
  }
  await world.send(10, { host: 'shop.example', params: { value: '', to: 'ann@example.com' } })
  await world.evaluate(alert, 0, 60)
  clock.set(HOUR + 61 * MINUTE_MS)
  return { orgId, id: world.issueOf(alert) }
}

test('a message contains the valid event, series, cause and fields of the evidence', async () => {
  const issue = await broken()
  const told = await tellerOf()(issue, never)
  expect(told).toEqual({
    goodSample: expect.objectContaining({ host: 'shop.example', params: { value: '49', to: 'b***@e***.com' } }),
    series: [-6, -5, -4, -3, -2, -1, 0].map((hour) => ({
      at: HOUR + hour * HOUR_MS,
      value: hour === 0 ? 1 : 0,
      expected: 0,
    })),
    cause: { sentence: 'The issue began in the watch window of a change: Release 42 of a***@e***.com.' },
    affected: null,
    fields: ['value', '$event'],
  })
  const [delivery] = listDeliveries(world.fixture.db, issue.orgId, { limit: 1 }).items
  const message = delivery && messageOfDelivery(delivery)
  if (!told || !message) throw new Error('the message or its context is missing')
  const [first] = comparedRowsOf(withHistory(message, told))
  expect(first).toEqual({ key: 'params.value', bad: '', good: '49', isMarked: true })
})

test('a message about an issue that has lasted a minute says in which segment it occurs', async () => {
  const issue = await broken()
  const { clock, db } = world.fixture
  const [alert] = activeAlerts(db).map(({ alert }) => alert)
  if (!alert) throw new Error('the alert is active')
  for (let session = 0; session < 40; session++) {
    const isSafari = session % 4 === 0
    await world.send(62 + session / 4, {
      sessionId: `s${session}`,
      segments: { browser: isSafari ? 'Safari' : 'Chrome', browserVersion: isSafari ? '18' : '142' },
      params: { value: isSafari ? '' : '49' },
    })
  }
  await world.evaluate(alert, 60, 120)
  clock.set(HOUR + 121 * MINUTE_MS)
  expect((await tellerOf()(issue, never))?.affected?.sentence).toContain('come from Safari')
})

test('issues of other organizations are not found', async () => {
  const { id } = await broken()
  expect(await tellerOf()({ orgId: world.people.mallory.orgId, id }, never)).toBeNull()
})

test('parts whose warehouse query fails are null, and other parts are included', async () => {
  const issue = await broken()
  const { warehouse, clock } = world.fixture
  // The last hour is searched first for a valid event.
  const failing: History = {
    query: (query, signal, lane) =>
      query.window.from === clock.now() - HOUR_MS
        ? Promise.reject(new AppError('unavailable', 'the engine is busy'))
        : warehouse.query(query, signal, lane),
  }
  const told = await tellerOf(failing)(issue, never)
  expect(told).toMatchObject({ goodSample: null, cause: { sentence: expect.any(String) }, fields: ['value', '$event'] })
  expect(told?.series).toHaveLength(7)
  const over = await tellerOf()(issue, AbortSignal.abort())
  expect(over).toMatchObject({ goodSample: null, series: null, cause: null, fields: ['value', '$event'] })
})

test('an unexpected error is not suppressed', async () => {
  const issue = await broken()
  const failing: History = { query: () => Promise.reject(new TypeError('a bug')) }
  await expect(tellerOf(failing)(issue, never)).rejects.toThrow('a bug')
})
