import { describe, expect, test } from 'bun:test'
import type { Operator } from '../contract/condition-operators.ts'
import { NO_SEGMENTS } from '../core/event.ts'
import type { Condition, ConditionEvent, Rule } from './condition.ts'
import { compileCondition, compileFilters, compileViolation } from './predicate.ts'

const EVENT: ConditionEvent = {
  vendor: 'GA4',
  event: 'purchase',
  account: 'G-1',
  host: 'shop.example',
  path: '/checkout',
  title: null,
  env: 'prod',
  status: 'failure',
  sessionId: null,
  customerId: null,
  execMs: 1500.5,
  durMs: 0,
  bytes: null,
  version: 12,
  segments: NO_SEGMENTS,
  params: { value: '19.90', currency: 'EUR', empty: '', note: ' \t\u00a0' },
}

const withValue = (k: string): ConditionEvent => ({ ...EVENT, params: { k } })

/**
 * Operator, values, texts for which the condition is true, and texts for which it is false. Reversed for the negative
 * operator.
 */
const CASES: [Operator, string[], string[], string[]][] = [
  ['equals', ['EUR', 'USD'], ['EUR', 'USD'], ['eur', 'EUR ', '', 'EURUSD']],
  ['equals', [''], [''], [' ', 'a']],
  ['equals', ['é'], ['é'], ['e\u0301']],
  ['contains', ['oo', '😀'], ['foo', 'a😀b'], ['fo', 'OO', '\u{1f603}', '']],
  ['contains', ['.*'], ['a.*b'], ['ab']],
  ['starts_with', ['/shop', 'x'], ['/shop', '/shop/1', 'x'], ['a/shop', '/Shop', '']],
  ['ends_with', ['.png', '😀'], ['.png', 'a.png', 'a😀'], ['.png?', '.PNG', '']],
  ['is_blank', [], ['', ' ', '\t\r\n', '\u00a0', '\u2028\u3000\ufeff'], ['a', '\u200b', '\u0085', '0', '-']],
  ['length_eq', ['2', '4'], ['ab', '😀😀', 'e\u0301', 'abcd'], ['', 'a', 'abc', '😀']],
  ['length_gt', ['2'], ['abc', '😀😀😀'], ['', 'ab', '😀😀']],
  ['length_lt', ['2'], ['', 'a', '😀'], ['ab', '😀😀']],
  [
    'gt',
    ['10', '100'],
    ['10.5', '11', '1e2', '+11', '1e400'],
    ['10', '-11', '', 'x', '11px', '1_000', '0x20', ' 11', 'Infinity'],
  ],
  ['lt', ['-1.5'], ['-2', '-1e400', '-1.6'], ['-1.5', '0', '', 'NaN', '- 2']],
  ['regex', [String.raw`^\d+$`, 'x$'], ['12', 'ax'], ['12a', '', 'xa', '٣']],
  ['custom_pii_regex', [String.raw`\b\d{3}-\d{2}-\d{4}\b`], ['ssn 460-89-9847.'], ['460-89-98471', '']],
  [
    'contains_email',
    [],
    [
      'a@b.co',
      'mail=jane.doe%40example.com&x',
      'a%2540b.co',
      'x a@sub.b.museum.',
      'a@xn--d1acufc.xn--p1ai',
      "o'neil+x@b.co",
    ],
    [
      '',
      'a@b',
      '@b.co',
      'a@b.c',
      'a%252540b.co',
      'a@1.2.3.4',
      'logo@2x.png',
      'https://medium.com/@jo.doe',
      'pkg@1.2.3',
      'a@-b.co',
    ],
  ],
  [
    'contains_phone',
    [],
    ['+1 506 234 5678', 'tel:+15062345678', '0049 30 1234567', '%2B15062345678', 'call +49 (0)30 1234567 now'],
    ['', '15062345678', '506-234-5678', '+1 234', '2024-11-20 07:11', '+999 123456789', '0015', 'a+15062345678'],
  ],
]

describe.each(CASES)('the condition %s %j', (op, values, holding, failing) => {
  const condition = { parameter: 'k', op, values }
  test('is evaluated on one parameter', () => {
    const holds = compileCondition(condition)
    expect(holding.filter((text) => !holds(withValue(text)))).toEqual([])
    expect(failing.filter((text) => holds(withValue(text)))).toEqual([])
  })

  test('treats a missing parameter as an empty string', () => {
    const holds = compileCondition({ ...condition, parameter: 'missing' })
    expect(holds(EVENT)).toBe(compileCondition(condition)(withValue('')))
    // Inherited properties are not parameters.
    for (const parameter of ['constructor', '__proto__', 'toString']) {
      expect(compileCondition({ ...condition, parameter })(EVENT)).toBe(holds(EVENT))
    }
  })

  test('holds on any parameter when at least one value matches', () => {
    const holds = compileCondition({ ...condition, parameter: '*' })
    for (const text of holding) expect(holds({ ...EVENT, params: { a: failing[0] ?? '', b: text } })).toBe(true)
    expect(holds({ ...EVENT, params: Object.fromEntries(failing.map((text, index) => [`k${index}`, text])) })).toBe(
      false,
    )
    expect(holds({ ...EVENT, params: {} })).toBe(false)
  })
})

