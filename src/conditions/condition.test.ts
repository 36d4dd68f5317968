import { describe, expect, test } from 'bun:test'
import { OPERATORS } from '../contract/condition-operators.ts'
import { AppError } from '../core/error.ts'
import { parser, Type } from '../core/schema.ts'
import {
  type Condition,
  ConditionGroupSchema,
  ConditionSchema,
  ConditionSetSchema,
  checkConditions,
  checkRule,
  conditionsOf,
  readParameter,
} from './condition.ts'

function refusal(run: () => unknown): string | null {
  try {
    run()
    return null
  } catch (thrown) {
    if (thrown instanceof AppError && thrown.code === 'invalid') return thrown.message
    throw thrown
  }
}

describe('the condition schema', () => {
  const parse = parser(ConditionSchema)
  const one: Condition = { parameter: 'k', op: 'equals', values: ['a'] }
  test.each([
    [one, null],
    [{ parameter: 'k', op: 'is_blank' }, null],
    [{ ...one, values: Array(100).fill('x'.repeat(1000)) }, null],
    [{ ...one, parameter: '' }, 'parameter'],
    [{ ...one, parameter: 'x'.repeat(201) }, 'parameter'],
    [{ ...one, op: 'like' }, 'op: must be one of equals'],
    [{ ...one, values: Array(101).fill('a') }, 'values'],
    [{ ...one, values: ['a', 'x'.repeat(1001)] }, 'values[1]'],
    [{ ...one, values: 'a' }, 'values'],
    [{ ...one, value: 'a' }, 'value'],
    [{ op: 'equals' }, 'parameter'],
  ])('validates %j: %p', (value, named) => {
    const message = refusal(() => parse(value))
    if (named === null) expect(message).toBeNull()
    else expect(message).toContain(named)
  })

  test('allows up to 50 conditions in each list', () => {
    const whole = parser(
      Type.Object({ conditions: ConditionSetSchema, conditionGroups: Type.Array(ConditionGroupSchema) }),
    )
    const rule = (count: number, groupCount: number) => ({
      conditions: { logic: 'any', items: Array(count).fill(one) },
      conditionGroups: [{ op: 'all', items: Array(groupCount).fill(one) }],
    })
    expect(refusal(() => whole(rule(50, 50)))).toBeNull()
    expect(refusal(() => whole(rule(51, 0)))).toContain('conditions.items')
    expect(refusal(() => whole(rule(0, 51)))).toContain('conditionGroups[0].items')
  })

  test('has nineteen operators', () => {
    expect(OPERATORS.length).toBe(19)
    expect(new Set(OPERATORS).size).toBe(19)
  })
})

test.each([
  ['page', { kind: 'key', key: 'page' }],
  ['*', { kind: 'any' }],
  ['$vendor', { kind: 'field', field: 'vendor' }],
  ['$execMs', { kind: 'field', field: 'execMs' }],
  ['$$os', { kind: 'key', key: '$os' }],
  ['$$$', { kind: 'key', key: '$$' }],
  ['a$', { kind: 'key', key: 'a$' }],
  ['$os', { kind: 'field', field: 'os' }],
  ['$sct', null],
  ['$', null],
  ['$seq', null],
  ['$constructor', null],
  ['$Vendor', null],
])('the parameter %p is read as %j', (parameter, target) => {
  expect(readParameter(parameter)).toEqual(target as ReturnType<typeof readParameter>)
})

const condition = (op: Condition['op'], ...values: string[]): Condition => ({ parameter: 'k', op, values })

describe('checks of conditions that match the schema', () => {
  test.each(OPERATORS.map((op) => [op] as const))('require values for %s, unless the operator needs none', (op) => {
    const without = ['is_blank', 'not_blank', 'contains_email', 'contains_phone'].includes(op)
    const message = without ? null : `filters[0].values: at least one value is required for ${op}`
    expect(refusal(() => checkConditions([{ parameter: 'k', op }], 'filters'))).toBe(message)
    expect(refusal(() => checkConditions([{ parameter: 'k', op, values: [] }], 'filters'))).toBe(message)
  })

  test.each([
    [condition('equals', ''), null],
    [condition('length_eq', '0'), null],
    [condition('length_gt', '12', '1.5'), 'filters[0].values[1]: "1.5" is not a length'],
    [condition('length_lt', '-1'), 'filters[0].values[0]: "-1" is not a length'],
    [condition('length_lt', ''), 'is not a length'],
    [condition('length_eq', '1e2'), 'is not a length'],
    [condition('gt', '-0.5', '1e3', '.5', '5.', '+7'), null],
    [condition('gt', 'ten'), 'filters[0].values[0]: "ten" is not a number'],
    [condition('lt', ''), 'is not a number'],
    [condition('lt', ' 1'), 'is not a number'],
    [condition('lt', '1_000'), 'is not a number'],
    [condition('gt', '0x10'), 'is not a number'],
    [condition('gt', 'Infinity'), 'is not a number'],
    [condition('regex', 'a', '('), 'filters[0].values[1]: the pattern does not compile'],
    [condition('custom_pii_regex', '(?=a)'), 'filters[0].values[0]: the pattern does not compile'],
    [condition('regex', String.raw`^\d{3}-\d{4}$`), null],
    [condition('equals', 'a\ud800'), 'filters[0].values[0]: not valid Unicode'],
    [{ ...condition('equals', 'a'), parameter: '$gclid' }, 'filters[0].parameter: $gclid is not an event field'],
    [{ ...condition('equals', 'a'), parameter: 'a\udc00' }, 'filters[0].parameter: not valid Unicode'],
  ])('report the error for %j: %p', (one, message) => {
    const got = refusal(() => checkConditions([one], 'filters'))
    if (message === null) expect(got).toBeNull()
    else expect(got).toContain(message)
  })

  test('name the path of the invalid condition', () => {
    const good = condition('equals', 'a')
    const bad = condition('equals')
    const message = 'values: at least one value is required for equals'
    const rule = { filters: [good], conditions: { logic: 'any' as const, items: [good] } }
    expect(refusal(() => checkRule(rule))).toBeNull()
    expect(refusal(() => checkRule({ filters: [good, good, bad] }))).toBe(`filters[2].${message}`)
    expect(refusal(() => checkRule({ conditions: { logic: 'any', items: [good, bad] } }, 'rule'))).toBe(
      `rule.conditions.items[1].${message}`,
    )
    expect(refusal(() => checkRule({ ...rule, conditionGroups: [{ op: 'any', items: [bad] }] }, 'alerts[3]'))).toBe(
      `alerts[3].conditionGroups[0].items[0].${message}`,
    )
    expect(conditionsOf({ ...rule, conditionGroups: [{ op: 'any', items: [bad] }] })).toEqual([good, good, bad])
  })
})
