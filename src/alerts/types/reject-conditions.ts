import type { Condition } from '../../conditions/condition.ts'
import { isExact } from '../../conditions/condition-sql.ts'
import { AppError } from '../../core/error.ts'
import type { AlertInput } from '../alert.ts'

/**
 * Throws `AppError('invalid')` when an alert has conditions but its type does not use them. `why` follows the field
 * name in the message.
 */
export function rejectConditions({ conditions, conditionGroups = [] }: AlertInput, why: string): void {
  const refusal = (field: string) => new AppError('invalid', `${field}: ${why}`)
  if (conditions && conditions.items.length > 0) throw refusal('conditions')
  const group = conditionGroups.findIndex(({ items }) => items.length > 0)
  if (group >= 0) throw refusal(`conditionGroups[${group}]`)
}

/**
 * Throws `AppError('invalid')` for conditions that SQL can't evaluate exactly, for types that never evaluate single
 * events. `path`: the path of the list.
 */
export function rejectInexactConditions(conditions: readonly Condition[], path: string): void {
  for (const [index, condition] of conditions.entries()) {
    if (isExact(condition)) continue
    throw new AppError(
      'invalid',
      `${path}[${index}].op: ${condition.op} is only supported in data_validation alerts, which evaluate each event`,
    )
  }
}
