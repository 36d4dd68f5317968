import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Condition } from '../../../conditions/condition.ts'
import { compileFilters } from '../../../conditions/predicate.ts'
import { HOUR_MS } from '../../../core/clock.ts'
import { inSql } from '../../../warehouse/warehouse.fixture.ts'
import {
  alertOf,
  domainsNamed,
  evaluate,
  eventOf,
  HOUR_BEFORE_NOON,
  NOON,
  volumeInput,
  warehouseWith,
} from '../../alert.fixture.ts'
import type { AlertInput } from '../../alert.ts'
import { domainsOf } from '../../alert.ts'
import { volumeThreshold } from './volume-threshold.ts'

const shop = domainsNamed('dom_shop')
const volume = (values: Partial<AlertInput>, id = 'alr_1') => alertOf({ ...volumeInput, ...values }, id)
const purchases = (count: number, weight = 1) => Array.from({ length: count }, () => eventOf({ weight }))

describe('a count of 10', () => {
  test.each<['lte' | 'gte', number, string | null]>([
    ['lte', 9, null],
    ['lte', 10, '10 events, expected more than 10'],
    ['lte', 11, '10 events, expected more than 11'],
    ['gte', 9, '10 events, expected fewer than 9'],
    ['gte', 10, '10 events, expected fewer than 10'],
    ['gte', 11, null],
  ])('is compared with the threshold %s %i', async (op, count, summary) => {
    using history = await warehouseWith(purchases(10))
    const { alr_1 } = await evaluate(history, [volume({ volume: { op, count } })], shop)
    expect(alr_1?.map((finding) => finding.summary)).toEqual(summary === null ? [] : [summary])
  })
})

test('a finding contains the count, expected count, domain and window', async () => {
  using history = await warehouseWith([...purchases(2), eventOf({ event: 'view' })])
  const alert = volume({ vendors: ['ga4'], volume: { op: 'gte', count: 2, event: 'purchase' } })
  expect(await evaluate(history, [alert], shop)).toEqual({
    alr_1: [
      {
        domainId: 'dom_shop',
        subject: 'ga4 purchase',
        vendor: 'ga4',
        event: 'purchase',
        occurrences: 1,
        summary: '2 events, expected fewer than 2',
        observed: 2,
        expected: 2,
        expectation: 'fewer than 2',
        firstAt: NOON - HOUR_MS,
        lastAt: NOON - 1,
        hosts: [],
        sample: null,
        sampleSeq: null,
      },
    ],
  })
})

test.each<[string, Partial<AlertInput>, string, string | null, string | null]>([
  ['nothing', {}, '', null, null],
  ['a vendor', { vendors: ['ga4'] }, 'ga4', 'ga4', null],
  ['two vendors', { vendors: ['ga4', 'meta'] }, '', null, null],
  ['an event', { volume: { op: 'gte', count: 0, event: 'purchase' } }, 'purchase', null, 'purchase'],
  ['an empty event', { volume: { op: 'gte', count: 0, event: '' } }, '', null, null],
])('the finding has the expected subject when the alert names %s', (_, values, subject, vendor, event) => {
  const alert = volume({ volume: { op: 'gte', count: 0 }, ...values })
  const [finding] = volumeThreshold.judge(alert, [], HOUR_BEFORE_NOON, shop)
  expect(finding).toMatchObject({ subject, vendor, event })
})

describe('the domains of a volume threshold alert', () => {
  const silent: Partial<AlertInput> = { volume: { op: 'lte', count: 0 } }
  const all = domainsNamed('dom_shop', 'dom_blog', 'dom_app')
  const firedIn = async (values: Partial<AlertInput>, domains = all) => {
    using history = await warehouseWith(purchases(1))
    const { alr_1 } = await evaluate(history, [volume({ ...silent, ...values })], domains)
    return alr_1?.map(({ domainId }) => domainId)
  }

  test('have a count of 0 without events', async () => {
    expect(await firedIn({})).toEqual(['dom_blog', 'dom_app'])
  })
  test("are ignored when they are outside the alert's scope", async () => {
    expect(await firedIn({ domainId: 'dom_shop', domainIds: ['dom_app'] })).toEqual(['dom_app'])
  })
  test('that were deleted are not watched, nor are other domains watched instead', async () => {
    expect(await firedIn({ domainId: 'dom_gone' })).toEqual([])
  })
  test('that were created during the window are not evaluated yet', async () => {
    const made = (createdAt: number) => [{ id: 'dom_new', createdAt }]
    expect(await firedIn({}, made(NOON - HOUR_MS + 1))).toEqual([])
    expect(await firedIn({}, made(NOON - HOUR_MS))).toEqual(['dom_new'])
  })
  test('are evaluated separately', async () => {
    using history = await warehouseWith([...purchases(3), eventOf({ domainId: 'dom_blog' })])
    const { alr_1 } = await evaluate(history, [volume({ volume: { op: 'gte', count: 2 } })], all)
    expect(alr_1?.map(({ domainId, observed }) => [domainId, observed])).toEqual([['dom_shop', 3]])
  })
})

