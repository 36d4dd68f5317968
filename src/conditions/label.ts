import type { LabelMember, MembersOf } from '../labels/label.ts'
import { type Condition, type ConditionEvent, LABEL, type Rule } from './condition.ts'

/** Separates vendor and event; texts of events never contain it. */
const SEPARATOR = '\0'

const spell = ({ vendor, event }: LabelMember) => `${vendor}${SEPARATOR}${event}`

/** Returns the values of `resolveLabels` that an event has: its vendor and name, and any event of its vendor. */
export const placesOf = ({ vendor, event }: Pick<ConditionEvent, 'vendor' | 'event'>): readonly [string, string] => [
  spell({ vendor, event }),
  spell({ vendor, event: '' }),
]

/**
 * Returns the rule with its `$label` conditions as tests on vendor and event, which can be compiled: `values` are the
 * members of the labels, `labels` their names; a label without members adds none. Other conditions, and those already
 * resolved, stay unchanged.
 */
export function resolveLabels<R extends Rule>(rule: R, membersOf: MembersOf): R {
  const { filters = [], conditions, conditionGroups = [] } = rule
  const lists = [filters, conditions?.items ?? [], ...conditionGroups.map(({ items }) => items)]
  if (!lists.some(hasLabelCondition)) return rule
  const read = (items: readonly Condition[]) => resolveLabelConditions(items, membersOf)
  return {
    ...rule,
    filters: read(filters),
    ...(conditions && { conditions: { ...conditions, items: read(conditions.items) } }),
    conditionGroups: conditionGroups.map((group) => ({ ...group, items: read(group.items) })),
  }
}

/** Like `resolveLabels`, for a list of conditions. */
export function resolveLabelConditions(conditions: readonly Condition[], membersOf: MembersOf): Condition[] {
  return conditions.map((condition) => {
    const { parameter, values: labels = [] } = condition
    if (parameter !== LABEL || condition.labels) return condition
    return { ...condition, labels, values: [...new Set(labels.flatMap((label) => membersOf(label).map(spell)))] }
  })
}

/** Returns whether any condition names labels. */
const hasLabelCondition = (conditions: readonly Condition[]) => conditions.some(({ parameter }) => parameter === LABEL)

/** Returns the members in a condition from `resolveLabels`. Throws when its labels were not resolved. */
export function membersIn({ values = [] }: Condition): LabelMember[] {
  return values.map((value) => {
    const at = value.indexOf(SEPARATOR)
    if (at < 0) throw new Error('labels of a condition must be resolved before it is compiled')
    return { vendor: value.slice(0, at), event: value.slice(at + 1) }
  })
}

/** Returns a test for events that are members of a condition from `resolveLabels`, whatever its operator. */
export function memberTest(condition: Condition): (event: Pick<ConditionEvent, 'vendor' | 'event'>) => boolean {
  const members = new Set(membersIn(condition).map(spell))
  return (event) => placesOf(event).some((place) => members.has(place))
}
