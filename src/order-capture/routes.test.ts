import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type TestApp, testApp } from '../../test/test-app.ts'

let world: TestApp
let domainId: string

beforeAll(async () => {
  world = await testApp()
  domainId = (await world.call('POST', '/v1/domains', { body: { name: 'Shop' } })).body.id
})
afterAll(() => world[Symbol.asyncDispose]())

const PATH = '/v1/orders/capture'
const put = (rules: unknown) => world.call('PUT', PATH, { body: { rules } })
const GA = 'Google Analytics 4'

test('a rule needs only a domain and a vendor, and keeps its id when it is sent back', async () => {
  const { status, body } = await put([{ domainId, vendor: GA }])
  expect(status).toBe(200)
  const [rule] = body.rules
  expect(rule).toEqual({
    id: expect.stringMatching(/^ocr_/),
    domainId,
    vendor: GA,
    minCapturePct: null,
    maxDuplicates: 0,
    maxValueDeviationPct: null,
    settlingMinutes: 60,
    channels: [{ type: 'email', target: 'owners' }],
    enabled: true,
  })
  const again = await put([
    { domainId, vendor: 'Meta Pixel' },
    { ...rule, minCapturePct: 90 },
  ])
  expect(again.body.rules.map(({ vendor }: { vendor: string }) => vendor)).toEqual(['Meta Pixel', GA])
  expect(again.body.rules[1]).toEqual({ ...rule, minCapturePct: 90 })
  expect((await world.call('GET', PATH)).body).toEqual(again.body)
  const { body: statuses } = await world.call('GET', `${PATH}/status`)
  expect(statuses.rules[1]).toEqual({
    id: rule.id,
    state: 'learning',
    usual: null,
    capturePct: null,
    orders: 0,
    countedTo: null,
    issueIds: [],
  })
})

test('a rule is deleted when it is left out', async () => {
  await put([])
  expect((await world.call('GET', PATH)).body).toEqual({ rules: [] })
})

test('every invalid field is refused with its path, and nothing is stored', async () => {
  const good = { domainId, vendor: GA }
  const bad = (fields: object) => [
    { domainId, vendor: 'Meta Pixel' },
    { ...good, ...fields },
  ]
  const cases: [unknown, string][] = [
    [bad({ domainId: 'dom_none' }), 'rules[1].domainId: no such domain'],
    [bad({ id: 'ocr_none' }), 'rules[1].id: no such rule'],
    [bad({ vendor: ' ' }), 'rules[1].vendor: must not be blank'],
    [bad({ vendor: 'Meta Pixel' }), 'rules[1].vendor: there is already a rule for this domain and vendor'],
    [bad({ settlingMinutes: 4 }), 'rules[1].settlingMinutes: '],
    [bad({ settlingMinutes: 2881 }), 'rules[1].settlingMinutes: '],
    [bad({ minCapturePct: 101 }), 'rules[1].minCapturePct: '],
    [bad({ maxDuplicates: -1 }), 'rules[1].maxDuplicates: '],
    [bad({ maxValueDeviationPct: 'x' }), 'rules[1].maxValueDeviationPct: '],
    [bad({ enabled: 1 }), 'rules[1].enabled: '],
    [bad({ limit: 1 }), 'rules[1].limit: there is no such field'],
    [bad({ channels: [{ type: 'email', target: 'x' }] }), 'rules[1].channels[0].target: '],
    [bad({ channels: [{ type: 'webhook', target: 'http://127.0.0.1/' }] }), 'rules[1].channels[0].target: '],
    [[{ vendor: GA }], 'rules[0].domainId: is missing'],
    [Array.from({ length: 101 }, (_, n) => ({ domainId, vendor: `v${n}` })), 'rules: must have at most 100 items'],
  ]
  for (const [rules, error] of cases) {
    const { status, body } = await put(rules)
    expect([status, body.error]).toEqual([400, expect.stringContaining(error)])
  }
  expect((await world.call('GET', PATH)).body).toEqual({ rules: [] })
})

test('channel URLs are stored encrypted, hidden from viewers, and kept when a masked URL is sent back', async () => {
  const target = 'https://hooks.example.com/secret'
  const { body } = await put([{ domainId, vendor: GA, channels: [{ type: 'webhook', target }] }])
  const stored = world.app.db.prepare<[], string>('SELECT channels FROM orderCaptureRule').pluck().get()
  expect(stored).not.toContain('secret')
  const { secret: key } = (
    await world.call('POST', '/v1/keys', { body: { name: 'r', expiresInDays: 7, readOnly: true } })
  ).body
  const seen = await world.call('GET', PATH, { as: key })
  expect(seen.status).toBe(200)
  expect(JSON.stringify(seen.body)).not.toContain('secret')
  expect((await world.call('PUT', PATH, { as: key, body: { rules: [] } })).status).toBe(403)
  const [rule] = seen.body.rules
  expect((await put([{ ...rule, id: body.rules[0].id }])).body.rules[0].channels).toEqual([{ type: 'webhook', target }])
})

test('another organization sees and moves none of them', async () => {
  const { body: other } = await world.call('POST', '/v1/orgs', { body: { name: 'Other' } })
  const headers = { 'x-org-id': other.id ?? other.org?.id }
  expect((await world.call('GET', PATH, { headers })).body).toEqual({ rules: [] })
  const [rule] = (await world.call('GET', PATH)).body.rules
  const moved = await world.call('PUT', PATH, { headers, body: { rules: [rule] } })
  expect([moved.status, moved.body.error]).toEqual([400, 'rules[0].id: no such rule'])
  await world.call('PUT', PATH, { headers, body: { rules: [] } })
  expect((await world.call('GET', PATH)).body.rules).toEqual([rule])
})