test('sampled events are counted with their weight, rounded', async () => {
  using history = await warehouseWith(purchases(3, 1 / 0.3))
  const equals = (count: number) => volume({ volume: { op: 'gte', count } }, `alr_${count}`)
  const { alr_10, alr_11 } = await evaluate(history, [equals(10), equals(11)], shop)
  expect(alr_10).toMatchObject([{ observed: 10 }])
  expect(alr_11).toEqual([])
})

test('many alerts share one scan, each with its own scope', async () => {
  using history = await warehouseWith([
    eventOf({ vendor: 'ga4', event: 'view', params: { k: 'a' } }),
    eventOf({ vendor: 'ga4', event: 'purchase', params: { k: 'b', mail: 'jane@example.com' } }),
    eventOf({ vendor: 'meta', event: 'view', host: 'blog.example' }),
    eventOf({ vendor: 'meta', event: 'view', receivedAt: NOON - HOUR_MS }),
    eventOf({ vendor: 'meta', event: 'view', receivedAt: NOON }),
    eventOf({ vendor: 'meta', event: 'view', receivedAt: NOON - HOUR_MS - 1 }),
    eventOf({ vendor: 'meta', event: 'view', orgId: 'org_b' }),
  ])
  const gte = { op: 'gte' as const, count: 0 }
  const scopes: [string, Partial<AlertInput>, number][] = [
    ['all', {}, 4],
    ['ga4', { vendors: ['ga4'] }, 2],
    ['both', { vendors: ['ga4', 'meta', 'other'] }, 4],
    ['views', { volume: { ...gte, event: 'view' } }, 3],
    ['k', { filters: [{ parameter: 'k', op: 'equals', values: ['a', 'c'] }] }, 1],
    ['no k', { filters: [{ parameter: 'k', op: 'is_blank' }] }, 2],
    ['mail', { filters: [{ parameter: '*', op: 'contains_email' }] }, 1],
    ['blog', { filters: [{ parameter: '$host', op: 'starts_with', values: ['blog'] }], vendors: ['meta'] }, 1],
    ['none', { vendors: ['other'] }, 0],
  ]
  const [first, ...others] = scopes.map(([id, values]) => volume({ volume: gte, ...values }, `alr_${id}`))
  if (!first) throw new Error('no alerts')
  const findings = await evaluate(history, [first, ...others], shop)
  expect(Object.values(findings).map(([finding]) => finding?.observed)).toEqual(scopes.map(([, , count]) => count))
})

describe('alerts without filters', () => {
  const { measure } = volumeThreshold
  const named = [volume({ vendors: ['ga4'], domainId: 'dom_a' }, 'alr_1'), volume({ vendors: ['meta'] }, 'alr_2')]

  test('read only the counts of vendors and domains in scope', () => {
    const query = measure(named, HOUR_BEFORE_NOON, shop)
    const { sql, keys = [] } = inSql(query)
    expect(sql).toMatch(/FROM counts WHERE vendor IN \(\$p\d+, \$p\d+\) GROUP BY/)
    expect({ over: query.over, keys }).toEqual({ over: 'counts', keys: [] })
    const all = inSql(measure([...named, volume({}, 'alr_3')], HOUR_BEFORE_NOON, shop))
    expect(all.sql).toContain('FROM counts GROUP BY')
    expect(all.sql).toMatch(/^SELECT domainId, CASE WHEN vendor IN \(\$p\d+, \$p\d+\) THEN vendor END AS vendor/)
  })

  test('are measured separately from those with filters', () => {
    const filters: Condition[] = [{ parameter: 'k', op: 'is_blank' }]
    const scans = [volume({}), volume({ filters: [] }), volume({ filters })].map((alert) =>
      volumeThreshold.scanKey(alert, HOUR_BEFORE_NOON),
    )
    expect(scans).toEqual(['counts', 'counts', 'events'])
  })

  test('have the same counts regardless of the number of names', async () => {
    using history = await warehouseWith([eventOf({ vendor: 'v7' }), eventOf({ vendor: 'v7', event: 'view' })])
    const [first, ...others] = Array.from({ length: 501 }, (_, n) =>
      volume({ vendors: [`v${n}`], volume: { op: 'gte', count: 1, event: n % 2 ? 'purchase' : `e${n}` } }, `alr_${n}`),
    )
    if (!first) throw new Error('no alerts')
    const findings = await evaluate(history, [first, ...others, volume({}, 'alr_all')], shop)
    const fired = Object.entries(findings).filter(([, { length }]) => length > 0)
    expect(fired.map(([id]) => id)).toEqual(['alr_7'])
  })
})

