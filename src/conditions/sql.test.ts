import { expect, test } from 'bun:test'
import { duckdbDialect } from '../warehouse/dialect.ts'
import { Binder } from '../warehouse/query.ts'
import type { Condition, Rule } from './condition.ts'
import { filtersSql, violationSql } from './sql.ts'

const condition = (parameter: string, op: Condition['op'], ...values: string[]): Condition => ({
  parameter,
  op,
  values,
})

const compile = (rule: Rule, regions: Parameters<typeof violationSql>[3] = []) => {
  const binder = new Binder()
  return { ...violationSql(rule, duckdbDialect, binder, regions), params: binder.params }
}
const all = (...items: Condition[]): Rule => ({ conditions: { logic: 'all', items } })

test.each<[string, Rule, string[], boolean, boolean]>([
  ['nothing', {}, [], false, true],
  [
    'keys of all parts, once each',
    {
      filters: [condition('a', 'equals', 'x')],
      ...all(condition('b', 'is_blank'), condition('a', 'gt', '1')),
      conditionGroups: [{ op: 'any', items: [condition('$$os', 'regex', 'x.y')] }],
    },
    ['a', 'b', '$os'],
    false,
    true,
  ],
  ['fields are no keys', all(condition('$path', 'equals', '/'), condition('$version', 'gt', '3')), [], false, true],
  ['any parameter', all(condition('a', 'is_blank'), condition('*', 'contains_email')), ['a'], true, true],
  ['phone numbers', all(condition('a', 'contains_phone'), condition('b', 'contains_email')), ['a', 'b'], false, false],
  ['no phone number under an identifier', all(condition('cid', 'contains_phone')), ['cid'], false, true],
])('%s: what is read, and whether it is exact', (_, rule, keys, wholeParams, exact) => {
  expect(compile(rule)).toMatchObject({ keys, wholeParams, exact })
})

test('no text of a user becomes SQL, and every bound name is used', () => {
  const evil = `'); DROP TABLE events; --`
  const rule: Rule = {
    filters: [condition('a', 'equals', evil, evil), condition('b', 'not_contains', evil)],
    ...all(
      condition('c', 'regex', String.raw`'\); DROP`, `'; DROP$`),
      condition('*', 'ends_with', evil),
      condition('d', 'gt', '1'),
    ),
    conditionGroups: [
      {
        op: 'any',
        items: [condition('e', 'contains_email'), condition('f', 'contains_phone'), condition('cid', 'contains_phone')],
      },
    ],
  }
  const { sql, params } = compile(rule)
  expect(sql).not.toContain('DROP')
  expect(Object.values(params).filter((value) => String(value).includes('DROP')).length).toBe(6)
  for (const name of Object.keys(params)) expect(sql).toMatch(new RegExp(`\\$${name}\\b`))
})

test('a key becomes a quoted name', () => {
  expect(compile(all(condition('a" OR 1=1 --', 'equals', 'x'))).sql).toContain('"p:a"" ^o^r 1=1 --"')
})

test('plain text is not asked as a pattern', () => {
  const { sql, params } = compile(all(condition('a', 'regex', 'abc', '^/x', String.raw`\.png$`, '^only$')))
  expect(sql).not.toContain('regexp')
  expect(Object.values(params)).toEqual(['abc', '/x', '.png', 'only'])
})

test('the candidates for phone numbers are fewer without regions', () => {
  const rule = all(condition('a', 'contains_phone'))
  expect(Object.keys(compile(rule).params).length).toBe(2)
  expect(Object.keys(compile(rule, ['US']).params).length).toBe(1)
})

test('filters alone', () => {
  const binder = new Binder('f')
  const { sql, keys } = filtersSql(
    [condition('a', 'equals', 'x'), condition('b', 'not_equals', 'y')],
    duckdbDialect,
    binder,
  )
  expect(sql).toBe('(("p:a" IS NOT NULL AND ("p:a" = $f0)) AND (NOT ("p:b" IS NOT NULL AND ("p:b" = $f1))))')
  expect(keys).toEqual(['a', 'b'])
})
