import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type DuckDBConnection, DuckDBInstance, LIST, MAP, mapValue, VARCHAR } from '@duckdb/node-api'
import fc from 'fast-check'
import { EVENT_COLUMNS, type StoredEvent } from '../core/event.ts'
import { columnName, duckdbDialect, quoteName, quoteText } from '../warehouse/dialect.ts'
import { Binder } from '../warehouse/query.ts'
import { type Node, numberReference, PHONES, spell, violationReference } from './agreement-reference.ts'
import type { Condition, Rule } from './condition.ts'
import { checkRule, OPERATORS } from './condition.ts'
import type { PhoneRegions } from './phone.ts'
import { compileViolation } from './predicate.ts'
import { violationSql } from './sql.ts'

/*
 * Three answers to "does this event break this rule" must be one: the predicate's, the one of the SQL in DuckDB, and
 * that of `agreement-reference.ts`, which is written as plainly as it can be said and shares no code with the others.
 */

const KEYS = ['k', 'K', 'phone', '$os', "it's", 'a.b', 'constructor', '__proto__', 'cid', 'Ключ', '^k"']
const PIECES = [
  // White space, and two that look like it and are none.
  ...'\t\v\f\r\u1680\u2000\u2005\u200a\u2028\u2029\u202f\u205f\u180e\u2060',
  '%99',
  '',
  ' ',
  '\t',
  '\u00a0',
  '\u0085',
  '\u200b',
  '\ufeff',
  '\u3000',
  '\n',
  'a',
  'A',
  'b',
  'ab',
  'k',
  '\u212a',
  's',
  'ſ',
  'é',
  'e\u0301',
  'É',
  'σ',
  'ς',
  '😀',
  '👩‍👧',
  'ß',
  'ẞ',
  'İ',
  '0',
  '7',
  '12',
  '.',
  '-',
  '+',
  'e3',
  'E',
  '_',
  "'",
  '"',
  '\\',
  '%',
  '$',
  '(',
  '[',
  '^',
  '\ufffd',
  '\u{10ffff}',
  '%41',
  '%2541',
  '%zz',
  '%C3%A9',
  '%40',
  '%2540',
  '@',
  'b.co',
  'x.example.org',
  '@2x.png',
  'jo@ex-1.de',
  '//site.io/@joe.fm',
]
const NUMBERS = [
  '0',
  '-0',
  '+5',
  '5.',
  '.5',
  '-.5e+3',
  '5.e3',
  '1e5',
  '00012',
  '12',
  '12.0',
  '1e400',
  '-1e400',
  '1e-400',
  '4.9e-324',
  '123456789012345678901234567890',
  '0.1',
  '0.30000000000000004',
  '1_000',
  '0x10',
  'Infinity',
  'NaN',
  '1e',
  '1,5',
  ' 1',
  '1 ',
  '.',
  '-',
  '٣',
  '1.2.3',
  '--1',
  '1e5.5',
]

const text = fc.oneof(
  { weight: 6, arbitrary: fc.array(fc.constantFrom(...PIECES), { maxLength: 4 }).map((pieces) => pieces.join('')) },
  { weight: 3, arbitrary: fc.constantFrom(...NUMBERS) },
  { weight: 1, arbitrary: fc.constantFrom(...PHONES).map((phone) => `call ${phone} now`) },
)
const shortText = fc.oneof(fc.constantFrom(...PIECES), text)
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { freq: 3 })
const number = fc.oneof(
  fc.constantFrom(0, -0, 12, 0.5, 1e-7, 123456.75, 5e-324, 2 ** 53, 1e21, 1.5e22),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer({ min: 0, max: 100_000 }),
)