test.each<[string, Partial<AlertInput>]>([
  ['without filters', {}],
  ['with filters', { filters: [{ parameter: 'k', op: 'is_blank' }] }],
])('events of every environment are counted, but not loads of a vendor’s code: %s', async (_, values) => {
  const kinds = ['event', 'hit', 'tag', 'library'] as const
  using history = await warehouseWith([...kinds.map((kind) => eventOf({ kind })), eventOf({ env: 'dev' })])
  const { alr_1 } = await evaluate(history, [volume({ ...values, volume: { op: 'gte', count: 0 } })], shop)
  expect(alr_1?.map(({ observed }) => observed)).toEqual([4])
})

test('the history counts the events that match the predicates', async () => {
  const word = fc.constantFrom('', 'a', 'b', '12')
  const filter: fc.Arbitrary<Condition> = fc.record({
    parameter: fc.constantFrom('k', 'l', '$event', '$durMs', '*'),
    op: fc.constantFrom('equals', 'not_equals', 'not_blank', 'gt'),
    values: fc.constantFrom(['5'], ['12', '1']),
  })
  const input = fc.record({
    filters: fc.array(filter, { maxLength: 2 }),
    scope: fc.constantFrom<Partial<AlertInput>>(
      {},
      { vendors: ['a'] },
      { domainId: 'a' },
      { vendors: ['a', 'b'], domainIds: ['b'] },
    ),
    event: fc.option(word, { nil: undefined }),
    op: fc.constantFrom('lte' as const, 'gte' as const),
    count: fc.integer({ min: 0, max: 30 }),
  })
  const event = fc.record({
    domainId: fc.constantFrom('a', 'b'),
    vendor: fc.constantFrom('a', 'b', 'c'),
    event: word,
    durMs: fc.option(fc.constantFrom(0, 12, 12.5)),
    weight: fc.constantFrom(1, 4, 1 / 0.3),
    params: fc.dictionary(fc.constantFrom('k', 'l'), word),
  })
  const inputs = fc.array(input, { minLength: 1, maxLength: 5 })
  await fc.assert(
    fc.asyncProperty(inputs, fc.array(event, { maxLength: 30 }), async (inputs, values) => {
      const events = values.map(eventOf)
      using history = await warehouseWith(events)
      const [first, ...others] = inputs.map(({ filters, scope, event, op, count }, index) =>
        volume({ filters, ...scope, volume: { op, count, ...(event !== undefined && { event }) } }, `alr_${index}`),
      )
      if (!first) return
      const findings = await evaluate(history, [first, ...others], domainsNamed('a', 'b'))
      for (const [index, alert] of [first, ...others].entries()) {
        const passes = compileFilters(alert.filters ?? [])
        const { op = 'lte', count: limit = 0, event: name } = inputs[index] ?? {}
        const expected = ['a', 'b'].flatMap((domainId) => {
          if (domainsOf(alert).length > 0 && !domainsOf(alert).includes(domainId)) return []
          const counted = events.filter(
            (event) =>
              event.domainId === domainId &&
              (!alert.vendors || alert.vendors.includes(event.vendor)) &&
              (!name || event.event === name) &&
              passes(event),
          )
          const count = Math.round(counted.reduce((sum, { weight }) => sum + weight, 0))
          return (op === 'lte' ? count <= limit : count >= limit) ? [[domainId, count]] : []
        })
        expect(findings[alert.id]?.map(({ domainId, observed }) => [domainId, observed])).toEqual(expected)
      }
    }),
    { numRuns: 25 },
  )
})
