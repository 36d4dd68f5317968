import { expect, test } from 'bun:test'
import type { CountryCode } from 'libphonenumber-js/max'
import type { AnyTest } from '../warehouse/query.ts'
import { newBinder } from '../warehouse/warehouse.fixture.ts'
import type { Condition, Rule } from './condition.ts'
import { filtersSql, violationSql } from './condition-sql.ts'

const condition = (parameter: string, op: Condition['op'], ...values: string[]): Condition => ({
  parameter,
  op,
  values,
})

const compile = (rule: Rule, regions: Parameters<typeof violationSql>[2] = []) => {
  const binder = newBinder()
  return { ...violationSql(rule, binder, regions), params: binder.params }
}
const all = (...items: Condition[]): Rule => ({ conditions: { logic: 'all', items } })

test.each<[string, Rule, string[], boolean, boolean]>([
  ['nothing', {}, [], false, true],
  [
    'keys of all parts without duplicates',
    {
      filters: [condition('a', 'equals', 'x')],
      ...all(condition('b', 'is_blank'), condition('a', 'gt', '1')),
      conditionGroups: [{ op: 'any', items: [condition('$$os', 'regex', 'x.y')] }],
    },
    ['a', 'b', '$os'],
    false,
    true,
  ],
  ['fields are not keys', all(condition('$path', 'equals', '/'), condition('$version', 'gt', '3')), [], false, true],
  ['any parameter', all(condition('a', 'is_blank'), condition('*', 'contains_email')), ['a'], true, true],
  ['phone numbers', all(condition('a', 'contains_phone'), condition('b', 'contains_email')), ['a', 'b'], false, false],
  ['no phone number under an identifier', all(condition('cid', 'contains_phone')), ['cid'], false, true],
])('the SQL reads the expected keys and is exact where possible: %s', (_, rule, keys, wholeParams, exact) => {
  expect(compile(rule)).toMatchObject({ keys, wholeParams, exact })
})

test('user input never becomes SQL, and every bound parameter is used', () => {
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

test('a key becomes a quoted identifier', () => {
  expect(compile(all(condition('a" OR 1=1 --', 'equals', 'x'))).sql).toContain('"p:a"" ^o^r 1=1 --"')
})

test('patterns for plain strings are not queried as regular expressions', () => {
  const { sql, params } = compile(all(condition('a', 'regex', 'abc', '^/x', String.raw`\.png$`, '^only$')))
  expect(sql).not.toContain('regexp')
  expect(Object.values(params)).toEqual(['abc', '/x', '.png', 'only'])
})

test('phone number candidates are narrower without regions', () => {
  const rule = all(condition('a', 'contains_phone'))
  expect(Object.keys(compile(rule).params).length).toBe(2)
  expect(Object.keys(compile(rule, ['US']).params).length).toBe(1)
})

test('filters are compiled to SQL without a rule', () => {
  const binder = newBinder('f')
  const { sql, keys } = filtersSql([condition('a', 'equals', 'x'), condition('b', 'not_equals', 'y')], binder)
  expect(sql).toBe(
    '(("p:a" IS NOT NULL AND ("p:a" = $f0)) AND (CASE WHEN "p:b" IS NULL THEN true ELSE (NOT ("p:b" = $f1)) END))',
  )
  expect(keys).toEqual(['a', 'b'])
})

test('tests on any parameter are passed to a query that supports them, without reading the map', () => {
  const rule: Rule = {
    filters: [condition('*', 'contains', `'); DROP TABLE events; --`)],
    ...all(condition('*', 'contains_phone'), condition('a', 'is_blank'), condition('*', 'not_equals', 'x')),
  }
  const binder = newBinder()
  const anyTests: AnyTest[] = []
  const { sql, keys, wholeParams, exact } = violationSql(rule, binder, [], anyTests)
  expect({ keys, wholeParams, exact }).toEqual({ keys: ['a'], wholeParams: false, exact: false })
  expect(anyTests.map(({ column }) => column)).toEqual(['any0', 'any1', 'any2'])
  for (const { column } of anyTests) expect(sql).toContain(`"${column}"`)
  const text = [sql, ...anyTests.map(({ of }) => of(null))].join('\n')
  expect(text).not.toContain('DROP')
  for (const name of Object.keys(binder.params)) expect(text).toMatch(new RegExp(`\\$${name}\\b`))
})

test.each<[string, string | null, readonly CountryCode[], string]>([
  ['an identifier', 'gid', [], '(1 = 0)'],
  ['a phone key', 'phone', [], 'any'],
  ['any key', null, [], 'any'],
  ['another key', 'note', [], 'narrower'],
  ['another key when national notation is recognised', 'note', ['DE'], 'any'],
])('the phone number test is selected for %s', (_, key, regions, expected) => {
  const anyTests: AnyTest[] = []
  violationSql(all(condition('*', 'contains_phone')), newBinder(), regions, anyTests)
  const [test] = anyTests
  const [own = '', any = ''] = [test?.of(key), test?.of(null)]
  if (expected === 'narrower') expect([own === any, own.includes(any)]).toEqual([false, true])
  else expect(own).toBe(expected === 'any' ? any : expected)
})

test('tests that are too long to repeat for every column read the map instead', () => {
  const anyTests: AnyTest[] = []
  const long = all(
    condition('*', 'contains_email'),
    condition('*', 'contains', ...Array.from({ length: 100 }, (_, n) => `x${n}`)),
  )
  const binder = newBinder()
  const { sql, wholeParams } = violationSql(long, binder, [], anyTests)
  expect([anyTests.length, wholeParams]).toEqual([1, true])
  expect(sql).not.toContain('{value}')
  const text = [sql, ...anyTests.map(({ of }) => of(null))].join('\n')
  for (const name of Object.keys(binder.params)) expect(text).toMatch(new RegExp(`\\$${name}\\b`))
})
