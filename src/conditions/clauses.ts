import { COMPLEMENTS, type Condition, LABEL, type Operator, type Rule, WITHOUT_VALUES } from './condition.ts'
import { membersIn } from './label.ts'

/** A condition with a positive operator, or its complement. */
export interface ConditionLiteral {
  positive: Condition
  isNegative: boolean
}

/** Holds when any of its literals does. */
export type ConditionClause = readonly ConditionLiteral[]

/** Conditions with up to this many values are split into one for each value, so that rules share them. */
const MAX_SPLIT = 8
/** Maximum number of clauses for one list of conditions. */
const MAX_CLAUSES = 32

/**
 * Returns a rule as clauses that all hold for an event that breaks it (conjunctive normal form). A clause without
 * literals never holds. Conditions with many values are not split.
 */
export function clausesOf(rule: Rule): ConditionClause[] {
  const groups = rule.conditionGroups ?? []
  return [
    ...allOf(rule.filters ?? []),
    ...(rule.conditions ? listOf(rule.conditions.logic, rule.conditions.items) : []),
    ...groups.flatMap(({ op, items }) => listOf(op, items)),
  ]
}

const listOf = (logic: 'any' | 'all', items: readonly Condition[]) => (logic === 'any' ? anyOf(items) : allOf(items))

const allOf = (items: readonly Condition[]) => items.flatMap((item) => anyOf([item]))

/**
 * Returns the clauses of "any condition holds"; a negative one with several values holds when each of its literals
 * does.
 */
function anyOf(items: readonly Condition[]): ConditionClause[] {
  const literals = items.map(literalsOf)
  const positive = literals.flatMap((some) => (some[0]?.isNegative ? [] : some))
  let clauses: ConditionClause[] = [positive]
  for (const [index, some] of literals.entries()) {
    if (!some[0]?.isNegative) continue
    const parts = clauses.length * some.length <= MAX_CLAUSES ? some : wholeOf(items[index])
    clauses = clauses.flatMap((clause) => parts.map((literal) => [...clause, literal]))
  }
  return clauses
}

/** A positive condition holds when any literal does, a negative one when each does. */
function literalsOf(condition: Condition): ConditionLiteral[] {
  const { values = [] } = condition
  // Throws for labels that were not resolved.
  if (condition.parameter === LABEL) membersIn(condition)
  const isWhole = WITHOUT_VALUES.has(condition.op) || values.length === 0 || values.length > MAX_SPLIT
  if (isWhole) return wholeOf(condition)
  return [...new Set(values)].flatMap((value) => wholeOf({ ...condition, values: [value] }))
}

function wholeOf(condition: Condition | undefined): ConditionLiteral[] {
  if (!condition) return []
  const { parameter, op, values = [] } = condition
  const twin: Operator | undefined = COMPLEMENTS[op]
  const positive = { parameter, op: twin ?? op, ...(WITHOUT_VALUES.has(op) ? {} : { values }) }
  return [{ positive, isNegative: twin !== undefined }]
}
