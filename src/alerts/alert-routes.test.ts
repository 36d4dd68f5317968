import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  anyJson,
  CALLERS,
  type Caller,
  cast,
  client,
  credentialsOf,
  memoryDb,
  testBox,
  testClock,
} from '../../test/fixtures.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { createDomain, deleteDomain } from '../domains/store.ts'
import { validationInput, volumeInput } from './alert.fixture.ts'
import type { AlertInput } from './alert.ts'
import { alertRoutes } from './alert-routes.ts'
import { activeAlerts, createAlert } from './alert-store.ts'
import { maskChannel } from './encrypt-channel-target.ts'

function setUp() {
  const db = memoryDb()
  const clock = testClock()
  const people = cast(db, clock)
  /** Number of change notifications, and the deleted alerts with the users who deleted them. */
  const calls = { changes: 0, deleted: [] as [string, string][] }
  const call = client(
    { db, clock },
    ...alertRoutes({
      db,
      box: testBox,
      clock,
      checkChannels(channels, orgId) {
        const index = channels.findIndex(({ target }) => target === 'int_gone')
        if (index >= 0) throw new AppError('invalid', `channels[${index}].target: no such integration in ${orgId}`)
      },
      changed: () => calls.changes++,
      openIssues: (_, ids) => Object.fromEntries(ids.map((id) => [id, 7])),
      issueStates: () => ({}),
      isLearning: () => false,
      lateShareOf: () => null,
      deleted(alert, by) {
        if (!db.inTransaction) throw new Error('issues must be updated in the transaction that deletes their alert')
        calls.deleted.push([alert.id, by])
      },
    }),
  )
  const create = (input: AlertInput = validationInput, orgId = people.orgId) => createAlert(db, clock, orgId, input).id
  const cursors = () => Object.fromEntries(activeAlerts(db).map(({ alert, cursor }) => [alert.id, cursor]))
  const domain = (name: string, orgId = people.orgId) => createDomain(db, clock, orgId, { name })
  return { db, clock, cast: people, calls, call, create, cursors, domain }
}

type Expected = Record<Exclude<Caller, 'nobody' | 'stranger' | 'revoked' | 'expired'>, number>
const reading = { viewer: 200, readOnly: 200, member: 200, admin: 200, owner: 200, otherOrg: 404 }
const members = { ...reading, viewer: 403, readOnly: 403 }
const everywhere = (status: number): Expected => ({
  ...members,
  member: status,
  admin: status,
  owner: status,
  otherOrg: status,
})

const ROUTES: [string, string, unknown, Expected][] = [
  ['GET', '/v1/alerts', undefined, { ...reading, otherOrg: 200 }],
  ['POST', '/v1/alerts', validationInput, everywhere(201)],
  ['POST', '/v1/alerts', {}, everywhere(400)],
  ['POST', '/v1/alerts/bulk', { alerts: [validationInput] }, everywhere(200)],
  ['GET', '/v1/alerts/{id}', undefined, reading],
  ['PUT', '/v1/alerts/{id}', volumeInput, members],
  ['PUT', '/v1/alerts/{id}/enabled', { enabled: false }, members],
  ['DELETE', '/v1/alerts/{id}', undefined, members],
]

describe('permissions of the alert routes', () => {
  const cases = ROUTES.flatMap(([method, path, body, expected]) =>
    CALLERS.map((caller) => {
      const status = caller in expected ? expected[caller as keyof Expected] : 401
      return [method, path, caller, status, body] as const
    }),
  )
  test.each(cases)('%s %s called by %s returns %i', async (method, path, caller, status, body) => {
    const { call, cast, create, db, calls } = setUp()
    const id = create()
    const dump = () => JSON.stringify(db.prepare('SELECT * FROM alert').all())
    const before = dump()
    const answer = await call(method, path.replace('{id}', id), { as: credentialsOf(cast)[caller], body })
    expect(answer.status).toBe(status)
    const isChange = status < 400 && method !== 'GET'
    expect(dump() !== before).toBe(isChange)
    expect(calls.changes).toBe(isChange ? 1 : 0)
  })

  test('exclude alerts of other organizations from the list', async () => {
    const { call, cast, create } = setUp()
    create()
    const theirs = create(volumeInput, cast.mallory.orgId)
    const { body } = await call('GET', '/v1/alerts', { as: cast.mallory.key })
    expect(body.alerts.map(({ id }: { id: string }) => id)).toEqual([theirs])
  })

  test('let a viewer read all fields, with masked channel targets', async () => {
    const { call, cast, create } = setUp()
    const path = `/v1/alerts/${create()}`
    const { body: whole } = await call('GET', path, { as: cast.bob.key })
    expect(whole.channels).toEqual(validationInput.channels)
    const masked = { ...whole, channels: whole.channels.map(maskChannel) }
    expect(masked).not.toEqual(whole)
    expect((await call('GET', path, { as: cast.vera.key })).body).toEqual(masked)
    expect((await call('GET', '/v1/alerts', { as: cast.vera.key })).body.alerts).toEqual([masked])
    expect((await call('GET', '/v1/alerts', { as: cast.bob.key })).body.alerts).toEqual([whole])
  })
})

