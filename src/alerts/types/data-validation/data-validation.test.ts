import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { HOUR_MS } from '../../../core/clock.ts'
import type { StoredEvent } from '../../../core/event.ts'
import {
  alertOf,
  evaluate,
  eventOf,
  HOUR_BEFORE_NOON,
  NOON,
  validationInput,
  warehouseWith,
} from '../../alert.fixture.ts'
import type { AlertInput } from '../../alert.ts'
import { samplesQuery, withSamples } from '../../finding-samples.ts'
import { judgeOf } from '../../judge.fixture.ts'

const domains: [] = []
const one = alertOf(validationInput, 'alr_one')
const two = alertOf(validationInput, 'alr_two')

test('violations are counted by alert and domain, with their weights', async () => {
  const at = (offset: number, values: Partial<StoredEvent>) =>
    eventOf({ receivedAt: NOON - HOUR_MS + offset, ...values })
  using history = await warehouseWith([
    at(0, { violations: ['alr_one'], weight: 2.5, host: 'a.example' }),
    at(1, { violations: null }),
    at(2, { violations: ['alr_one', 'alr_two'], weight: 4, host: 'b.example', event: 'view' }),
    at(3, { violations: ['alr_two', 'alr_gone'], host: null, event: '' }),
    at(4, { violations: ['alr_one'], domainId: 'dom_blog', vendor: 'meta', weight: 0.2 }),
    at(-1, { violations: ['alr_one'] }),
    at(HOUR_MS, { violations: ['alr_one'] }),
    at(5, { violations: ['alr_one'], orgId: 'org_b' }),
  ])
  const findings = await evaluate(history, [one, two], domains)
  const start = NOON - HOUR_MS
  expect(findings).toEqual({
    alr_one: [
      {
        domainId: 'dom_blog',
        subject: '',
        vendor: 'meta',
        event: 'purchase',
        occurrences: 1,
        summary: '1 event broke the rule',
        observed: 1,
        expected: 0,
        firstAt: start + 4,
        lastAt: start + 4,
        hosts: ['shop.example'],
        sample: null,
        sampleSeq: (start + 4) * 1000,
      },
      {
        domainId: 'dom_shop',
        subject: '',
        vendor: 'ga4',
        event: null,
        occurrences: 7,
        summary: '7 events broke the rule',
        observed: 7,
        expected: 0,
        firstAt: start,
        lastAt: start + 2,
        hosts: ['b.example', 'a.example'],
        sample: null,
        sampleSeq: (start + 2) * 1000,
      },
    ],
    alr_two: [expect.objectContaining({ occurrences: 5, hosts: ['b.example'], event: null, lastAt: start + 3 })],
  })
})

test('only the requested part of the window is counted', async () => {
  const minutes = [10, 20, 30, 40].map((minute) => NOON - HOUR_MS + minute * 60_000)
  using history = await warehouseWith(minutes.map((receivedAt) => eventOf({ receivedAt, violations: ['alr_one'] })))
  const part = { from: minutes[1] ?? 0, to: minutes[3] ?? 0, complete: false }
  const { alr_one } = await evaluate(history, [one], domains, part)
  expect(alr_one).toMatchObject([{ occurrences: 2, firstAt: minutes[1], lastAt: minutes[2] }])
})

test('an alert without violations has no findings, even in an empty history', async () => {
  using history = await warehouseWith([eventOf({ violations: ['alr_two'] })])
  expect(await evaluate(history, [one], domains)).toEqual({ alr_one: [] })
  using empty = await warehouseWith([])
  expect(await evaluate(empty, [one, two], domains)).toEqual({ alr_one: [], alr_two: [] })
})

test('at most 20 hosts are listed, most frequent first, ties ordered by name', async () => {
  const hosts = Array.from({ length: 30 }, (_, n) => `h${String(n).padStart(2, '0')}.example`)
  using history = await warehouseWith(
    [...hosts, 'h25.example', 'h25.example', 'h07.example'].map((host) => eventOf({ host, violations: ['alr_one'] })),
  )
  const { alr_one } = await evaluate(history, [one], domains)
  const [first, second, ...others] = alr_one?.[0]?.hosts ?? []
  expect([first, second]).toEqual(['h25.example', 'h07.example'])
  expect(others).toEqual(hosts.filter((host) => host !== first && host !== second).slice(0, 18))
})

test('large numbers have thousands separators', async () => {
  using history = await warehouseWith([eventOf({ violations: ['alr_one'], weight: 12_345.4 })])
  const { alr_one } = await evaluate(history, [one], domains)
  expect(alr_one?.[0]?.summary).toBe('12,345 events broke the rule')
})

test("alerts of two organizations can't be measured together", async () => {
  using history = await warehouseWith([])
  const elsewhere = alertOf(validationInput, 'alr_else', 'org_b')
  expect(evaluate(history, [one, elsewhere], domains)).rejects.toThrow('one organization')
})

