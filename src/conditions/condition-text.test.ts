import { describe, expect, test } from 'bun:test'
import { OPERATORS } from '../contract/condition-operators.ts'
import type { Condition, ConditionEvent } from './condition.ts'
import { conditionText, describeViolation, joinWords } from './condition-text.ts'

const table: [string, Condition['op'], string[] | undefined, string][] = [
  ['transaction_id', 'is_blank', undefined, 'had no `transaction_id`'],
  ['debug', 'not_blank', undefined, 'had `debug`'],
  ['currency', 'equals', ['EUR'], 'had `currency` equal to "EUR"'],
  ['currency', 'equals', ['EUR', 'USD'], 'had `currency` equal to "EUR" or "USD"'],
  ['currency', 'not_equals', ['EUR', 'USD', 'GBP'], 'had `currency` other than "EUR", "USD" or "GBP"'],
  ['currency', 'not_equals', ['1', '2', '3', '4', '5'], 'had `currency` other than "1", "2", "3" or 2 more'],
  ['url', 'contains', ['staging'], 'had `url` containing "staging"'],
  ['url', 'not_contains', ['utm_'], 'had `url` not containing "utm_"'],
  ['id', 'starts_with', ['T-'], 'had `id` starting with "T-"'],
  ['id', 'not_starts_with', ['T-'], 'had `id` not starting with "T-"'],
  ['id', 'ends_with', ['-x'], 'had `id` ending with "-x"'],
  ['id', 'not_ends_with', ['-x'], 'had `id` not ending with "-x"'],
  ['sku', 'length_eq', ['1'], 'had `sku` of 1 character'],
  ['sku', 'length_eq', ['5', '8'], 'had `sku` of 5 or 8 characters'],
  ['sku', 'length_gt', ['9', '5'], 'had `sku` of more than 5 characters'],
  ['sku', 'length_lt', ['9', '5'], 'had `sku` of fewer than 9 characters'],
  ['value', 'gt', ['100', '50'], 'had `value` above 50'],
  ['value', 'lt', ['0'], 'had `value` below 0'],
  ['value', 'regex', ['^x+$'], 'had `value` matching "^x+$"'],
  ['url', 'contains_email', undefined, 'had an e-mail address in `url`'],
  ['tel', 'contains_phone', undefined, 'had a phone number in `tel`'],
  ['note', 'custom_pii_regex', ['[A-Z]{2}\\d{6}'], 'had personal data in `note`, matching "[A-Z]{2}\\\\d{6}"'],
  ['*', 'is_blank', undefined, 'had a blank parameter'],
  ['*', 'not_blank', undefined, 'had no blank parameter'],
  ['*', 'equals', ['undefined'], 'had a parameter equal to "undefined"'],
  ['*', 'not_equals', ['x'], 'had no parameter equal to "x"'],
  ['*', 'not_contains', ['x'], 'had no parameter containing "x"'],
  ['*', 'contains_email', undefined, 'had an e-mail address in a parameter'],
  ['$host', 'not_equals', ['shop.example'], 'had a host other than "shop.example"'],
  ['$title', 'is_blank', undefined, 'had no page title'],
  ['$durMs', 'gt', ['1000'], 'had a duration in ms above 1000'],
  ['$$os', 'is_blank', undefined, 'had no `$os`'],
  ['url', 'contains', ['x'.repeat(1000)], `had \`url\` containing "${'x'.repeat(59)}…"`],
]

describe('the description of a condition', () => {
  test.each(table)('for %s %s %j is: %s', (parameter, op, values, words) => {
    expect(conditionText({ parameter, op, ...(values ? { values } : {}) })).toBe(words)
  })

  test('exists for every operator', () => {
    expect(new Set(table.map(([, op]) => op))).toEqual(new Set(OPERATORS))
  })
})

describe('the description of how events violate a rule', () => {
  const event = { params: { a: '', b: '-5', c: 'x' } } as unknown as ConditionEvent
  const [a, b, c]: Condition[] = [
    { parameter: 'a', op: 'is_blank' },
    { parameter: 'b', op: 'lt', values: ['0'] },
    { parameter: 'c', op: 'is_blank' },
  ]
  const items = [a, b, c].flatMap((one) => one ?? [])
  test.each<[string, Parameters<typeof describeViolation>[0], ReturnType<typeof describeViolation>]>([
    ['one condition', { conditions: { logic: 'any', items: items.slice(0, 1) } }, { always: ['had no `a`'], here: [] }],
    [
      'all of several conditions',
      { conditions: { logic: 'all', items: items.slice(0, 2) } },
      { always: ['had no `a`', 'had `b` below 0'], here: [] },
    ],
    [
      'any of several conditions',
      { conditions: { logic: 'any', items } },
      { always: [], here: ['had no `a`', 'had `b` below 0'] },
    ],
    [
      'a condition and a group',
      {
        conditions: { logic: 'all', items: items.slice(0, 1) },
        conditionGroups: [{ op: 'any', items: items.slice(1) }],
      },
      { always: ['had no `a`'], here: ['had `b` below 0'] },
    ],
    ['no condition', {}, { always: [], here: [] }],
  ])('covers %s', (_name, rule, broken) => {
    expect(describeViolation(rule, event)).toEqual(broken)
    expect(describeViolation(rule, null)).toEqual({ ...broken, here: [] })
  })
})

test.each([
  [[], ''],
  [['a'], 'a'],
  [['a', 'b'], 'a and b'],
  [['a', 'b', 'c'], 'a, b and c'],
  [['a', 'b', 'c', 'd', 'e'], 'a, b, c and 2 more'],
])('%j is joined as: %s', (clauses, text) => expect(joinWords(clauses)).toBe(text))
