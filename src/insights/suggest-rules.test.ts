import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { readAlertInput } from '../alerts/alert-input.ts'
import { alertFrom } from '../alerts/alert-store.ts'
import { compileViolation } from '../conditions/predicate.ts'
import { plainEvent } from '../core/event.fixture.ts'
import { NUMBER_PATTERN } from '../core/value-type.ts'
import type { PairedName } from './paired-events.ts'
import { type KeyFacts, kindOf, NOT_NUMBER, suggest, suggestEventIds } from './suggest-rules.ts'

const values = (...texts: string[]) => texts.map((value) => ({ value, events: 500 / texts.length }))

/** A key of an event name with 500 events. It is in every event, with many distinct values. */
const steady: KeyFacts = {
  domainId: 'dom_1',
  vendor: 'Shop API',
  event: 'purchase',
  key: 'transaction_id',
  events: 500,
  present: 500,
  numbers: 0,
  leastDailyShare: 1,
  isConstant: false,
  values: values(...Array.from({ length: 21 }, (_, n) => `T-${n}`)),
}

describe('the suggestion for a key', () => {
  test.each<[string, Partial<KeyFacts>, ReturnType<typeof kindOf>]>([
    ['always present', {}, 'required_key'],
    ['in 99.5 % of events', { present: 497.5 }, 'required_key'],
    ['in less than 99.5 % of events', { present: 497 }, null],
    ['in only 199 events', { events: 199, present: 199 }, null],
    ['often missing on one day', { leastDailyShare: 0.89 }, null],
    ['always a number', { numbers: 500 }, 'key_type'],
    ['nearly always a number', { numbers: 499 }, 'required_key'],
    ['few values', { values: values('EUR', 'USD') }, 'key_values'],
    ['twenty values', { values: values(...Array.from({ length: 20 }, (_, n) => `v${n}`)) }, 'key_values'],
    ['few values, in 499 events', { events: 499, present: 499, values: values('EUR') }, 'required_key'],
    ['a rare value', { values: [...values('EUR'), { value: 'USD', events: 2 }] }, 'required_key'],
    ['a value that is too long', { values: values('x'.repeat(1001)) }, 'required_key'],
    ['the same value in all events of the vendor', { isConstant: true }, null],
    ['the event name as the value', { key: 'n', values: values('purchase') }, null],
    ['a key set by the vendor’s library', { vendor: 'Google Analytics 4', key: 'cid' }, null],
    [
      'a custom Google Analytics 4 parameter',
      { vendor: 'Google Analytics 4', key: 'ep.transaction_id' },
      'required_key',
    ],
    ['Meta custom data', { vendor: 'Meta Pixel', key: 'cd[order_id]' }, 'required_key'],
    ['the pixel id', { vendor: 'Meta Pixel', key: 'id' }, null],
    ['a key without a name', { key: '' }, null],
    ['a key that conditions read as a wildcard', { key: '*' }, null],
    ['a key that is too long', { key: 'k'.repeat(201) }, null],
  ])('has the expected kind: %s', (_, change, kind) => {
    expect(kindOf({ ...steady, ...change })).toBe(kind)
  })
})

test('one pattern matches every value that is not a number', () => {
  const found = new RegExp(NOT_NUMBER, 's')
  const number = new RegExp(NUMBER_PATTERN)
  const digits = fc.string({ unit: fc.constantFrom(...'0123456789.eE+-'), maxLength: 6 })
  fc.assert(
    fc.property(fc.oneof(digits, fc.string(), fc.double().map(String), fc.integer().map(String)), (text) => {
      expect(found.test(text)).toBe(!number.test(text))
    }),
    { numRuns: 5000 },
  )
})

