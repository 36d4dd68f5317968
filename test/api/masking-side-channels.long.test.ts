import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { HOUR_MS, MINUTE_MS } from '../../src/core/clock.ts'
import { createKey } from '../../src/org/api-key-store.ts'
import { addMember, createUser } from '../../src/org/store.ts'
import { type Answer, TEST_START } from '../fixtures.ts'
import { type TestApp, testApp } from '../test-app.ts'

/*
 * Compares two servers whose events differ only in masked data. Both must return the same responses to a viewer,
 * because any difference would reveal masked data.
 */

interface Person {
  email: string
  phone: string
  card: string
  iban: string
  employee: string
}

/** Two people whose personal data is identical once masked. */
const PEOPLE: readonly [Person, Person] = [
  {
    email: 'jo@shop.example',
    phone: '+1 506 234 5678',
    card: '4111 1111 1111 1111',
    iban: 'DE89 3704 0044 0532 0130 00',
    employee: 'EMP-123456',
  },
  {
    email: 'jane.roe@site.example',
    phone: '+1 416 555 0178',
    card: '5105 1051 0508 1111',
    iban: 'DE96 5121 0800 0003 1676 00',
    employee: 'EMP-654321',
  },
]

const batch = ({ email, phone, card, iban, employee }: Person, n: number) => ({
  batchId: `batch-000${n}`,
  sessionId: `s ${email}`,
  page: { url: `https://shop.example/u/${encodeURIComponent(email)}/${n}`, title: `Order of ${email}` },
  events: [
    {
      id: `a${n}`,
      vendor: 'Shop',
      event: 'buy',
      account: email,
      params: { email, n: String(n), url: `https://a.example/?to=${encodeURIComponent(email)}`, [`of ${email}`]: '1' },
    },
    { id: `e${n}`, vendor: 'Shop', event: 'rebuy x jojoba', params: {} },
    {
      id: `b${n}`,
      vendor: 'Shop',
      event: 'call',
      params: { phone, card, iban, employee, text: `call ${phone} or ${email}` },
    },
    { id: `c${n}`, vendor: `Shop ${email}`, event: `buy ${email}`, params: { colour: 'red' } },
    { id: `d${n}`, vendor: 'Shop', event: 'plain', params: { colour: 'blue' } },
  ],
})

interface Side {
  world: TestApp
  viewer: string
  domainId: string
}

const sides: Side[] = []

async function sideOf(person: Person): Promise<Side> {
  const world = await testApp()
  const patterns = [{ name: 'employee', pattern: 'EMP-[0-9]{6}' }]
  await world.call('PATCH', '/v1/org', { body: { piiPatterns: patterns } })
  const { body } = await world.call('POST', '/v1/domains', { body: { name: 'Shop' } })
  const { db } = world.app
  const { orgId } = world.owner
  const user = createUser(db, world.clock, { email: 'viewer@example.com', name: 'Viewer', passwordHash: null })
  addMember(db, world.clock, { orgId, userId: user.id, role: 'viewer' })
  const key = createKey(db, world.clock, { userId: user.id, orgId, name: 'key', expiresInDays: null, readOnly: false })
  // The events end up in compacted files, in new files and in the spool.
  for (let n = 0; n < 6; n++) {
    world.clock.advance(n === 3 ? HOUR_MS : MINUTE_MS)
    const { status, body: taken } = await world.collect(body.token, batch(person, n))
    expect({ status, taken }).toMatchObject({ status: 202, taken: { accepted: 5 } })
    if (n === 2) await world.run('flush', 'compact')
    if (n === 4) await world.run('flush')
  }
  return { world, viewer: key.secret, domainId: body.id }
}

beforeAll(async () => {
  for (const person of PEOPLE) sides.push(await sideOf(person))
})

afterAll(async () => {
  for (const { world } of sides) await world[Symbol.asyncDispose]()
})

/** Replaces ids, which differ between the servers, with numbers in the order in which the ids occur. */
function plain({ status, body }: Answer): unknown {
  const known = new Map<string, string>()
  const named = (id: string) => known.get(id) ?? known.set(id, `#${known.size}`).get(id) ?? ''
  const text = JSON.stringify(body, (key, value) =>
    ['requestId', 'nextCursor'].includes(key) ? typeof value : key === 'customerId' ? null : value,
  ).replaceAll(/\b(?:dom|alr|iss|org|usr)_[0-9a-z]+/g, named)
  return { status, body: JSON.parse(text) }
}

