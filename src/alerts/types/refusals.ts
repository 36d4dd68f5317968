import type { Condition } from '../../conditions/condition.ts'
import { isExact } from '../../conditions/sql.ts'
import { AppError } from '../../core/error.ts'
import type { AlertInput } from '../alert.ts'

/** Refuses conditions of an alert whose type has no use for them; `why` stands behind the name of the field. */
export function refuseConditions({ conditions, conditionGroups = [] }: AlertInput, why: string): void {
  const refusal = (field: string) => new AppError('invalid', `${field}: ${why}`)
  if (conditions && conditions.items.length > 0) throw refusal('conditions')
  const group = conditionGroups.findIndex(({ items }) => items.length > 0)
  if (group >= 0) throw refusal(`conditionGroups[${group}]`)
}

/** Refuses conditions that SQL can't decide, for a type that looks at no event by itself. `path`: of the list. */
export function refuseInexact(conditions: readonly Condition[], path: string): void {
  for (const [index, condition] of conditions.entries()) {
    if (isExact(condition)) continue
    throw new AppError(
      'invalid',
      `${path}[${index}].op: ${condition.op} works in data_validation alerts only, where each event is looked at`,
    )
  }
}