const COMPLEMENTS: [Operator, Operator][] = [
  ['equals', 'not_equals'],
  ['contains', 'not_contains'],
  ['starts_with', 'not_starts_with'],
  ['ends_with', 'not_ends_with'],
  ['is_blank', 'not_blank'],
]

test.each(COMPLEMENTS)('%s and %s are exact complements', (op, twin) => {
  for (const [, values, holding, failing] of CASES.filter(([other]) => other === op)) {
    for (const parameter of ['k', '*', 'missing']) {
      const holds = compileCondition({ parameter, op, values })
      const complement = compileCondition({ parameter, op: twin, values })
      for (const event of [...[...holding, ...failing].map(withValue), { ...EVENT, params: {} }]) {
        expect(complement(event)).toBe(!holds(event))
      }
    }
  }
})

test.each([
  ['$vendor', 'equals', 'GA4', true],
  ['$event', 'starts_with', 'purch', true],
  ['$account', 'equals', 'G-1', true],
  ['$host', 'ends_with', '.example', true],
  ['$path', 'regex', '^/check', true],
  ['$title', 'is_blank', '', true],
  ['$env', 'equals', 'prod', true],
  ['$status', 'not_equals', 'ok', true],
  ['$sessionId', 'length_eq', '0', true],
  ['$customerId', 'not_blank', '', false],
  ['$execMs', 'gt', '1500', true],
  ['$execMs', 'equals', '1500.5', true],
  ['$durMs', 'lt', '1', true],
  ['$durMs', 'is_blank', '', false],
  ['$bytes', 'is_blank', '', true],
  ['$bytes', 'lt', '1', false],
  ['$version', 'equals', '12', true],
  ['$version', 'equals', '12.0', false],
  ['$version', 'length_eq', '2', true],
  ['$version', 'gt', '11', true],
  ['vendor', 'is_blank', '', true],
] as const)('the condition %s %s %p evaluates to %p', (parameter, op, value, holds) => {
  expect(compileCondition({ parameter, op, values: [value] })(EVENT)).toBe(holds)
})

test('the parameter name of a key that begins with $ has a second $', () => {
  const event = { ...EVENT, params: { $os: 'Linux' } }
  expect(compileCondition({ parameter: '$$os', op: 'equals', values: ['Linux'] })(event)).toBe(true)
})

const YES: Condition = { parameter: 'currency', op: 'equals', values: ['EUR'] }
const NO: Condition = { parameter: 'currency', op: 'equals', values: ['USD'] }

test.each<[Rule, boolean]>([
  [{}, true],
  [{ filters: [YES, YES] }, true],
  [{ filters: [YES, NO] }, false],
  [{ conditions: { logic: 'any', items: [NO, YES] } }, true],
  [{ conditions: { logic: 'all', items: [NO, YES] } }, false],
  [{ conditions: { logic: 'all', items: [YES, YES] } }, true],
  [{ conditions: { logic: 'any', items: [] } }, false],
  [{ conditions: { logic: 'all', items: [] } }, true],
  [{ filters: [NO], conditions: { logic: 'any', items: [YES] } }, false],
  [{ conditions: { logic: 'any', items: [YES] }, conditionGroups: [{ op: 'any', items: [YES, NO] }] }, true],
  [
    {
      conditions: { logic: 'any', items: [YES] },
      conditionGroups: [
        { op: 'any', items: [YES] },
        { op: 'all', items: [YES, NO] },
      ],
    },
    false,
  ],
  [{ conditions: { logic: 'any', items: [NO] }, conditionGroups: [{ op: 'any', items: [YES] }] }, false],
  [{ conditionGroups: [{ op: 'any', items: [] }] }, false],
  [{ conditionGroups: [{ op: 'all', items: [] }] }, true],
])('the rule %j is violated: %p', (rule, broken) => {
  expect(compileViolation(rule)(EVENT)).toBe(broken)
})

test('every event passes an empty list of filters', () => {
  expect(compileFilters([])(EVENT)).toBe(true)
  expect(compileFilters([YES, NO])(EVENT)).toBe(false)
})

test('phone regions add national phone numbers', () => {
  const condition: Condition = { parameter: 'k', op: 'contains_phone' }
  expect(compileCondition(condition)(withValue('(506) 234-5678'))).toBe(false)
  expect(compileCondition(condition, ['DE', 'CA'])(withValue('(506) 234-5678'))).toBe(true)
})