test.each(ROUTES.filter(([, path]) => path.includes('{id}')))(
  '%s %s returns 404 for an unknown alert',
  async (method, path, body) => {
    const { call, cast, calls } = setUp()
    const answer = await call(method, path.replace('{id}', 'alr_none'), { as: cast.alice.key, body })
    expect(answer).toMatchObject({ status: 404, body: { error: 'no such alert' } })
    expect(calls.changes).toBe(0)
  },
)

test('replacing an alert of another organization returns 404 without validating the body', async () => {
  const { call, cast, create } = setUp()
  const answer = await call('PUT', `/v1/alerts/${create()}`, { as: cast.mallory.key, body: {} })
  expect(answer.status).toBe(404)
})

describe('an alert', () => {
  const condition = { parameter: 'value', op: 'lt' as const, values: ['0'] }
  const full = (domains: [string, string]): AlertInput => ({
    ...validationInput,
    domainId: domains[0],
    domainIds: [domains[1], domains[0]],
    severity: 'critical',
    vendors: ['ga4', 'meta'],
    conditions: { logic: 'all', items: [condition] },
    filters: [{ parameter: '$event', op: 'equals', values: ['purchase'] }],
    conditionGroups: [{ op: 'any', items: [condition] }],
    period: 'daily',
    timezone: 'Europe/Berlin',
    runWindows: { hours: [22, 6], days: [1, 5] },
    throttle: { count: 3, per: 2, unit: 'hours' },
    channels: [{ type: 'webhook', target: 'https://hooks.example/1' }],
    impactValue: 1200,
    enabled: false,
  })
  const fields = (clock: { now(): number }, orgId: string) => ({
    id: expect.stringMatching(/^alr_/),
    orgId,
    createdAt: clock.now(),
    updatedAt: clock.now(),
  })

  test('is returned as it was sent, reads back the same, and can be saved again unchanged', async () => {
    const { call, cast, clock, domain } = setUp()
    const input = full([domain('Shop'), domain('Blog')])
    const made = await call('POST', '/v1/alerts', { as: cast.bob.key, body: input })
    expect(made.body).toEqual({ ...input, ...fields(clock, cast.orgId) })
    const path = `/v1/alerts/${made.body.id}`
    expect((await call('GET', path, { as: cast.bob.key })).body).toEqual(made.body)
    clock.advance(5)
    const again = await call('PUT', path, { as: cast.bob.key, body: input })
    expect(again.body).toEqual({ ...made.body, updatedAt: clock.now() })
    expect((await call('GET', path, { as: cast.bob.key })).body).toEqual(again.body)
  })

  test('gets default values, including for fields that a replacement omits', async () => {
    const { call, cast, clock, domain } = setUp()
    const defaults = { severity: 'low', timezone: 'UTC', enabled: true }
    const made = await call('POST', '/v1/alerts', { as: cast.bob.key, body: validationInput })
    expect(made.body).toEqual({ ...validationInput, ...defaults, ...fields(clock, cast.orgId) })
    const path = `/v1/alerts/${made.body.id}`
    await call('PUT', path, { as: cast.bob.key, body: full([domain('Shop'), domain('Blog')]) })
    const back = await call('PUT', path, { as: cast.bob.key, body: volumeInput })
    expect(back.body).toEqual({ ...volumeInput, ...defaults, ...fields(clock, cast.orgId) })
  })

  test.each<[string, (own: string, theirs: string) => object, string]>([
    ['domainId', (_, theirs) => ({ domainId: theirs }), 'domainId: no such domain'],
    ['domainIds[3]', (own, theirs) => ({ domainIds: [own, own, own, theirs] }), 'domainIds[3]: no such domain'],
    ['domainIds[0]', () => ({ domainIds: ['dom_none'] }), 'domainIds[0]: no such domain'],
    [
      'channels',
      () => ({ channels: [{ type: 'webhook', target: 'int_gone' }] }),
      'channels[0].target: no such integration in',
    ],
    ['period', () => ({ period: '5w' }), 'period: must be a whole number'],
    ['an unknown field', () => ({ colour: 'red' }), 'colour: there is no such field'],
    ['the type', () => ({ alertType: 'volume_anomaly' }), 'volume: a volume_anomaly alert requires vendor'],
    [
      'the fields of volume',
      () => ({ ...volumeInput, volume: { op: 'lte', count: -1 } }),
      'volume.count: must be at least 0',
    ],
  ])('is rejected by every route because of %s', async (_, values, error) => {
    const { call, cast, create, domain, db } = setUp()
    const own = domain('Shop')
    const theirs = domain('Shop', cast.mallory.orgId)
    const body = { ...validationInput, ...values(own, theirs) }
    const id = create()
    const before = JSON.stringify(db.prepare('SELECT * FROM alert').all())
    for (const [method, path] of [
      ['POST', '/v1/alerts'],
      ['PUT', `/v1/alerts/${id}`],
    ] as const) {
      const answer = await call(method, path, { as: cast.bob.key, body })
      expect(answer.status).toBe(400)
      expect(answer.body.error).toStartWith(error)
    }
    const bulk = await call('POST', '/v1/alerts/bulk', { as: cast.bob.key, body: { alerts: [body] } })
    expect(bulk.body).toEqual({ created: 0, failed: 1, errors: [{ index: 0, error: expect.any(String) }] })
    expect(bulk.body.errors[0].error).toStartWith(`alerts[0].${error}`)
    expect(JSON.stringify(db.prepare('SELECT * FROM alert').all())).toBe(before)
  })

  test('still exists after its domain is deleted', async () => {
    const { call, cast, create, domain, db } = setUp()
    const id = domain('Shop')
    const alert = create({ ...validationInput, domainId: id })
    deleteDomain(db, { orgId: cast.orgId, id })
    expect((await call('GET', `/v1/alerts/${alert}`, { as: cast.bob.key })).body.domainId).toBe(id)
  })

  test('returns 400 for arbitrary JSON', async () => {
    const { call, cast } = setUp()
    await fc.assert(
      fc.asyncProperty(anyJson, async (body) => {
        const { status } = await call('POST', '/v1/alerts', { as: cast.bob.key, body: JSON.stringify(body) })
        expect(status).toBe(400)
      }),
      { numRuns: 50 },
    )
  })
})

