import { afterAll, describe, expect, test } from 'bun:test'
import { issueOfAlert, validationAlert } from '../../src/issues/issue.fixture.ts'
import { applyChanges } from '../../src/issues/store.ts'
import { storeAudit } from '../audits/finished-audit.fixture.ts'
import { testApp } from '../test-app.ts'

/*
 * Tests every documented limit. A value at the limit is accepted. A value just past it is rejected with an error that
 * names the field.
 */

const world = await testApp()
afterAll(() => world[Symbol.asyncDispose]())

const text = (length: number) => 'x'.repeat(length)
const many = <T>(count: number, item: (index: number) => T): T[] => Array.from({ length: count }, (_, n) => item(n))

let made = 0
const name = () => `Name ${made++}`

const { body: domain } = await world.call('POST', '/v1/domains', { body: { name: name() } })
const domainIds: string[] = []
for (let n = 0; n < 100; n++) {
  domainIds.push((await world.call('POST', '/v1/domains', { body: { name: name() } })).body.id)
}
const channel = { type: 'email', target: 'ann@example.com' }
const condition = { parameter: 'value', op: 'is_blank' }
const validation = () => ({
  name: name(),
  alertType: 'data_validation',
  conditions: { logic: 'any', items: [condition] },
  period: '1h',
  channels: [channel],
})
const threshold = () => ({
  name: name(),
  alertType: 'volume_threshold',
  volume: { op: 'lte', count: 5 },
  period: '1h',
  channels: [channel],
})
const { body: alert } = await world.call('POST', '/v1/alerts', { body: validation() })
await world.collect(domain.token, { events: [{ vendor: 'Shop', event: 'buy' }] })
world.clock.advance(1)
await world.run('evaluate')
const { body: found } = await world.call('GET', `/v1/issues?alertId=${alert.id}`)
const issueId: string = found.issues[0].id
const { body: hook } = await world.call('POST', '/v1/integrations', {
  body: { provider: 'webhook', config: { url: 'https://hooks.example.com/a' } },
})

interface Limit {
  what: string
  method?: string
  path: string
  /** Values at the limit, which are accepted. */
  taken: unknown[]
  /** Values just past the limit, which are rejected. */
  refused: unknown[]
  body(value: unknown): object
  /** Prefix of the error message. */
  field: string
}

const alertLimit = (
  what: string,
  field: string,
  taken: unknown[],
  refused: unknown[],
  more: (value: unknown) => object,
  base: () => object = validation,
): Limit => ({ what, field, taken, refused, path: '/v1/alerts', body: (value) => ({ ...base(), ...more(value) }) })

const expectation = { vendor: 'Shop', event: 'buy' }
const stepWith = (more: object) => ({
  version: 2,
  steps: [{ anchor: { kind: 'session' }, expect: [expectation], ...more }],
})
const journeyLimit = (
  what: string,
  field: string,
  taken: unknown[],
  refused: unknown[],
  journey: (value: unknown) => object,
): Limit =>
  alertLimit(what, field, taken, refused, (value) => ({
    alertType: 'journey',
    conditions: undefined,
    journey: journey(value),
  }))

const signalLimit = (
  what: string,
  field: string,
  taken: unknown[],
  refused: unknown[],
  more: (value: unknown) => object,
): Limit => ({
  what,
  field,
  taken,
  refused,
  method: 'PUT',
  path: '/v1/auto/signals',
  body: (value) => ({ domainId: domain.id, vendor: 'Shop', mode: 'muted', ...more(value) }),
})

const conditionWith = (more: object) => ({ conditions: { logic: 'any', items: [{ ...condition, ...more }] } })
const equalsTo = (values: unknown) => conditionWith({ op: 'equals', values })