const event: fc.Arbitrary<StoredEvent> = fc.record({
  seq: fc.constant(0),
  id: fc.constant('e'),
  ts: fc.constant(1),
  receivedAt: fc.constant(1),
  orgId: fc.constant('org'),
  domainId: fc.constant('dom'),
  env: fc.constantFrom('prod', 'dev'),
  vendor: fc.constantFrom('GA4', 'ab'),
  event: text,
  account: maybe(text),
  kind: fc.constant('event'),
  host: maybe(text),
  path: maybe(text),
  title: maybe(text),
  sessionId: maybe(text),
  customerId: maybe(text),
  status: maybe(fc.constantFrom('ok', 'failure')),
  execMs: maybe(number),
  durMs: maybe(number),
  bytes: maybe(number),
  version: maybe(number),
  weight: fc.constant(1),
  violations: fc.constant(null),
  params: fc
    .array(fc.tuple(fc.constantFrom(...KEYS), text), { maxLength: 5 })
    .map((entries) => Object.fromEntries(entries)),
})

const character = fc.constantFrom('a', 'b', 'k', 's', 'é', 'σ', '😀', ' ', '\n', '.', '-', '@', '7', '_', '^', '\u0301')
const pattern: fc.Arbitrary<Node> = fc.letrec<{ node: Node; leaf: Node }>((tie) => ({
  leaf: fc.oneof(
    { weight: 5, arbitrary: fc.record({ kind: fc.constant('character' as const), character }) },
    fc.constant<Node>({ kind: 'any' }),
    fc.record({
      kind: fc.constant('class' as const),
      negated: fc.boolean(),
      characters: fc.array(character, { minLength: 1, maxLength: 3 }),
    }),
    fc
      .constantFrom(...(['d', 'D', 'w', 'W', 's', 'S'] as const))
      .map((letter): Node => ({ kind: 'shorthand', letter })),
    fc.constantFrom<Node>({ kind: 'start' }, { kind: 'end' }, { kind: 'boundary' }),
  ),
  node: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    tie('leaf'),
    fc.record({
      kind: fc.constantFrom('sequence' as const, 'choice' as const),
      parts: fc.array(tie('node'), { minLength: 1, maxLength: 3 }),
    }),
    fc.record({
      kind: fc.constant('repeat' as const),
      part: tie('node'),
      least: fc.integer({ min: 0, max: 2 }),
      most: fc.constantFrom(2, 3, 99),
      lazy: fc.boolean(),
    }),
    fc.record({ kind: fc.constant('fold' as const), part: tie('node') }),
  ),
})).node

const parameter = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...KEYS).map((key) => key.replace(/^\$/, '$$$$')) },
  { weight: 2, arbitrary: fc.constant('*') },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      ...'$vendor $event $account $host $path $title $env $status $sessionId $customerId $execMs $durMs $bytes $version'.split(
        ' ',
      ),
    ),
  },
)

/** A condition, and of each pattern in it what it stands for. */
interface Case {
  condition: Condition
  patterns: [string, Node][]
}
const few = <T>(value: fc.Arbitrary<T>) => fc.array(value, { minLength: 1, maxLength: 3 })

const condition: fc.Arbitrary<Case> = fc
  .record({ parameter, op: fc.constantFrom(...OPERATORS) })
  .chain(({ parameter, op }): fc.Arbitrary<Case> => {
    const of = (values: fc.Arbitrary<string[]>) =>
      values.map((v) => ({ condition: { parameter, op, values: v }, patterns: [] }))
    if (/blank|email|phone/.test(op)) return fc.constant({ condition: { parameter, op }, patterns: [] })
    if (op.startsWith('length')) return of(few(fc.integer({ min: 0, max: 9 }).map(String)))
    if (op === 'gt' || op === 'lt')
      return of(few(fc.constantFrom(...NUMBERS.filter((n) => !Number.isNaN(numberReference(n))))))
    if (op !== 'regex' && op !== 'custom_pii_regex') return of(few(shortText))
    return few(pattern).map((nodes) => {
      const patterns = nodes.map((node): [string, Node] => [spell(node), node])
      return { condition: { parameter, op, values: patterns.map(([source]) => source) }, patterns }
    })
  })