describe('a suggested rule', () => {
  const facts: KeyFacts[] = [
    steady,
    { ...steady, key: 'value', numbers: 500 },
    { ...steady, key: 'currency', values: values('EUR', 'USD') },
    { ...steady, key: '$odd "key"\\', event: '' },
  ]

  test.each(suggest(facts, [], { days: 7, oneIn: 1 }).map((draft) => [draft.kind, draft] as const))(
    'of kind %s detects invalid events',
    (kind, { rule, reason, facts }) => {
      const input = readAlertInput(JSON.parse(JSON.stringify(rule)))
      const alert = alertFrom(input, { id: 'alr_1', orgId: 'org_1', createdAt: 0, updatedAt: 0 })
      const isWrong = compileViolation(alert)
      const event = (value: string, name = facts.event) =>
        plainEvent({ vendor: facts.vendor, event: name, params: { [facts.key]: value } })
      const good = { required_key: 'T-1', key_type: '12.50', key_values: 'USD' }[kind]
      expect(isWrong(event(good))).toBe(false)
      expect(isWrong(event(''))).toBe(true)
      expect(isWrong(event('undefined'))).toBe(kind !== 'required_key')
      expect(isWrong(event('', 'another'))).toBe(false)
      expect(reason).toContain(`500 of 500`)
      // A suggestion that has been saved as an alert is not repeated.
      expect(suggest([facts], [alert], { days: 7, oneIn: 1 })).toEqual([])
      expect(suggest([{ ...facts, domainId: 'dom_2' }], [alert], { days: 7, oneIn: 1 })).toHaveLength(1)
      expect(suggest([{ ...facts, event: 'another' }], [alert], { days: 7, oneIn: 1 })).toHaveLength(1)
    },
  )

  test('suggestions about money come first, with at most five for one event', () => {
    const many = Array.from({ length: 9 }, (_, n) => ({
      ...steady,
      event: 'scroll',
      key: `k${n}`,
      events: 9000 - n,
      present: 9000,
    }))
    const drafts = suggest([...many, ...facts], [], { days: 7, oneIn: 1 })
    expect(drafts.map(({ facts: { event, key } }) => `${event} ${key}`)).toEqual([
      ...['purchase transaction_id', 'purchase value', 'purchase currency'].sort(),
      'scroll k0',
      'scroll k1',
      'scroll k2',
      'scroll k3',
      'scroll k4',
      ' $odd "key"\\',
    ])
    expect(drafts[0]?.rule.severity).toBe('high')
    expect(drafts.at(-1)?.rule.severity).toBe('low')
  })
})

describe('the event id rule', () => {
  const name: PairedName = {
    domainId: 'dom_1',
    vendor: 'Reddit Pixel',
    event: 'Purchase',
    serverEvent: 'PURCHASE',
    byDay: new Map(),
    matched: 840,
    browserOnly: 100,
    serverOnly: 60,
    browserWithoutId: 80,
    serverWithoutId: 0,
  }

  test.each<[string, Partial<PairedName>, boolean]>([
    ['84 % have a partner', {}, true],
    ['85 % have a partner', { matched: 850, browserOnly: 90 }, false],
    ['160 events, none with a partner', { matched: 0 }, false],
    ['none of 200 has a partner', { matched: 0, browserOnly: 100, serverOnly: 100 }, true],
    ['none of 199 has a partner', { matched: 0, browserOnly: 100, serverOnly: 99 }, false],
    ['all have an id', { browserWithoutId: 0 }, true],
    ['an empty name', { event: '' }, false],
    ['a vendor without pairing', { vendor: 'Google Analytics 4' }, false],
  ])('is suggested in the right cases: %s', (_, change, isSuggested) => {
    expect(suggestEventIds([{ ...name, ...change }], [], 7).length).toBe(isSuggested ? 1 : 0)
  })

  test("requires the id only in the pair's browser and server events", () => {
    const [{ rule } = { rule: null }] = suggestEventIds([name], [], 7)
    const alert = alertFrom(readAlertInput(rule), { id: 'alr_1', orgId: 'org_1', createdAt: 0, updatedAt: 0 })
    const isWrong = compileViolation(alert)
    const of = (event: string, params: Record<string, string>) =>
      isWrong(plainEvent({ vendor: 'Reddit Pixel', event, params }))
    expect([of('Purchase', {}), of('PURCHASE', { 'type.tracking_type': 'PURCHASE' })]).toEqual([true, true])
    expect(of('Purchase', { 'm.conversionId': 'e1' })).toBe(false)
    expect(of('PURCHASE', { 'metadata.conversion_id': 'e1' })).toBe(false)
    expect(of('Lead', {})).toBe(false)
    expect(suggestEventIds([name], [alert], 7)).toEqual([])
  })
})