const LIMITS: Limit[] = [
  alertLimit('alert name', 'name', [text(1), text(200)], ['', text(201)], (name) => ({ name })),
  alertLimit(
    'number of channels',
    'channels',
    [1, 10].map((count) => many(count, () => channel)),
    [[], many(11, () => channel)],
    (channels) => ({ channels }),
  ),
  alertLimit(
    'number of conditions',
    'conditions.items',
    [many(50, () => condition)],
    [many(51, () => condition)],
    (items) => ({ conditions: { logic: 'any', items } }),
  ),
  alertLimit(
    'number of filters',
    'filters',
    [[], many(50, () => condition)],
    [many(51, () => condition)],
    (filters) => ({
      filters,
    }),
  ),
  alertLimit(
    'number of conditions in a condition group',
    'conditionGroups[0].items',
    [many(50, () => condition)],
    [many(51, () => condition)],
    (items) => ({ conditionGroups: [{ op: 'all', items }] }),
  ),
  alertLimit(
    'number of condition groups',
    'conditionGroups',
    [many(20, () => ({ op: 'any', items: [condition] }))],
    [many(21, () => ({ op: 'any', items: [condition] }))],
    (conditionGroups) => ({ conditionGroups }),
  ),
  alertLimit('number of vendors', 'vendors', [many(100, String)], [many(101, String)], (vendors) => ({ vendors })),
  alertLimit('vendor name', 'vendors[0]', [text(200)], [text(201)], (vendor) => ({ vendors: [vendor] })),
  alertLimit('number of domains in an alert', 'domainIds', [domainIds], [[...domainIds, domain.id]], (domainIds) => ({
    domainIds,
  })),
  alertLimit(
    'parameter name in a condition',
    'conditions.items[0].parameter',
    [text(1), text(200)],
    ['', text(201)],
    (parameter) => conditionWith({ parameter }),
  ),
  alertLimit(
    'number of condition values',
    'conditions.items[0].values',
    [many(100, String)],
    [many(101, String)],
    equalsTo,
  ),
  alertLimit('length of a condition value', 'conditions.items[0].values[0]', [text(1000)], [text(1001)], (value) =>
    equalsTo([value]),
  ),
  alertLimit('period', 'period', ['1m', '28d', '4w'], ['', text(21), '0m', '29d', '5w'], (period) => ({ period })),
  alertLimit('timezone', 'timezone', ['America/Argentina/ComodRivadavia'], [text(50), text(51)], (timezone) => ({
    timezone,
  })),
  alertLimit('number of hours in a run window', 'runWindows.hours', [[0, 23]], [[0], [0, 1, 2]], (hours) => ({
    runWindows: { hours },
  })),
  alertLimit('hour in a run window', 'runWindows.hours[1]', [0, 23], [-1, 24, 1.5], (hour) => ({
    runWindows: { hours: [0, hour] },
  })),
  alertLimit(
    'number of days in a run window',
    'runWindows.days',
    [[0, 1, 2, 3, 4, 5, 6]],
    [[0, 1, 2, 3, 4, 5, 6, 0]],
    (days) => ({
      runWindows: { days },
    }),
  ),
  alertLimit('day in a run window', 'runWindows.days[0]', [0, 6], [-1, 7, 0.5], (day) => ({
    runWindows: { days: [day] },
  })),
  alertLimit('throttle count', 'throttle.count', [1, 1000], [0, 1001, 1.5], (count) => ({
    throttle: { count, per: 1, unit: 'hours' },
  })),
  alertLimit('throttle duration', 'throttle.per', [1, 10_080], [0, 10_081, 1.5], (per) => ({
    throttle: { count: 1, per, unit: 'minutes' },
  })),
  alertLimit('impact value', 'impactValue', [0], [-1, 0.5], (impactValue) => ({ impactValue })),
  alertLimit(
    'volume threshold',
    'volume.count',
    [0, 100_000_000],
    [-1, 100_000_001, 0.5],
    (count) => ({ volume: { op: 'gte', count } }),
    threshold,
  ),
  alertLimit(
    'event name in a volume alert',
    'volume.event',
    [text(200)],
    [text(201)],
    (event) => ({ volume: { op: 'gte', count: 1, event } }),
    threshold,
  ),
  alertLimit(
    'channel target',
    'channels[0].target',
    [`https://hooks.example.com/${text(1974)}`],
    ['', `https://hooks.example.com/${text(1975)}`],
    (target) => ({ channels: [{ type: 'webhook', target }] }),
  ),
  alertLimit(
    'volume change in percent',
    'volume.percent',
    [0.01, 10_000],
    [0, 10_000.5],
    (percent) => ({ alertType: 'tag_volume_change', volume: { direction: 'decrease', percent } }),
    threshold,
  ),
  journeyLimit('number of journey steps', 'journey.steps', [1, 10], [0, 11], (count) => ({
    version: 2,
    steps: many(Number(count), () => ({ anchor: { kind: 'session' }, expect: [expectation] })),
  })),
  journeyLimit('number of legacy journey steps', 'journey.steps', [1, 10], [0, 11], (count) => ({
    steps: many(Number(count), () => expectation),
  })),
  journeyLimit('number of expectations in a step', 'journey.steps[0].expect', [0, 20], [21], (count) =>
    stepWith({ expect: many(Number(count), () => expectation) }),
  ),
  journeyLimit('number of conditions in an expectation', 'journey.steps[0].expect[0].data', [0, 20], [21], (count) =>
    stepWith({ expect: [{ ...expectation, data: many(Number(count), () => condition) }] }),
  ),
  journeyLimit('anchor path', 'journey.steps[0].anchor.path', [1, 500], [0, 501], (length) =>
    stepWith({ anchor: { kind: 'page', path: text(Number(length)), op: 'equals' } }),
  ),
  journeyLimit('anchor label', 'journey.steps[0].anchor.label', [1, 80], [0, 81], (length) =>
    stepWith({ anchor: { kind: 'label', label: text(Number(length)) } }),
  ),
  journeyLimit('expectation label', 'journey.steps[0].expect[0].label', [80], [81], (length) =>
    stepWith({ expect: [{ label: text(Number(length)) }] }),
  ),
  {
    what: 'preview period in hours',
    path: '/v1/alerts/preview',
    field: 'hours',
    taken: [1, 168],
    refused: [0, 169, 1.5],
    body: (hours) => ({ rule: validation(), hours }),
  },
  {
    what: 'backtest period in days',
    path: '/v1/alerts/backtest',
    field: 'days',
    taken: [7, 14, 30],
    refused: [6, 8, 15, 31, 7.5],
    body: (days) => ({ rule: validation(), days }),
  },
  {
    what: 'alerts per bulk request',
    path: '/v1/alerts/bulk',
    field: 'alerts',
    taken: [many(1, validation), many(500, validation)],
    refused: [[], many(501, validation)],
    body: (alerts) => ({ alerts }),
  },
  {
    what: 'issues per bulk request',
    path: '/v1/issues/bulk',
    field: 'ids',
    taken: [many(1, () => issueId), many(500, () => issueId)],
    refused: [[], many(501, () => issueId)],
    body: (ids) => ({ ids, status: 'acknowledged' }),
  },
  {
    what: 'issue notes',
    method: 'PATCH',
    path: `/v1/issues/${issueId}`,
    field: 'notes',
    taken: ['', text(2000)],
    refused: [text(2001)],
    body: (notes) => ({ notes }),
  },
  {
    what: 'integration label',
    method: 'PUT',
    path: `/v1/integrations/${hook.id}`,
    field: 'label',
    taken: [text(1), text(100)],
    refused: ['', text(101)],
    body: (label) => ({ provider: 'webhook', label, config: { url: 'https://hooks.example.com/a' } }),
  },
  {
    what: 'domain name',
    path: '/v1/domains',
    field: 'name',
    taken: [text(1), text(255)],
    refused: ['', text(256)],
    body: (name) => ({ name }),
  },
  {
    what: 'new domain name',
    method: 'PUT',
    path: `/v1/domains/${domain.id}/name`,
    field: 'name',
    taken: ['y', 'y'.repeat(255)],
    refused: ['', 'y'.repeat(256)],
    body: (name) => ({ name }),
  },
  {
    what: 'number of monitored URLs',
    path: '/v1/domains',
    field: 'monitoredUrls',
    taken: [many(50, (n) => `https://shop.example/${n}`)],
    refused: [many(51, (n) => `https://shop.example/${n}`)],
    body: (monitoredUrls) => ({ name: name(), monitoredUrls }),
  },
  {
    what: 'length of a monitored URL',
    path: '/v1/domains',
    field: 'monitoredUrls[0]',
    taken: [`https://shop.example/${text(234)}`],
    refused: [`https://shop.example/${text(235)}`],
    body: (url) => ({ name: name(), monitoredUrls: [url] }),
  },
  {
    what: 'number of vendors in a domain',
    path: '/v1/domains',
    field: 'vendors',
    taken: [many(200, (n) => ({ vendorName: `v${n}` }))],
    refused: [many(201, (n) => ({ vendorName: `v${n}` }))],
    body: (vendors) => ({ name: name(), vendors }),
  },
  {
    what: 'vendor name in a domain',
    path: '/v1/domains',
    field: 'vendors[0].vendorName',
    taken: [text(1), text(200)],
    refused: ['', text(201)],
    body: (vendorName) => ({ name: name(), vendors: [{ vendorName }] }),
  },
  signalLimit('signal sensitivity', 'sensitivity', [2, 8, null], [1, 9, 4.5], (sensitivity) => ({ sensitivity })),
  signalLimit('vendor name in a signal', 'vendor', [text(1), text(200)], ['', text(201)], (vendor) => ({ vendor })),
  signalLimit('event name in a signal', 'event', ['', text(200)], [text(201)], (event) => ({ event })),
  signalLimit('domain ID in a signal', 'domainId', [domain.id], [''], (domainId) => ({ domainId })),
  {
    what: 'API key expiry',
    path: '/v1/keys',
    field: 'expiresInDays',
    taken: [7, 365, null],
    refused: [6, 366, 7.5, 0],
    body: (expiresInDays) => ({ name: name(), expiresInDays }),
  },
]

