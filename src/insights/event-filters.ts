import { type Condition, checkConditions, LABEL } from '../conditions/condition.ts'
import { filtersSql } from '../conditions/condition-sql.ts'
import { resolveLabelConditions } from '../conditions/label-conditions.ts'
import { AppError } from '../core/error.ts'
import { OneOf, type Static, Type } from '../core/schema.ts'
import type { MembersOf } from '../labels/label.ts'
import type { AnyTest, Binder, Statement } from '../warehouse/query.ts'
import { textField } from './query-params.ts'

/** Query fields that select events by their content. */
export const filterFields = {
  sessionId: textField(200, 'Only events of this session'),
  param: textField(
    5000,
    '`key=value`: only events whose parameter has exactly this value. Keys are written as in conditions: `$path=/cart` matches a field, and ' +
      '`*=EUR` matches any parameter. `key=`: only events without the parameter. `key`: only events with it',
  ),
  version: Type.Optional(Type.Number({ description: 'Release' })),
  env: Type.Optional(OneOf(['prod', 'dev'], { description: 'Environment' })),
  violated: Type.Optional(Type.Boolean({ description: 'Only events that violated a rule on receipt, or only others' })),
  label: textField(80, 'Only events with this label as currently defined; an unknown label matches no events'),
  q: textField(200, 'Text contained in a parameter, host, path or title; case-sensitive'),
}

const NAMES = Object.keys(filterFields) as (keyof typeof filterFields)[]
const FilterSchema = Type.Object(filterFields)

/** Filters of a request for events. */
export interface EventFilters extends Static<typeof FilterSchema> {
  vendor?: string
  event?: string
}

/** Returns whether a request selects events by their content. */
export const hasFilters = (input: EventFilters): boolean => NAMES.some((name) => input[name] !== undefined)

/** A condition on events. `filter` belongs after WHERE in the statement's `sql`. */
interface FilterSql extends Omit<Statement, 'sql' | 'where'> {
  filter: string
  where: string
}

/**
 * Returns a function that writes the condition for events that pass all filters. `domainIds`: empty for all domains.
 * Throws `invalid` for an invalid `param`.
 */
export function eventFilter(
  input: EventFilters,
  { domainIds, members }: { domainIds: readonly string[]; members: MembersOf },
): (binder: Binder) => FilterSql {
  const conditions = resolveLabelConditions(conditionsOf(input), members)
  return (binder) => filterSql(input, conditions, domainIds, binder)
}

function filterSql(
  input: EventFilters,
  conditions: ReturnType<typeof resolveLabelConditions>,
  domainIds: readonly string[],
  binder: Binder,
): FilterSql {
  const anyTests: AnyTest[] = []
  const tests = ['true', ...binder.among('domainId', domainIds), ...fieldTests(input, binder)]
  tests.push(...textTests(input, binder, anyTests))
  const { sql, keys, wholeParams } = filtersSql(conditions, binder, [], anyTests)
  // Parameters can only be tested after events have been filtered by their columns.
  const where = [...tests, ...(wholeParams ? [] : [sql])].join(' AND ')
  return { filter: wholeParams ? sql : 'true', where, keys, wholeParams, anyTests }
}

/** Returns the conditions for the query fields `label` and `param`. */
function conditionsOf({ label, param }: EventFilters): Condition[] {
  const conditions: Condition[] = label === undefined ? [] : [{ parameter: LABEL, op: 'equals', values: [label] }]
  if (param === undefined) return conditions
  const at = param.indexOf('=')
  if (at === 0 || param === '') throw new AppError('invalid', 'query.param: must be key=value or a key')
  const condition: Condition =
    at === -1
      ? { parameter: param, op: 'not_blank' }
      : { parameter: param.slice(0, at), op: 'equals', values: [param.slice(at + 1)] }
  checkConditions([condition], 'query.param')
  return [...conditions, condition]
}

function fieldTests(input: EventFilters, binder: Binder): string[] {
  const tests = (['vendor', 'event', 'sessionId', 'version', 'env'] as const).flatMap((column) => {
    const value = input[column]
    return value === undefined ? [] : [`${column} = ${binder.bind(value)}`]
  })
  return input.violated === undefined ? tests : [...tests, input.violated ? 'violated' : 'NOT violated']
}

function textTests({ q }: EventFilters, binder: Binder, anyTests: AnyTest[]): string[] {
  if (!q) return []
  const { dialect } = binder
  const part = binder.bind(q)
  const holds = (value: string) => dialect.contains(value, part)
  anyTests.push({ column: 'holdsText', of: () => holds('{value}') })
  return [
    `(${[...['host', 'path', 'title'].map((column) => `coalesce(${holds(column)}, false)`), 'holdsText'].join(' OR ')})`,
  ]
}
