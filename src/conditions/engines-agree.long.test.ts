import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type DuckDBConnection, DuckDBInstance, LIST, MAP, mapValue, VARCHAR } from '@duckdb/node-api'
import fc from 'fast-check'
import { OPERATORS } from '../contract/condition-operators.ts'
import { EVENT_COLUMNS, type StoredEvent } from '../core/event.ts'
import { derivedColumns } from '../warehouse/dialect.ts'
import { newBinder } from '../warehouse/warehouse.fixture.ts'
import { checkRule, type Rule } from './condition.ts'
import { violationSql } from './condition-sql.ts'
import type { PhoneRegions } from './find-phone-numbers.ts'
import { compileViolation } from './predicate.ts'
import { anEvent, aRule, aSingle, KEYS } from './random-rules.fixture.ts'
import { type Node, violationReference } from './rule-reference.ts'

/*
 * Three implementations must agree on whether an event breaks a rule: the predicate, the SQL in DuckDB, and
 * `rule-reference.ts`. The reference implementation is as simple as possible and shares no code with the other
 * two.
 */

const { dialect } = newBinder()
let connection: DuckDBConnection
beforeAll(async () => {
  const database = await DuckDBInstance.create(':memory:')
  connection = await database.connect()
  const columns = Object.entries(EVENT_COLUMNS).map(([name, type]) => `${dialect.name(name)} ${type}`)
  await connection.run(`CREATE TABLE stored (${columns.join(', ')}, params MAP(VARCHAR, VARCHAR))`)
  const keys = KEYS.map((key) => `params['${key.replaceAll("'", "''")}'] AS ${dialect.key(key)}`)
  await connection.run(`CREATE VIEW events AS SELECT *, ${derivedColumns(dialect)}, ${keys.join(', ')} FROM stored`)
})
afterAll(() => connection.closeSync())

async function store(events: readonly StoredEvent[]): Promise<void> {
  await connection.run('DELETE FROM stored')
  const appender = await connection.createAppender('stored')
  for (const [seq, event] of events.entries()) {
    for (const [name, type] of Object.entries(EVENT_COLUMNS)) {
      const value = name === 'seq' ? seq : { ...event, ...event.segments }[name as keyof typeof EVENT_COLUMNS]
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

/** Returns one row per event with one column per rule. */
async function ask(
  rules: readonly Rule[],
  regions: readonly PhoneRegions[] = [],
): Promise<{ rows: unknown[][]; exact: boolean[] }> {
  const binder = newBinder()
  const compiled = rules.map((rule, index) => violationSql(rule, binder, regions[index]))
  const select = `SELECT ${compiled.map(({ sql }) => sql).join(', ')} FROM events ORDER BY seq`
  const values = Object.keys(binder.params).length > 0 ? binder.params : undefined
  const answer = await connection.runAndReadAll(select, values)
  return { rows: answer.getRows(), exact: compiled.map(({ exact }) => exact) }
}

let compared = 0
const held: Record<string, number> = {}

async function compare(
  events: readonly StoredEvent[],
  rules: readonly { rule: Rule; read: Rule; patterns: Map<string, Node> }[],
) {
  await store(events)
  const { rows, exact } = await ask(rules.map(({ read }) => read))
  for (const [column, { rule, read, patterns }] of rules.entries()) {
    checkRule(rule)
    const predicate = compileViolation(read)
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
      if (typeof inSql !== 'boolean') throw new Error(`unexpected SQL result: ${inSql}`)
      compared++
      const [first] = rule.conditions?.items ?? []
      const op = first?.parameter === '$label' ? `label ${first.op}` : (first?.op ?? 'none')
      if (wanted) held[op] = (held[op] ?? 0) + 1
    }
  }
}

/** Reports only the difference, because the full counterexample has twenty events and thirty rules. */
function report<T>(run: fc.RunDetails<T>): void {
  if (!run.failed) return
  throw new Error(`seed ${run.seed}, after ${run.numRuns} runs: ${String(run.errorInstance)}`)
}

const events = fc.array(anEvent, { minLength: 20, maxLength: 20 })

test('predicate, SQL and reference implementation agree on single conditions', async () => {
  compared = 0
  const rules = fc.array(aSingle, { minLength: 30, maxLength: 30 })
  await fc.assert(fc.asyncProperty(events, rules, compare), { numRuns: 200, endOnFailure: true, reporter: report })
  expect(compared).toBeGreaterThanOrEqual(10_000)
  // Agreement would prove little if no condition were ever true.
  for (const op of [...OPERATORS, 'label equals', 'label not_equals'])
    expect({ op, held: (held[op] ?? 0) > 5 }).toEqual({ op, held: true })
})

test('predicate, SQL and reference implementation agree on whole rules', async () => {
  compared = 0
  const rules = fc.array(aRule, { minLength: 25, maxLength: 25 })
  await fc.assert(fc.asyncProperty(events, rules, compare), { numRuns: 30, endOnFailure: true, reporter: report })
  expect(compared).toBeGreaterThanOrEqual(10_000)
})

test('the SQL candidates include every phone number', async () => {
  const piece = fc.constantFrom(
    '+',
    '00',
    '0',
    '%2B',
    '%252b',
    '%30%30',
    '%31',
    '1506',
    '2345678',
    '(506) 234-5678',
    '4930',
    '+49 30 1234567',
    'tel:',
    ' ',
    '-',
    'x',
    '@',
    '%20',
  )
  const value = fc.array(piece, { minLength: 1, maxLength: 5 }).map((pieces) => pieces.join(''))
  const singles = ['k', 'cid', 'phone', '*', '$title'].flatMap((parameter) =>
    ([[], ['CA'], ['DE', 'FR']] as const).map((regions) => {
      const rule: Rule = { filters: [{ parameter, op: 'contains_phone' }] }
      return { rule, regions, holds: compileViolation(rule, regions) }
    }),
  )
  let found = 0
  const check = async (values: readonly string[]) => {
    const [base] = fc.sample(anEvent, 1)
    if (!base) throw new Error('no event')
    const tried = values.map((text) => ({ ...base, title: text, params: { k: text, cid: text, phone: text } }))
    await store(tried)
    const { rows } = await ask(
      singles.map(({ rule }) => rule),
      singles.map(({ regions }) => regions),
    )
    for (const [row, event] of tried.entries()) {
      for (const [column, { rule, regions, holds }] of singles.entries()) {
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
})