describe.each(LIMITS.map((limit) => [limit.what, limit] as const))('%s', (_what, limit) => {
  const { method = 'POST', path, taken, refused, body, field } = limit

  test('is accepted at the limit', async () => {
    for (const value of taken) {
      const answer = await world.call(method, path, { body: body(value) })
      expect([answer.status < 300, answer.body.error ?? null]).toEqual([true, null])
    }
  })

  test('is rejected past the limit, with an error that names the field', async () => {
    for (const value of refused) {
      const answer = await world.call(method, path, { body: body(value) })
      expect([answer.status, answer.body.error]).toEqual([400, expect.stringMatching(/: \S/)])
      expect(answer.body.error.startsWith(`${field}: `) ? field : answer.body.error).toBe(field)
    }
  })
})

describe('list endpoints', () => {
  const lists = world.app.routes.filter(({ query }) => query?.properties.limit && query.properties.cursor)

  test('exist', () => expect(lists.length).toBeGreaterThan(5))

  const auditId = storeAudit(world.app.db, world.clock.now(), { orgId: domain.orgId, name: 'Shop' })
  const issueId = 'iss_limits'
  const issue = issueOfAlert({ ...validationAlert, orgId: domain.orgId }, { id: issueId, domainId: domain.id })
  applyChanges(world.app.db, [{ kind: 'open', issue }], () => {})
  const idOf = (path: string) =>
    path.startsWith('/v1/audits/') ? auditId : path.startsWith('/v1/issues/') ? issueId : domain.id

  test.each(lists.map(({ path }) => path.replace('{id}', idOf(path))))(
    'accept a limit of 1 to 200 in %s',
    async (path) => {
      for (const limit of [1, 200]) expect((await world.call('GET', `${path}?limit=${limit}`)).status).toBe(200)
      for (const limit of [0, 201, 1.5, -1]) {
        const answer = await world.call('GET', `${path}?limit=${limit}`)
        expect([answer.status, answer.body.error]).toEqual([400, expect.stringMatching(/^query\.limit: /)])
      }
    },
  )
})