async function answers(ask: (side: Side) => Promise<Answer>): Promise<[unknown, unknown]> {
  const [one, other] = await Promise.all(sides.map(async (side) => plain(await ask(side))))
  return [one, other]
}

/** An attacker's guesses: prefixes of the masked strings in increasing length, and the whole strings. */
const PROBES = PEOPLE.slice(1).flatMap(({ email, ...other }) => [email.slice(0, 4), email, ...Object.values(other)])
/** Names of vendors, events and sessions that contain an e-mail address. */
const NAMES = PEOPLE.slice(1).flatMap(({ email }) => [`Shop ${email}`, `buy ${email}`, `s ${email}`])

const eventsBy = (name: string) => (probe: string) =>
  `/v1/events?from=${TEST_START}&${name}=${encodeURIComponent(probe)}`
const volumeBy = (name: string) => (probe: string) =>
  `/v1/insights/volume?from=${TEST_START}&${name}=${encodeURIComponent(probe)}`
const named = (path: string, name: string) => (probe: string) => `${path}?hours=24&${name}=${encodeURIComponent(probe)}`

const ROUTES: Record<string, (probe: string) => string> = {
  q: eventsBy('q'),
  vendor: eventsBy('vendor'),
  event: eventsBy('event'),
  session: eventsBy('sessionId'),
  label: eventsBy('label'),
  'a parameter': (probe) => eventsBy('param')(`email=${probe}`),
  'any parameter': (probe) => eventsBy('param')(`*=${probe}`),
  'a parameter name': (probe) => eventsBy('param')(`of ${probe}=1`),
  'the page title': (probe) => eventsBy('param')(`$title=Order of ${probe}`),
  'the name search': (probe) => `/v1/search?q=${encodeURIComponent(probe)}`,
  'the first result of the name search': () => '/v1/search?limit=1&q=buy+jo',
  'the name search with a limit': (probe) => `/v1/search?limit=1&q=${encodeURIComponent(probe)}`,
  'the dictionary by vendor': named('/v1/events/dictionary', 'vendor'),
  'the dictionary by event': named('/v1/events/dictionary', 'event'),
  'the flat dictionary by vendor': named('/v1/events/dictionary/flat', 'vendor'),
  'the flat dictionary by event': named('/v1/events/dictionary/flat', 'event'),
  'the dictionary by segment': (probe) => named('/v1/events/dictionary', 'segment')(`$pageGroup=/buy/${probe}`),
  'the flat dictionary by segment': (probe) =>
    named('/v1/events/dictionary/flat', 'segment')(`$pageGroup=/buy/${probe}`),
  volume: (probe) => `/v1/insights/volume?vendor=${encodeURIComponent(probe)}&event=buy`,
  'volume by text': volumeBy('q'),
  'volume by session': volumeBy('sessionId'),
  'volume by parameter': (probe) => volumeBy('param')(`email=${probe}`),
  'volume by parameter name': (probe) => volumeBy('param')(`of ${probe}=1`),
  signals: (probe) => `/v1/auto/signals?vendor=${encodeURIComponent(probe)}`,
  issues: (probe) => `/v1/issues?q=${encodeURIComponent(probe)}`,
  alerts: (probe) => `/v1/alerts?q=${encodeURIComponent(probe)}`,
  domains: (probe) => `/v1/domains?q=${encodeURIComponent(probe)}`,
  'personal data': (probe) => `/v1/compliance/pii?vendor=${encodeURIComponent(probe)}`,
}

test.each(Object.entries(ROUTES))('queries reveal no masked values to a viewer: %s', async (_, path) => {
  const isName = path('').match(/(vendor|event|sessionId)=/) !== null
  for (const probe of isName ? NAMES : PROBES) {
    const [one, other] = await answers(({ world, viewer }) => world.call('GET', path(probe), { as: viewer }))
    expect({ probe, answer: one }).toEqual({ probe, answer: other })
  }
})

const condition = (parameter: string, op: string, ...values: string[]) => ({
  parameter,
  op,
  ...(values[0] && { values }),
})

