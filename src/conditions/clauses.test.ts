import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { type ConditionClause, clausesOf } from './clauses.ts'
import type { Condition, Rule } from './condition.ts'
import { compileCondition, compileViolation } from './predicate.ts'
import { anEvent, aRule } from './random-rules.fixture.ts'

const is = (parameter: string, op: Condition['op'], ...values: string[]): Condition => ({
  parameter,
  op,
  ...(values.length > 0 && { values }),
})
const spell = (clauses: readonly ConditionClause[]) =>
  clauses.map((clause) =>
    clause
      .map(({ positive: { parameter, op, values = [] }, isNegative }) =>
        [isNegative ? 'not' : '', parameter, op, values.join('|')].filter(Boolean).join(' '),
      )
      .join(' or '),
  )

test.each<[string, Rule, string[]]>([
  ['nothing', {}, []],
  ['any of an empty list, which is never true', { conditions: { logic: 'any', items: [] } }, ['']],
  ['all of an empty list', { conditions: { logic: 'all', items: [] } }, []],
  ['several filters', { filters: [is('a', 'is_blank'), is('b', 'gt', '1')] }, ['a is_blank', 'b gt 1']],
  [
    'any of several values in several conditions',
    { conditions: { logic: 'any', items: [is('a', 'equals', 'x', 'y'), is('b', 'is_blank')] } },
    ['a equals x or a equals y or b is_blank'],
  ],
  ['none of several values', { filters: [is('a', 'not_equals', 'x', 'y')] }, ['not a equals x', 'not a equals y']],
  [
    'none of several values or another condition',
    { conditionGroups: [{ op: 'any', items: [is('a', 'not_equals', 'x', 'y'), is('b', 'not_blank')] }] },
    ['not a equals x or not b is_blank', 'not a equals y or not b is_blank'],
  ],
  ['values that the operator ignores', { filters: [is('a', 'is_blank', 'x')] }, ['a is_blank']],
])('a rule is converted to clauses: %s', (_, rule, expected) => {
  expect(spell(clausesOf(rule))).toEqual(expected)
})

test('conditions with many values are not split', () => {
  const values = Array.from({ length: 100 }, (_, n) => `${n}`)
  const filters = [is('a', 'not_equals', ...values)]
  expect(clausesOf({ filters })).toEqual([[{ positive: { parameter: 'a', op: 'equals', values }, isNegative: true }]])
})

test('a rule is converted to at most 32 clauses', () => {
  const items = Array.from({ length: 50 }, (_, n) => is(`k${n}`, 'not_contains', 'a', 'b', 'c', 'd'))
  expect(clausesOf({ conditions: { logic: 'any', items } }).length).toBeLessThanOrEqual(32)
})

test('the clauses of a rule are true exactly when the rule is violated', () => {
  fc.assert(
    fc.property(aRule, anEvent, ({ read: rule }, event) => {
      const holds = clausesOf(rule).every((clause) =>
        clause.some(({ positive, isNegative }) => compileCondition(positive)(event) !== isNegative),
      )
      expect(holds).toBe(compileViolation(rule)(event))
    }),
    { numRuns: 3000 },
  )
})