const rule = fc
  .record({
    filters: fc.array(condition, { maxLength: 1 }),
    conditions: fc.option(
      fc.record({ logic: fc.constantFrom('any', 'all'), items: fc.array(condition, { maxLength: 2 }) }),
      { freq: 5 },
    ),
    conditionGroups: fc.array(
      fc.record({ op: fc.constantFrom('any', 'all'), items: fc.array(condition, { maxLength: 2 }) }),
      { maxLength: 1 },
    ),
  })
  .map(({ filters, conditions, conditionGroups }) => {
    const plain = (cases: Case[]) => cases.map(({ condition }) => condition)
    const all = [...filters, ...(conditions?.items ?? []), ...conditionGroups.flatMap(({ items }) => items)]
    const written: Rule = {
      filters: plain(filters),
      ...(conditions && { conditions: { logic: conditions.logic, items: plain(conditions.items) } }),
      conditionGroups: conditionGroups.map(({ op, items }) => ({ op, items: plain(items) })),
    }
    return { rule: written, patterns: new Map(all.flatMap(({ patterns }) => patterns)) }
  })

const single = condition.map(({ condition, patterns }) => ({
  rule: { conditions: { logic: 'all' as const, items: [condition] } } satisfies Rule,
  patterns: new Map(patterns),
}))

let connection: DuckDBConnection
beforeAll(async () => {
  const database = await DuckDBInstance.create(':memory:')
  connection = await database.connect()
  const columns = Object.entries(EVENT_COLUMNS).map(([name, type]) => `${quoteName(name)} ${type}`)
  await connection.run(`CREATE TABLE stored (${columns.join(', ')}, params MAP(VARCHAR, VARCHAR))`)
  const keys = KEYS.map((key) => `params[${quoteText(key)}] AS ${quoteName(columnName(key))}`)
  await connection.run(`CREATE VIEW events AS SELECT *, ${keys.join(', ')} FROM stored`)
})
afterAll(() => connection.closeSync())

async function store(events: readonly StoredEvent[]): Promise<void> {
  await connection.run('DELETE FROM stored')
  const appender = await connection.createAppender('stored')
  for (const [seq, event] of events.entries()) {
    for (const [name, type] of Object.entries(EVENT_COLUMNS)) {
      const value = name === 'seq' ? seq : event[name as keyof StoredEvent]
      if (value === null) appender.appendNull()
      else if (type === 'BIGINT') appender.appendBigInt(BigInt(value as number))
      else if (type === 'DOUBLE') appender.appendDouble(value as number)
      else if (type === 'VARCHAR') appender.appendVarchar(value as string)
      else appender.appendValue(null, LIST(VARCHAR))
    }
    const entries = Object.entries(event.params).map(([key, value]) => ({ key, value }))
    appender.appendValue(mapValue(entries), MAP(VARCHAR, VARCHAR))
    appender.endRow()
  }
  appender.flushSync()
  appender.closeSync()
}

/** One row an event and one column a rule. */
async function ask(
  rules: readonly Rule[],
  regions: readonly PhoneRegions[] = [],
): Promise<{ rows: unknown[][]; exact: boolean[] }> {
  const binder = new Binder()
  const compiled = rules.map((rule, index) => violationSql(rule, duckdbDialect, binder, regions[index]))
  const select = `SELECT ${compiled.map(({ sql }) => sql).join(', ')} FROM events ORDER BY seq`
  const values = Object.keys(binder.params).length > 0 ? binder.params : undefined
  const answer = await connection.runAndReadAll(select, values)
  return { rows: answer.getRows(), exact: compiled.map(({ exact }) => exact) }
}

let compared = 0
const held: Record<string, number> = {}

