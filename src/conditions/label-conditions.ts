import type { LabelMember, MembersOf } from '../labels/label.ts'
import { type Condition, type ConditionEvent, LABEL, type Rule } from './condition.ts'

/** Separates vendor and event. Strings in events never contain this character. */
const SEPARATOR = '\0'

const spell = ({ vendor, event }: LabelMember) => `${vendor}${SEPARATOR}${event}`

/**
 * Returns the two values from `resolveLabels` that match an event: its vendor and name, and its vendor with any event.
 */
export const placesOf = ({ vendor, event }: Pick<ConditionEvent, 'vendor' | 'event'>): readonly [string, string] => [
  spell({ vendor, event }),
  spell({ vendor, event: '' }),
]

/**
 * Returns the rule with its `$label` conditions resolved to tests of vendor and event, so that it can be compiled.
 * `values` then contains the labels' members and `labels` their names. A label without members adds no values. Other
 * conditions and resolved ones are unchanged.
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

/** Returns whether any condition refers to labels. */
const hasLabelCondition = (conditions: readonly Condition[]) => conditions.some(({ parameter }) => parameter === LABEL)

/** Returns the members of a condition that `resolveLabels` has resolved. Throws when it was not resolved. */
export function membersIn({ values = [] }: Condition): LabelMember[] {
  return values.map((value) => {
    const at = value.indexOf(SEPARATOR)
    if (at < 0) throw new Error('labels of a condition must be resolved before it is compiled')
    return { vendor: value.slice(0, at), event: value.slice(at + 1) }
  })
}

/**
 * Returns a test of whether an event is a member of the condition's labels, regardless of the operator. The condition
 * must be resolved by `resolveLabels`.
 */
export function memberTest(condition: Condition): (event: Pick<ConditionEvent, 'vendor' | 'event'>) => boolean {
  const members = new Set(membersIn(condition).map(spell))
  return (event) => placesOf(event).some((place) => members.has(place))
}