describe("the start of an alert's evaluation", () => {
  const at = 20 * MINUTE_MS
  const begun = (now: number, alertType: string) => ({
    evaluatedThrough: now,
    windowStartAt: alertType === 'data_validation' ? now - at : now - at + HOUR_MS,
  })

  test.each([
    ['its current window', validationInput],
    ['the next whole window', volumeInput],
  ] as const)('is set when the alert is saved, with %s', async (_, input) => {
    const { call, cast, clock, cursors } = setUp()
    clock.advance(at)
    const { body } = await call('POST', '/v1/alerts', { as: cast.bob.key, body: input })
    expect(cursors()).toEqual({ [body.id]: begun(clock.now(), input.alertType) })
  })

  const changes: [string, Partial<AlertInput>, 'reset' | 'unchanged'][] = [
    ['nothing', {}, 'unchanged'],
    ['name', { name: 'Other' }, 'unchanged'],
    ['severity', { severity: 'high' }, 'unchanged'],
    ['channels', { channels: [{ type: 'email', target: 'a@example.com' }] }, 'unchanged'],
    ['run windows', { runWindows: { hours: [9, 17] } }, 'unchanged'],
    ['throttle', { throttle: { count: 1, per: 1, unit: 'hours' } }, 'unchanged'],
    ['impact', { impactValue: 5 }, 'unchanged'],
    ['disabled', { enabled: false }, 'unchanged'],
    ['period', { period: '2h' }, 'reset'],
    ['time zone', { timezone: 'Asia/Kolkata' }, 'reset'],
    ['vendors', { vendors: ['ga4'] }, 'reset'],
    ['filters', { filters: [{ parameter: '$event', op: 'not_blank' }] }, 'reset'],
    ['conditions', { conditions: { logic: 'all', items: [{ parameter: 'value', op: 'is_blank' }] } }, 'reset'],
    ['groups', { conditionGroups: [{ op: 'any', items: [{ parameter: 'a', op: 'is_blank' }] }] }, 'reset'],
    ['type', { ...volumeInput }, 'reset'],
  ]
  test.each(changes)('is reset or left unchanged when this changes: %s', async (_, values, expected) => {
    const { call, cast, clock, create, db } = setUp()
    const id = create()
    const cursor = () =>
      db.prepare('SELECT evaluatedThrough, windowStartAt FROM alert').get() as { evaluatedThrough: number }
    const before = cursor()
    clock.advance(DAY_MS + at)
    const base = values.alertType ? {} : validationInput
    const answer = await call('PUT', `/v1/alerts/${id}`, { as: cast.bob.key, body: { ...base, ...values } })
    expect(answer.status).toBe(200)
    if (expected === 'unchanged') expect(cursor()).toEqual(before)
    else expect(cursor().evaluatedThrough).toBe(clock.now())
  })

  test('is reset when the alert is enabled, directly or by a replacement, unless it was already enabled', async () => {
    const { call, cast, clock, create, cursors } = setUp()
    const id = create()
    const enabled = (enabled: boolean) =>
      call('PUT', `/v1/alerts/${id}/enabled`, { as: cast.bob.key, body: { enabled } })
    const saved = cursors()
    clock.advance(at)
    expect((await enabled(true)).body).toMatchObject({ enabled: true, updatedAt: clock.now() - at })
    expect(cursors()).toEqual(saved)
    expect((await enabled(false)).body).toMatchObject({ id, enabled: false, updatedAt: clock.now() })
    expect(cursors()).toEqual({})
    clock.advance(DAY_MS)
    expect((await enabled(true)).body).toMatchObject({ enabled: true, updatedAt: clock.now() })
    expect(cursors()).toEqual({ [id]: begun(clock.now(), 'data_validation') })
    await enabled(false)
    clock.advance(DAY_MS)
    await call('PUT', `/v1/alerts/${id}`, { as: cast.bob.key, body: validationInput })
    expect(cursors()).toEqual({ [id]: begun(clock.now(), 'data_validation') })
  })

  test.each([{}, { enabled: 1 }, { enabled: true, more: 1 }, null])(
    'is not set by %p, which is an invalid body for enabling an alert',
    async (body) => {
      const { call, cast, create } = setUp()
      const answer = await call('PUT', `/v1/alerts/${create()}/enabled`, { as: cast.bob.key, body })
      expect(answer.status).toBe(400)
    },
  )
})