describe('a sample of a finding', () => {
  const personal = {
    ...validationInput,
    conditions: {
      logic: 'any' as const,
      items: [{ parameter: 'ssn', op: 'custom_pii_regex' as const, values: ['[0-9]{3}-[0-9]{2}'] }],
    },
  }
  const alert = alertOf(personal, 'alr_one')

  test('contains the newest violation, with personal data masked', async () => {
    using history = await warehouseWith([
      eventOf({ receivedAt: NOON - 3000, id: 'older', violations: ['alr_one'], params: { ssn: '111-22' } }),
      eventOf({
        receivedAt: NOON - 2000,
        id: 'newest',
        violations: ['alr_one', 'alr_two'],
        path: '/u/jane.doe@example.com',
        params: { ssn: '123-45', mail: 'jane.doe@example.com', value: '12' },
      }),
      eventOf({ receivedAt: NOON - 1000, id: 'later', params: { value: '1' } }),
    ])
    const { alr_one: findings = [] } = await evaluate(history, [alert], domains)
    const query = samplesQuery('org_a', findings)
    if (!query) throw new Error('no violation')
    const [finding] = withSamples(alert, findings, await history.query<StoredEvent>(query))
    expect(finding?.sample).toMatchObject({ id: 'newest', params: { ssn: '***', value: '12' } })
    expect(JSON.stringify(finding)).not.toContain('jane.doe@')
    expect(Object.keys(finding?.sample ?? {})).not.toContain('violations')
    expect(Object.keys(finding?.sample ?? {})).not.toContain('orgId')
  })

  test('masks the vendor, event and hosts of the finding, too', async () => {
    const shared = { violations: ['alr_one'], vendor: 'to jo@a.co', event: 'mail jo@a.co' }
    using history = await warehouseWith([
      eventOf({ ...shared, seq: 1, receivedAt: NOON - 3000, host: 'jo@a.co' }),
      eventOf({ ...shared, seq: 2, receivedAt: NOON - 2000, host: 'shop.example' }),
    ])
    const { alr_one: findings = [] } = await evaluate(history, [alert], domains)
    const query = samplesQuery('org_a', findings)
    if (!query) throw new Error('no violation')
    const [finding] = withSamples(alert, findings, await history.query<StoredEvent>(query))
    const [vendor, event] = ['to j***@a***.co', 'mail j***@a***.co']
    expect(finding).toMatchObject({ vendor, event, sample: { vendor, event } })
    expect(finding?.hosts.toSorted()).toEqual(['j***@a***.co', 'shop.example'])
  })

  test('is omitted when the event was deleted, and queried only when there is a finding', () => {
    const finding = {
      domainId: 'dom_shop',
      subject: '',
      vendor: null,
      event: null,
      occurrences: 1,
      summary: '',
      observed: 1,
      expected: 0,
      firstAt: NOON,
      lastAt: NOON,
      hosts: [],
      sample: null,
      sampleSeq: 1,
    }
    expect(withSamples(alert, [finding], [])).toMatchObject([{ sample: null, occurrences: 1 }])
    expect(samplesQuery('org_a', [])).toBeNull()
    expect(samplesQuery('org_a', [{ ...finding, sampleSeq: null }])).toBeNull()
  })
})

test('the verdict at ingestion equals the result from the history', async () => {
  const word = fc.constantFrom('', 'a', 'b', 'ab')
  const condition = fc.record({
    parameter: fc.constantFrom('k', 'l', '$event', '$host', '*'),
    op: fc.constantFrom('equals' as const, 'not_contains' as const, 'is_blank' as const, 'starts_with' as const),
    values: fc.array(word, { minLength: 1, maxLength: 2 }),
  })
  const scope = fc.constantFrom<Partial<AlertInput>>(
    {},
    { vendors: ['a'] },
    { domainId: 'a' },
    { domainIds: ['a', 'b'] },
  )
  const rule = fc.tuple(scope, fc.array(condition, { minLength: 1, maxLength: 3 }), fc.constantFrom('any', 'all'))
  const event = fc.record({
    domainId: fc.constantFrom('a', 'b', 'c'),
    vendor: fc.constantFrom('a', 'b'),
    event: word,
    host: fc.option(word),
    weight: fc.constantFrom(1, 2, 10),
    offset: fc.integer({ min: -1000, max: HOUR_MS + 1000 }),
    params: fc.dictionary(fc.constantFrom('k', 'l', 'm'), word),
  })
  const rules = fc.array(rule, { minLength: 1, maxLength: 5 })
  await fc.assert(
    fc.asyncProperty(rules, fc.array(event, { maxLength: 40 }), async (rules, values) => {
      const [first, ...others] = rules.map(([scope, items, logic], index) =>
        alertOf({ ...validationInput, ...scope, conditions: { logic, items } } as AlertInput, `alr_${index}`),
      )
      if (!first) return
      const judge = judgeOf([first, ...others])
      const events = values.map(({ offset, ...values }, index) => {
        const event = eventOf({ ...values, receivedAt: NOON - HOUR_MS + offset, seq: index + 1 })
        const broken = judge(event)
        return { ...event, violations: broken.length > 0 ? broken : null }
      })
      using history = await warehouseWith(events)
      const findings = await evaluate(history, [first, ...others], domains)
      for (const alert of [first, ...others]) {
        const own = events.filter(
          ({ violations, receivedAt }) =>
            violations?.includes(alert.id) && receivedAt >= HOUR_BEFORE_NOON.from && receivedAt < HOUR_BEFORE_NOON.to,
        )
        const expected = [...Map.groupBy(own, ({ domainId }) => domainId)].map(([domainId, events]) => [
          domainId,
          events.reduce((sum, { weight }) => sum + weight, 0),
          Math.max(...events.map(({ seq }) => seq)),
        ])
        const found = findings[alert.id]?.map(({ domainId, occurrences, sampleSeq }) => [
          domainId,
          occurrences,
          sampleSeq,
        ])
        expect(found?.sort()).toEqual(expected.sort())
      }
    }),
    { numRuns: 25 },
  )
})