const ruleOf = (item: object, more: object = {}) => ({
  name: 'Rule',
  alertType: 'data_validation',
  conditions: { logic: 'any', items: [item] },
  period: '1h',
  channels: [{ type: 'email', target: 'ann@example.com' }],
  ...more,
})

const RULES: Record<string, object[]> = {
  'by value': PEOPLE.flatMap(({ email }) => [
    ruleOf(condition('email', 'equals', email)),
    ruleOf(condition('email', 'not_contains', email.slice(1, 4))),
    ruleOf(condition('email', 'starts_with', email.slice(0, 2))),
    ruleOf(condition('text', 'contains', email)),
  ]),
  'by any parameter': PEOPLE.flatMap(({ phone, iban }) => [
    ruleOf(condition('*', 'contains', phone.slice(0, 8))),
    ruleOf(condition('*', 'regex', `^${iban.slice(0, 6)}`)),
  ]),
  'by pattern': PEOPLE.map(({ email }) => ruleOf(condition('email', 'regex', `^${email.slice(0, 3)}`))),
  'by length': ['15', '21', '17'].map((length) => ruleOf(condition('email', 'length_eq', length))),
  'by type of personal data': [
    ruleOf(condition('email', 'contains_email')),
    ruleOf(condition('phone', 'contains_phone')),
    ruleOf(condition('*', 'contains_phone')),
  ],
  'by event fields': [
    ...PEOPLE.map(({ email }) => ruleOf(condition('$title', 'ends_with', email))),
    ...PEOPLE.map(({ email }) => ruleOf(condition('$sessionId', 'contains', email))),
    ...PEOPLE.map(({ email }) => ruleOf(condition('$path', 'contains', encodeURIComponent(email)))),
  ],
  'by parameter name': PEOPLE.map(({ email }) => ruleOf(condition(`of ${email}`, 'equals', '1'))),
  'by vendor': PEOPLE.map(({ email }) => ruleOf(condition('colour', 'equals', 'red'), { vendors: [`Shop ${email}`] })),
  'by number of events': PEOPLE.map(({ email }) => ({
    ...ruleOf({}),
    alertType: 'volume_threshold',
    conditions: undefined,
    vendors: [`Shop ${email}`],
    volume: { op: 'gte', count: 1 },
  })),
}

describe.each(Object.entries(RULES))('a rule that matches events %s', (_, rules) => {
  test.each(['preview', 'backtest'])('reveals no masked values to a viewer in a %s', async (what) => {
    for (const rule of rules) {
      const [one, other] = await answers(({ world, viewer }) =>
        world.call('POST', `/v1/alerts/${what}`, { as: viewer, body: { rule } }),
      )
      expect({ rule, answer: one }).toEqual({ rule, answer: other })
    }
  })
})

test('search matches only values visible to the caller', async () => {
  const [{ world, viewer } = sides[0] as Side] = sides
  const count = async (query: string, as?: string) => {
    const { body } = await world.call('GET', `/v1/events?limit=100&${query}`, as === undefined ? {} : { as })
    return body.events.length as number
  }
  const [masked, whole] = [encodeURIComponent('j***@s***.example'), encodeURIComponent('jo@shop.example')]
  expect([await count('', viewer), await count('')]).toEqual([30, 30])
  const seen = (await world.call('GET', '/v1/events?limit=100', { as: viewer })).body.events
  expect(JSON.stringify(seen)).not.toContain('jo@')
  expect(seen.filter((event: object) => JSON.stringify(event).includes('j***@'))).toHaveLength(30)
  expect(await count(`q=${masked}`, viewer)).toBe(30)
  expect(await count(`param=email=${masked}`, viewer)).toBe(6)
  expect(await count(`param=colour=blue`, viewer)).toBe(6)
  expect(await count(`param=email=${whole}`, viewer)).toBe(0)
  expect(await count(`param=email=${whole}`)).toBe(6)
  expect(await count(`param=email=${masked}`)).toBe(0)
  const rule = ruleOf(condition('email', 'starts_with', 'jo@'))
  const matched = async (as: string) =>
    (await world.call('POST', '/v1/alerts/preview', { as, body: { rule } })).body.matched
  expect([await matched(viewer), await matched(world.owner.apiKey)]).toEqual([0, 6])
})
