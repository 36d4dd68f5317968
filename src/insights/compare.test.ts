import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { cast } from '../../test/fixtures.ts'
import { HOUR_MS } from '../core/clock.ts'
import type { EventFields } from '../core/event.fixture.ts'
import { randomOf } from '../detector/series.fixture.ts'
import { createDomain } from '../domains/store.ts'
import { HOUR, WarehouseFixture } from '../warehouse/warehouse.fixture.ts'
import { compare } from './compare.ts'
import { visitsOf } from './compared-visits.fixture.ts'
import type { Caller, Sources } from './insight.ts'

type Input = Parameters<typeof compare.answer>[1]

const VISITS = 150
const GA4 = 'Google Analytics 4'
const AT = HOUR + 10 * HOUR_MS
const TWO = AT + HOUR_MS

let fixture: WarehouseFixture
let orgId: string
let shop: string
let blog: string
let foreign: string

/** Version 1 in the first hour; version 2, which loses a key, in the second; other domains and environments in both. */
beforeAll(async () => {
  fixture = await WarehouseFixture.open()
  const { db, clock } = fixture
  const { alice, mallory } = cast(db, clock)
  orgId = alice.orgId
  shop = createDomain(db, clock, orgId, { name: 'Shop' })
  blog = createDomain(db, clock, orgId, { name: 'Blog' })
  foreign = createDomain(db, clock, mallory.orgId, { name: 'Other' })
  const random = randomOf(1)
  const visits = (prefix: string, planted: Parameters<typeof visitsOf>[1]['planted']) =>
    visitsOf(random, { visits: VISITS, planted, prefix })
  const own = (fields: EventFields) => (event: EventFields) => ({ ...event, orgId, domainId: shop, ...fields })
  clock.set(AT)
  await fixture.add(visits('a', 'none').map(own({ version: 1 })))
  await fixture.add(visits('d', 'event_lost').map(own({ env: 'dev', version: 1 })))
  await fixture.flush()
  clock.set(TWO)
  await fixture.add(visits('b', 'key_lost').map(own({ version: 2 })))
  await fixture.add(visits('c', 'host').map(own({ domainId: blog })))
  await fixture.add([{ ...own({ version: 2 })({ event: 'jane@example.com', kind: 'event' }), weight: 5 }])
  await fixture.add(visits('x', 'none').map((event) => ({ ...event, orgId: mallory.orgId, domainId: foreign })))
  await fixture.add([own({ version: 2 })({ kind: 'library', vendor: GA4, event: 'load', params: { url: 'x' } })])
})
afterAll(() => fixture?.[Symbol.asyncDispose]())

async function ask(input: Input) {
  const { db, warehouse: history } = fixture
  const domains = () => [shop, blog].map((id) => ({ id, createdAt: 0 }))
  const sources = { db, history, domains, privacy: () => ({ regions: [], patterns: [] }) } as unknown as Sources
  const caller = { principal: { orgId }, now: TWO + HOUR_MS } as unknown as Caller
  const answer = await compare.answer(sources, input, caller)
  const sure = answer.rows.filter((row) => row.sure).map(({ kind, event, key, value }) => [kind, event, key, value])
  return { ...answer, sure }
}

const PERIODS = { aFrom: AT, aTo: TWO, bFrom: TWO, bTo: TWO + HOUR_MS }
const PAIRS: [string, Input][] = [
  ['periods', { domainId: '', ...PERIODS }],
  ['versions', { domainId: '', aVersion: 1, bVersion: 2 }],
]

describe.each(PAIRS)('%s', (_, pair) => {
  test('a lost key is the only sure difference', async () => {
    const { a, b, sure, rows } = await ask({ ...pair, domainId: shop })
    expect(sure.toSorted()).toEqual(['PageView', 'page_view', 'purchase'].map((event) => ['key', event, 'user', null]))
    expect(a.sessions).toBe(VISITS)
    expect(b.sessions).toBe(VISITS + 1)
    const key = rows.find(({ event, key }) => event === 'page_view' && key === 'user')
    const counted = (prefix: string) =>
      fixture.events.filter((one) => one.event === 'page_view' && one.sessionId?.startsWith(prefix))
    const shareOf = (prefix: string) =>
      (100 * counted(prefix).filter(({ params }) => params.user).length) / counted(prefix).length
    expect(key?.aPct).toBeCloseTo(shareOf('a'), 2)
    expect(key?.bPct).toBeCloseTo(shareOf('b'), 2)
    expect(key?.differencePp).toBeCloseTo(shareOf('b') - shareOf('a'), 1)
  })
})

test('events are counted by weight, without library loads and other environments', async () => {
  const { a, b, rows } = await ask({ domainId: shop, ...PERIODS })
  const count = (test: (event: (typeof fixture.events)[number]) => boolean) =>
    fixture.events.filter((one) => one.domainId === shop && one.env === 'prod' && test(one)).length
  expect(a.events).toBe(count(({ version }) => version === 1))
  expect(b.events).toBe(count(({ version, kind }) => version === 2 && kind !== 'library') + 4)
  expect(rows.some(({ event }) => event === 'load')).toBe(false)
})

test('environments', async () => {
  const { a, b, sure } = await ask({ domainId: shop, aEnv: 'prod', bEnv: 'dev', from: AT, to: TWO })
  expect([a.sessions, b.sessions]).toEqual([VISITS, VISITS])
  expect(sure).toEqual([['event', 'purchase', null, null]])
})

test('domains', async () => {
  const { sure } = await ask({ aDomainId: shop, bDomainId: blog, from: AT, to: TWO })
  expect(sure).toEqual([])
  const same = await ask({ aDomainId: shop, bDomainId: blog, from: TWO, to: TWO + 1 })
  expect(same.sure).toContainEqual(['host', null, null, 'new.shop.example'])
})

test('personal data in names is masked', async () => {
  const { rows } = await ask({ domainId: shop, ...PERIODS })
  expect(rows.map(({ event }) => event)).toContain('j***@e***.com')
  expect(JSON.stringify(rows)).not.toContain('jane')
})

test('without events on a side, nothing is sure', async () => {
  const { a, b, sure } = await ask({ domainId: shop, aVersion: 1, bVersion: 99 })
  expect([a.sessions, b, sure]).toEqual([VISITS, { events: 0, sessions: 0 }, []])
})

test('another organization’s domain is not found', async () => {
  for (const input of [
    { domainId: foreign, ...PERIODS },
    { domainId: foreign, aVersion: 1, bVersion: 2 },
  ])
    expect(ask(input)).rejects.toThrow('query.domainId: no such domain')
  expect(ask({ aDomainId: shop, bDomainId: foreign })).rejects.toThrow('query.bDomainId: no such domain')
})
