import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { PLAIN_PRIVACY } from '../conditions/privacy-settings.ts'
import { parser } from '../core/schema.ts'
import { deriveExpectations } from './derive-expectations.ts'
import { ExpectationSchema } from './expectation.ts'
import { judgeRun } from './judge-run.ts'
import { checkExpectations } from './match-expectations.ts'
import { runEvent, stepResult } from './run-result.fixture.ts'
import type { RunEvent } from './run-result.ts'

const own = (...events: Partial<RunEvent>[]) => deriveExpectations(events.map(runEvent), PLAIN_PRIVACY)
const dataOf = (params: Record<string, string>, vendor = 'Google Analytics 4') =>
  own({ vendor, event: 'purchase', params })[0]?.data ?? []

describe('derived expectations', () => {
  test('contain vendor, event, account and step, without duplicates', () => {
    const event = { step: 2, vendor: 'Meta Pixel', event: 'Purchase', account: '123' }
    expect(own(event, event)).toEqual([event])
    expect(own({ step: 1, vendor: 'Hotjar', event: '' })).toEqual([{ step: 1, vendor: 'Hotjar' }])
  })

  const cases: [string, Record<string, string>, object[], vendor?: string][] = [
    ['a currency', { cu: 'EUR' }, [{ parameter: 'cu', op: 'equals', values: ['EUR'] }]],
    ['an order', { 'ep.transaction_id': 'T-0815' }, [{ parameter: 'ep.transaction_id', op: 'not_blank' }]],
    ['a value', { 'epn.value': '49.9' }, [{ parameter: 'epn.value', op: 'gt', values: ['0'] }]],
    ['no value', { 'epn.value': '0' }, [{ parameter: 'epn.value', op: 'not_blank' }]],
    ['a page type', { 'ep.page_type': 'product' }, [{ parameter: 'ep.page_type', op: 'equals', values: ['product'] }]],
    ['a product name', { 'pr1.item_name': 'Red shoes' }, [{ parameter: 'pr1.item_name', op: 'not_blank' }]],
    ['blank values', { 'ep.coupon': ' ' }, []],
    ['values added by the library', { _p: '1', cid: '12.34', sr: '1280x800', dl: 'https://a.example/' }, []],
    ['a time', { 'ep.event_time': '1767614399500' }, []],
    ['an e-mail address', { 'ep.contact': 'ann@example.com' }, []],
    ['ids of users', { 'up.user_type': 'guest', 'ep.email_hash': 'abc', uid: '7' }, []],
    ['a secret', { 'ep.coupon': 'x***y' }, []],
    [
      'monetary values of another vendor',
      { currency: 'EUR' },
      [{ parameter: 'currency', op: 'equals', values: ['EUR'] }],
      'Klaviyo',
    ],
    ['other values of another vendor', { screen: 'wide', mode: 'x' }, [], 'Klaviyo'],
    [
      'a key with a dollar sign',
      { $order_value: '5' },
      [{ parameter: '$$order_value', op: 'gt', values: ['0'] }],
      'Klaviyo',
    ],
  ]
  test.each(cases.map(([name, ...rest]) => ({ name, rest })))(
    'are correct for $name',
    ({ rest: [params, data, vendor] }) => {
      expect(dataOf(params, vendor)).toEqual(data as never)
    },
  )

  test('contain five parameters, most relevant first', () => {
    const params = Object.fromEntries(['a', 'b', 'c', 'd', 'value', 'currency'].map((key) => [`ep.${key}`, 'x']))
    expect(dataOf(params).map(({ parameter }) => parameter)).toEqual([
      'ep.currency',
      'ep.value',
      'ep.a',
      'ep.b',
      'ep.c',
    ])
  })

  test('contain only the data that both events have in common', () => {
    const [one] = own(
      { event: 'view_item', params: { cu: 'EUR', 'ep.kind': 'a', 'ep.only': 'x' } },
      { event: 'view_item', params: { cu: 'EUR', 'ep.kind': 'b' } },
    )
    expect(one?.data).toEqual([
      { parameter: 'cu', op: 'equals', values: ['EUR'] },
      { parameter: 'ep.kind', op: 'not_blank' },
    ])
  })

  test.each(['user_engagement', 'scroll', 'ping', 'ann@example.com'])('omit %s', (event) => {
    expect(own({ event })).toEqual([])
  })

  test('are limited to 100, with priority for events related to money', () => {
    const many = Array.from({ length: 120 }, (_, n) => ({ event: `e${n}` }))
    const kept = own(...many, { event: 'purchase', step: 3 })
    expect(kept).toHaveLength(100)
    expect(kept.at(-1)).toMatchObject({ event: 'purchase', step: 3 })
  })
})

const key = fc.oneof(
  fc.constantFrom(
    'cu',
    'ep.value',
    'epn.value',
    'ep.order_id',
    'cd[value]',
    'value',
    '*',
    '$event',
    '$x',
    '__proto__',
    'ep.name',
  ),
  fc.string({ maxLength: 12 }).map((text) => text.toWellFormed().replaceAll('\0', '')),
)
const value = fc.oneof(
  fc.constantFrom('EUR', '0', '12.5', '1e-400', ' ', 'a b', 'ann@example.com', '+4915112345678', '***', '007'),
  fc.string({ maxLength: 20 }).map((text) => text.toWellFormed().replaceAll('\0', '')),
)
const anyEvent = fc.record({
  step: fc.nat(2),
  vendor: fc.constantFrom('Google Analytics 4', 'Meta Pixel', 'Klaviyo'),
  event: fc.constantFrom('purchase', '', 'view_item', 'scroll'),
  account: fc.constantFrom(null, '', 'G-1'),
  params: fc.dictionary(key, value, { maxKeys: 6 }),
})

test('a passed run meets the expectations derived from it, and they can be saved', () => {
  const parse = parser(ExpectationSchema)
  const steps = [0, 1, 2].map((index) => stepResult({ index }))
  fc.assert(
    fc.property(fc.array(anyEvent, { maxLength: 10 }), (sent) => {
      const events = sent.map(runEvent)
      const expectations = deriveExpectations(events, PLAIN_PRIVACY)
      for (const one of expectations) parse(one)
      checkExpectations(expectations, 3)
      const findings = judgeRun({ steps, events, error: null, expectations, labels: {}, privacy: PLAIN_PRIVACY })
      expect(findings.filter(({ kind }) => kind !== 'duplicate')).toEqual([])
      expect(JSON.stringify(expectations)).not.toMatch(/ann@|4915112345678|\*\*\*/)
    }),
    { numRuns: 300 },
  )
})
