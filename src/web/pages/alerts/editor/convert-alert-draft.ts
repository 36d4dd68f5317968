import type { Alert, Condition, Form } from '#client/types.gen'
import { DEFAULT_CHANNEL, escalationPaths } from '../../../components/edited-channels.ts'
import { firstMissingField } from '../../../components/form-schema.ts'
import { type Draft, type Group, hasConditions, isBlank, needsValues, schemaOf } from './draft.ts'

/** A saved alert without its read-only fields. */
export const draftOf = ({ id: _, orgId, createdAt, updatedAt, lateShare, managedBy, ...alert }: Alert): Draft => alert

const nonBlank = (items: readonly Condition[]) => items.filter((item) => !isBlank(item))

/** Removes empty rows from groups, and groups that have only empty rows. */
function nonBlankGroups(groups: readonly Group[]): Group[] {
  return groups
    .map((group) => ({ ...group, items: nonBlank(group.items) }))
    .filter(({ items }, index) => items.length > 0 || groups[index]?.items.length === 0)
}

/** The request body. Empty rows are dropped unless all rows are empty. An unchanged alert is sent as it was loaded. */
export function toInput({ conditions, conditionGroups, filters, channels, ...draft }: Draft): Draft {
  const items = nonBlank(conditions?.items ?? [])
  const groups = nonBlankGroups(conditionGroups ?? [])
  const isEmptied = conditions !== undefined && conditions.items.length > 0 && items.length === 0
  // Missing in JSON from which a user has deleted it.
  const filled = channels?.filter(({ target }) => target !== '') ?? []
  const filledFilters = nonBlank(filters ?? [])
  return {
    ...draft,
    ...(conditions &&
      !(isEmptied && groups.length > 0) && {
        conditions: { ...conditions, items: isEmptied ? conditions.items : items },
      }),
    ...(conditionGroups && (groups.length > 0 || conditionGroups.length === 0) && { conditionGroups: groups }),
    ...(filters && (filledFilters.length > 0 || filters.length === 0) && { filters: filledFilters }),
    channels: filled.length > 0 ? filled : channels,
  }
}

/** The request body for a preview, which does not depend on the name or the channels. */
export const toPreviewInput = (draft: Draft): Draft => ({
  ...toInput(draft),
  name: draft.name || 'Rule',
  channels: [DEFAULT_CHANNEL],
})

/** An incomplete condition row. `group` counts from 1 and is absent outside groups. */
export interface MissingRow {
  part: 'parameter' | 'values'
  n: number
  group?: number
}

/**
 * The first required input that is missing: part of a condition row, or the title of a field. Null when the draft is
 * complete.
 */
export function missingOf(draft: Draft, form: Form | undefined): MissingRow | { title: string } | null {
  if (!hasConditions(form)) {
    const title = firstMissingField(schemaOf(form), draft)
    return title === null ? null : { title }
  }
  const { conditions, conditionGroups = [] } = toInput(draft)
  const lists = [conditions?.items ?? [], ...conditionGroups.map(({ items }) => items)]
  if (lists.every((items) => items.length === 0)) return { part: 'parameter', n: 1 }
  return lists.map((items, index) => missingRow(items, index)).find((row) => row !== null) ?? null
}

function missingRow(items: readonly Condition[], group: number): MissingRow | null {
  const location = group > 0 ? { group } : {}
  const unnamed = items.findIndex(({ parameter }) => parameter === '')
  if (unnamed >= 0) return { part: 'parameter', n: unnamed + 1, ...location }
  const without = items.findIndex(({ op, values = [] }) => needsValues(op) && values.length === 0)
  return without < 0 ? null : { part: 'values', n: without + 1, ...location }
}

/** Paths of the current rows and of the fields that every alert has, as spelled in error messages. */
export function sharedPaths({
  conditions,
  conditionGroups = [],
  channels = [],
  filters = [],
  escalation,
}: Draft): string[] {
  const rows = (path: string, count: number, parts: readonly string[]) =>
    Array.from({ length: count }, (_, index) => parts.map((part) => `${path}[${index}].${part}`)).flat()
  const parts = ['parameter', 'op', 'values']
  return [
    'name',
    'alertType',
    'domainId',
    'domainIds',
    'vendors',
    'period',
    'severity',
    'impactValue',
    'enabled',
    'timezone',
    'runWindows.hours',
    'runWindows.days',
    'throttle.count',
    'throttle.per',
    'throttle.unit',
    'conditions.logic',
    ...rows('conditions.items', conditions?.items.length ?? 0, parts),
    ...conditionGroups.flatMap(({ items }, index) => [
      `conditionGroups[${index}].op`,
      ...rows(`conditionGroups[${index}].items`, items.length, parts),
    ]),
    ...rows('filters', filters.length, parts),
    ...rows('channels', channels.length, ['type', 'target']),
    ...escalationPaths(escalation?.steps ?? []).map((path) => `escalation.${path}`),
  ]
}
