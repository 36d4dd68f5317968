import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { AlertChannel } from '../../src/alerts/alert.ts'
import { alertRoutes } from '../../src/alerts/alert-routes.ts'
import { channelCheck } from '../../src/integrations/channel-targets.ts'
import { escalationRoutes } from '../../src/issues/escalation-routes.ts'
import { addressGuard } from '../../src/transport/address-guard.ts'
import { anyJson, CALLERS, cast, client, credentialsOf, memoryDb, testBox, testClock } from '../fixtures.ts'

const SLACK: AlertChannel = { type: 'team_chat', target: 'https://hooks.slack.com/services/T0/B0/secret' }
const MAIL: AlertChannel = { type: 'email', target: 'ann@example.com' }
const step = (afterMinutes: unknown, channels: unknown = [MAIL]) => ({ afterMinutes, channels })
const alert = {
  name: 'Purchase without id',
  alertType: 'volume_threshold',
  volume: { op: 'lte', count: 1 },
  period: '1h',
  channels: [MAIL],
}

function setUp() {
  const db = memoryDb()
  const clock = testClock()
  const people = cast(db, clock)
  const checkChannels = channelCheck({ db, guard: addressGuard([]) })
  const shared = { db, box: testBox, clock, checkChannels }
  const routes = alertRoutes({
    ...shared,
    changed() {},
    deleted() {},
    openIssues: () => ({}),
    issueStates: () => ({}),
    isLearning: () => false,
    lateShareOf: () => null,
  })
  const call = client({ db, clock }, ...escalationRoutes(shared), ...routes)
  const put = (body: unknown, as: string | null = people.ada.key) => call('PUT', '/v1/org/escalation', { as, body })
  const get = (as: string | null) => call('GET', '/v1/org/escalation', { as })
  return { db, people, call, put, get }
}

test('an organization has no steps at first, keeps the ones it was given, and sees no others', async () => {
  const { people, put, get } = setUp()
  expect((await get(people.bob.key)).body).toEqual({ steps: [] })
  const escalation = { steps: [step(1, [SLACK]), step(10_080, [MAIL, SLACK])] }
  expect(await put(escalation)).toMatchObject({ status: 200, body: escalation })
  expect((await get(people.bob.key)).body).toEqual(escalation)
  expect((await get(people.mallory.key)).body).toEqual({ steps: [] })
  expect((await put({ steps: [] })).body).toEqual({ steps: [] })
  expect((await get(people.bob.key)).body).toEqual({ steps: [] })
})

test('admins change the steps and everyone in the organization reads them', async () => {
  const { people, put, get } = setUp()
  const credentials = credentialsOf(people)
  const expected = {
    nobody: [401, 401],
    stranger: [401, 401],
    revoked: [401, 401],
    expired: [401, 401],
    viewer: [200, 403],
    readOnly: [200, 403],
    member: [200, 403],
    admin: [200, 200],
    owner: [200, 200],
    otherOrg: [200, 200],
  }
  for (const caller of CALLERS) {
    const as = credentials[caller]
    const statuses = [(await get(as)).status, (await put({ steps: [] }, as)).status]
    expect([caller, statuses]).toEqual([caller, expected[caller]])
  }
})

test('targets are sealed, masked for viewers and read-only keys, and kept when sent masked', async () => {
  const { db, people, put, get, call } = setUp()
  const escalation = { steps: [step(5, [SLACK]), step(6, [MAIL]), step(7, [SLACK])] }
  await put(escalation)
  const { body: made } = await call('POST', '/v1/alerts', { as: people.bob.key, body: { ...alert, escalation } })
  const stored = ['orgEscalation', 'alert'].map((table) => db.prepare(`SELECT * FROM ${table}`).all())
  expect(JSON.stringify(stored)).not.toContain('secret')
  for (const as of [people.vera.key, people.keys.readOnly]) {
    const seen = [(await get(as)).body, (await call('GET', `/v1/alerts/${made.id}`, { as })).body.escalation]
    expect(JSON.stringify(seen)).toContain('https://hooks.slack.com/***')
    expect(JSON.stringify(seen)).not.toMatch(/secret|ann@/)
    const [organization, own] = seen
    expect((await put(organization)).body).toEqual(escalation)
    const again = await call('PUT', `/v1/alerts/${made.id}`, {
      as: people.bob.key,
      body: { ...alert, escalation: own },
    })
    expect([again.status, again.body.escalation]).toEqual([200, escalation])
  }
  const masked = { steps: [step(5, [{ type: 'team_chat', target: 'https://hooks.slack.com/***12345678' }])] }
  expect((await put(masked)).body.error).toMatch(/^steps\[0\]\.channels\[0\]\.target: is masked/)
})

