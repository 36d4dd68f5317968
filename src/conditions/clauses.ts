import { type Operator, WITHOUT_VALUES } from '../contract/condition-operators.ts'
import { COMPLEMENTS, type Condition, LABEL, type Rule } from './condition.ts'
import { membersIn } from './label-conditions.ts'

/** A condition with a positive operator, or the negation of such a condition. */
export interface ConditionLiteral {
  positive: Condition
  isNegative: boolean
}

/** A disjunction: true when any of its literals is true. */
export type ConditionClause = readonly ConditionLiteral[]

/** Conditions with at most this many values are split into one literal per value, so that rules can share them. */
const MAX_SPLIT = 8
/** Maximum number of clauses that one list of conditions may produce. */
const MAX_CLAUSES = 32

/**
 * Returns a rule in conjunctive normal form. An event breaks the rule when all clauses are true. A clause without
 * literals is always false. Conditions with many values are not split.
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
 * Returns the clauses of a list in which any condition may be true. A negative condition with several values is true
 * when all of its literals are.
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

/**
 * Returns the literals of a condition. A positive condition is true when any literal is true, a negative one when all
 * literals are true.
 */
function literalsOf(condition: Condition): ConditionLiteral[] {
  const { values = [] } = condition
  // Throws when the labels were not resolved.
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