async function compare(events: readonly StoredEvent[], rules: readonly { rule: Rule; patterns: Map<string, Node> }[]) {
  await store(events)
  const { rows, exact } = await ask(rules.map(({ rule }) => rule))
  for (const [column, { rule, patterns }] of rules.entries()) {
    checkRule(rule)
    const predicate = compileViolation(rule)
    for (const [row, event] of events.entries()) {
      const wanted = violationReference(rule, event, patterns)
      const inSql = rows[row]?.[column]
      const confirmed = exact[column] ? inSql : inSql === true && predicate(event)
      expect({ rule, event, predicate: predicate(event), sql: confirmed }).toEqual({
        rule,
        event,
        predicate: wanted,
        sql: wanted,
      })
      if (typeof inSql !== 'boolean') throw new Error(`${inSql} is no answer`)
      compared++
      const op = rule.conditions?.items[0]?.op ?? 'none'
      if (wanted) held[op] = (held[op] ?? 0) + 1
    }
  }
}

/** The difference alone; the twenty events and thirty rules around it would hide it. */
function report<T>(run: fc.RunDetails<T>): void {
  if (!run.failed) return
  throw new Error(`seed ${run.seed}, after ${run.numRuns} runs: ${String(run.errorInstance)}`)
}

const events = fc.array(event, { minLength: 20, maxLength: 20 })

test('single conditions: predicate, SQL and reference agree', async () => {
  compared = 0
  const rules = fc.array(single, { minLength: 30, maxLength: 30 })
  await fc.assert(fc.asyncProperty(events, rules, compare), { numRuns: 60, endOnFailure: true, reporter: report })
  expect(compared).toBeGreaterThanOrEqual(10_000)
  // Agreement in saying no would be worth little.
  for (const op of OPERATORS) expect({ op, held: (held[op] ?? 0) > 5 }).toEqual({ op, held: true })
}, 60_000)

test('whole rules: predicate, SQL and reference agree', async () => {
  compared = 0
  const rules = fc.array(rule, { minLength: 25, maxLength: 25 })
  await fc.assert(fc.asyncProperty(events, rules, compare), { numRuns: 30, endOnFailure: true, reporter: report })
  expect(compared).toBeGreaterThanOrEqual(10_000)
}, 60_000)

test('no phone number is missing among the candidates', async () => {
  const piece = fc.constantFrom(
    ...['+', '00', '0', '%2B', '%252b', '%30%30', '%31', '1506', '2345678', '(506) 234-5678', '4930', '+49 30 1234567'],
    ...['tel:', ' ', '-', 'x', '@', '%20'],
  )
  const value = fc.array(piece, { minLength: 1, maxLength: 5 }).map((pieces) => pieces.join(''))
  const asked = ['k', 'cid', 'phone', '*', '$title'].flatMap((parameter) =>
    ([[], ['CA'], ['DE', 'FR']] as const).map((regions) => {
      const rule: Rule = { filters: [{ parameter, op: 'contains_phone' }] }
      return { rule, regions, holds: compileViolation(rule, regions) }
    }),
  )
  let found = 0
  const check = async (values: readonly string[]) => {
    const [base] = fc.sample(event, 1)
    if (!base) throw new Error('no event')
    const tried = values.map((text) => ({ ...base, title: text, params: { k: text, cid: text, phone: text } }))
    await store(tried)
    const { rows } = await ask(
      asked.map(({ rule }) => rule),
      asked.map(({ regions }) => regions),
    )
    for (const [row, event] of tried.entries()) {
      for (const [column, { rule, regions, holds }] of asked.entries()) {
        if (!holds(event)) continue
        found++
        expect({ rule, regions, title: event.title, sql: rows[row]?.[column] }).toMatchObject({ sql: true })
      }
    }
  }
  await fc.assert(fc.asyncProperty(fc.array(value, { minLength: 50, maxLength: 50 }), check), {
    numRuns: 20,
    endOnFailure: true,
  })
  expect(found).toBeGreaterThan(500)
}, 60_000)