describe('a wrong body is refused with the name of the field', () => {
  const many = (count: number, make: (index: number) => unknown) =>
    Array.from({ length: count }, (_, index) => make(index))
  const faults: [string, unknown, string][] = [
    ['no steps', {}, 'steps'],
    ['steps of another type', { steps: 'none' }, 'steps'],
    ['more than 10 steps', { steps: many(11, (index) => step(index + 1)) }, 'steps'],
    ['an unknown field', { steps: [], more: 1 }, 'more'],
    ['an unknown field of a step', { steps: [{ ...step(1), more: 1 }] }, 'steps[0].more'],
    ['no minutes', { steps: [{ channels: [MAIL] }] }, 'steps[0].afterMinutes'],
    ['0 minutes', { steps: [step(0)] }, 'steps[0].afterMinutes'],
    ['more than a week', { steps: [step(10_081)] }, 'steps[0].afterMinutes'],
    ['half a minute', { steps: [step(1.5)] }, 'steps[0].afterMinutes'],
    ['equal minutes', { steps: [step(5), step(5)] }, 'steps[1].afterMinutes'],
    ['decreasing minutes', { steps: [step(5), step(9), step(8)] }, 'steps[2].afterMinutes'],
    ['no channels', { steps: [step(1, [])] }, 'steps[0].channels'],
    [
      'more than 10 channels',
      {
        steps: [
          step(
            1,
            many(11, () => MAIL),
          ),
        ],
      },
      'steps[0].channels',
    ],
    ['an unknown channel', { steps: [step(1, [{ type: 'fax', target: '1' }])] }, 'steps[0].channels[0].type'],
    ['an address', { steps: [step(1, [MAIL, { type: 'email', target: 'ann' }])] }, 'steps[0].channels[1].target'],
    ['a URL', { steps: [step(1), step(2, [{ type: 'webhook', target: 'ftp://x' }])] }, 'steps[1].channels[0].target'],
    [
      'a private URL',
      { steps: [step(1, [{ type: 'webhook', target: 'https://127.0.0.1/' }])] },
      'steps[0].channels[0].target',
    ],
    ['an integration', { steps: [step(1, [{ type: 'webhook', target: 'int_none' }])] }, 'steps[0].channels[0].target'],
  ]
  test.each(faults)('%s', async (_, body, field) => {
    const { people, put, call, get } = setUp()
    await put({ steps: [step(3)] })
    const refused = await put(body)
    expect([refused.status, refused.body.error]).toEqual([400, expect.stringContaining(`${field}: `)])
    expect((await get(people.ada.key)).body).toEqual({ steps: [step(3)] })
    const own = await call('POST', '/v1/alerts', { as: people.bob.key, body: { ...alert, escalation: body } })
    expect([own.status, own.body.error]).toEqual([400, expect.stringContaining(`escalation.${field}: `)])
  })

  test('any JSON', async () => {
    const { people, put, call } = setUp()
    await fc.assert(
      fc.asyncProperty(fc.oneof(anyJson, fc.record({ steps: fc.array(anyJson) })), async (body) => {
        expect([200, 400]).toContain((await put(JSON.stringify(body))).status)
        const own = await call('POST', '/v1/alerts', { as: people.bob.key, body: { ...alert, escalation: body } })
        expect([201, 400]).toContain(own.status)
      }),
      { numRuns: 100 },
    )
  })
})

test('a list of steps in an alert is optional and can be empty', async () => {
  const { people, call } = setUp()
  const as = people.bob.key
  const { body: made } = await call('POST', '/v1/alerts', { as, body: alert })
  expect(made).not.toHaveProperty('escalation')
  const path = `/v1/alerts/${made.id}`
  const never = await call('PUT', path, { as, body: { ...alert, escalation: { steps: [] } } })
  expect(never.body.escalation).toEqual({ steps: [] })
  expect((await call('GET', path, { as })).body.escalation).toEqual({ steps: [] })
  expect((await call('PUT', path, { as, body: alert })).body).not.toHaveProperty('escalation')
})