test('deleting an alert calls the hook once with the user and removes the alert', async () => {
  const { call, cast, create, calls } = setUp()
  const id = create()
  const path = `/v1/alerts/${id}`
  expect((await call('DELETE', path, { as: cast.bob.key })).body).toEqual({ ok: true })
  expect(calls.deleted).toEqual([[id, cast.bob.userId]])
  for (const method of ['GET', 'DELETE']) expect((await call(method, path, { as: cast.bob.key })).status).toBe(404)
  expect(calls.deleted).toHaveLength(1)
})

describe('bulk creation of alerts', () => {
  test('creates each alert, with one change notification', async () => {
    const { call, cast, calls } = setUp()
    const alerts = [
      validationInput,
      { ...validationInput, name: '' },
      null,
      volumeInput,
      { ...volumeInput, period: '0h' },
    ]
    const { status, body } = await call('POST', '/v1/alerts/bulk', { as: cast.bob.key, body: { alerts } })
    expect(status).toBe(200)
    expect(body).toEqual({
      created: 2,
      failed: 3,
      errors: [
        { index: 1, error: expect.stringMatching(/^alerts\[1\]\.name: /) },
        { index: 2, error: expect.stringMatching(/^alerts\[2\]: /) },
        { index: 4, error: expect.stringMatching(/^alerts\[4\]\.period: /) },
      ],
    })
    const { body: list } = await call('GET', '/v1/alerts', { as: cast.bob.key })
    expect(list.alerts.map(({ name }: AlertInput) => name).sort()).toEqual(
      [validationInput.name, volumeInput.name].sort(),
    )
    expect(calls.changes).toBe(1)
  })

  test.each([
    [1, 200],
    [500, 200],
    [501, 400],
    [0, 400],
  ])('with %i alerts returns %i', async (count, status) => {
    const { call, cast } = setUp()
    const alerts = Array.from({ length: count }, () => validationInput)
    const answer = await call('POST', '/v1/alerts/bulk', { as: cast.bob.key, body: { alerts } })
    expect(answer.status).toBe(status)
    if (status === 400) expect(answer.body.error).toStartWith('alerts: ')
    else expect(answer.body).toEqual({ created: count, failed: 0, errors: [] })
  })

  test('reports rejected alerts by index and creates the others', async () => {
    const { call, cast, calls } = setUp()
    const refused: [unknown, string][] = [
      [null, ': '],
      [{ ...validationInput, name: '' }, '.name: '],
      [{ ...volumeInput, period: '5w' }, '.period: '],
      [{ ...validationInput, domainId: 'dom_none' }, '.domainId: '],
      [{ ...validationInput, conditions: { logic: 'any' } }, '.conditions'],
      [{ ...validationInput, more: 1 }, '.more: '],
      [{ ...validationInput, channels: [{ type: 'email', target: '' }] }, '.channels[0].target: '],
    ]
    const wrong = (index: number) => (index % 3 === 0 ? refused[(index / 3) % refused.length] : undefined)
    const alerts = Array.from({ length: 500 }, (_, index): unknown => {
      const refusal = wrong(index)
      return refusal ? refusal[0] : { ...validationInput, name: `Alert ${index}` }
    })
    const { status, body } = await call('POST', '/v1/alerts/bulk', { as: cast.bob.key, body: { alerts } })
    expect([status, body.created, body.failed]).toEqual([200, 333, 167])
    expect(body.errors.map(({ index }: { index: number }) => index)).toEqual(
      Array.from({ length: 167 }, (_, place) => 3 * place),
    )
    for (const { index, error } of body.errors) expect(error).toStartWith(`alerts[${index}]${wrong(index)?.[1]}`)
    const names = new Set<string>()
    for (let cursor = ''; ; ) {
      const { body: page } = await call('GET', `/v1/alerts?limit=200${cursor}`, { as: cast.bob.key })
      for (const { name } of page.alerts) names.add(name)
      if (page.nextCursor === null) break
      cursor = `&cursor=${page.nextCursor}`
    }
    expect(names.size).toBe(333)
    expect(calls.changes).toBe(1)
  })

  test.each<[string, unknown]>([
    ['nothing', {}],
    ['an object instead of a list', { alerts: {} }],
    ['a list instead of an object', []],
    ['an unknown field', { alerts: [validationInput], more: 1 }],
  ])('returns 400 for an invalid body: %s', async (_, body) => {
    const { call, cast } = setUp()
    expect((await call('POST', '/v1/alerts/bulk', { as: cast.bob.key, body })).status).toBe(400)
  })
})

describe('the list of alerts', () => {
  test('contains each alert once, oldest first, for any page size', async () => {
    const { call, cast, clock, create } = setUp()
    const ids = Array.from({ length: 7 }, () => {
      clock.advance(1)
      return create()
    })
    for (const limit of [1, 2, 6, 7, 8]) {
      const seen: string[] = []
      let cursor: string | null = null
      do {
        const query: string = cursor === null ? '' : `&cursor=${cursor}`
        const { body } = await call('GET', `/v1/alerts?limit=${limit}${query}`, { as: cast.vera.key })
        expect(body.alerts.length).toBeLessThanOrEqual(limit)
        seen.push(...body.alerts.map(({ id }: { id: string }) => id))
        cursor = body.nextCursor
      } while (cursor !== null)
      expect(seen).toEqual(ids)
    }
  })

  test.each(['limit=0', 'limit=201', 'limit=x', 'cursor=x', 'status=open'])(
    'returns 400 for the query %s',
    async (query) => {
      const { call, cast } = setUp()
      expect((await call('GET', `/v1/alerts?${query}`, { as: cast.vera.key })).status).toBe(400)
    },
  )
})
