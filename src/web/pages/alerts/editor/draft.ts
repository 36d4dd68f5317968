import type { Form } from '#client/types.gen'
import { type FormSchema, type FormValue, fieldsOf, missingIn, startOf } from '../../../parts/schema.ts'
import { FIRST_TYPE } from './begin-with.ts'

export interface Condition {
  parameter: string
  op: string
  values?: readonly string[]
}

export interface Channel {
  type: string
  [field: string]: unknown
}

/** An alert while it is written: `AlertInput` of the API, parts of which may be missing or wrong. */
export interface Draft {
  name: string
  alertType: string
  severity?: string
  domainId?: string
  domainIds?: readonly string[]
  vendors?: readonly string[]
  conditions?: { logic: string; items: readonly Condition[] }
  conditionGroups?: readonly unknown[]
  filters?: readonly Condition[]
  period: string
  channels?: readonly Channel[]
  impactValue?: number
  enabled?: boolean
  [field: string]: unknown
}

export const NO_CONDITION: Condition = { parameter: '', op: 'is_blank' }
/** Whoever owns the organization is told, so that an alert can be saved at once. */
export const OWNERS: Channel = { type: 'email', target: 'owners' }

/** What a new alert begins with. */
export const EMPTY: Draft = {
  name: '',
  alertType: FIRST_TYPE,
  severity: 'medium',
  conditions: { logic: 'any', items: [NO_CONDITION] },
  period: '1h',
  channels: [OWNERS],
}

/** Operators that compare with nothing. */
const NEEDS_NO_VALUES = ['is_blank', 'not_blank', 'contains_email', 'contains_phone']
export const needsValues = (op: string): boolean => !NEEDS_NO_VALUES.includes(op)

export const schemaOf = (form: Form | undefined): FormSchema => (form?.schema ?? {}) as FormSchema

/** True for types that are judged by conditions: those that have no field of their own. */
export const hasConditions = (form: Form | undefined): boolean => fieldsOf(schemaOf(form)).length === 0

/** The type's own field that names what is counted, as `volume` does by `vendor` or `event`; null when there is none. */
export function ownPlace(form: Form | undefined, part: 'vendor' | 'event'): string | null {
  return fieldsOf(schemaOf(form)).find(([, schema]) => schema.properties?.[part])?.[0] ?? null
}

const partOf = (draft: Draft, field: string, part: string): string =>
  String((draft[field] as FormValue | undefined)?.[part] ?? '')

function withOwnPart(draft: Draft, field: string, part: string, value: string): Draft {
  const { [part]: _, ...rest } = (draft[field] ?? {}) as FormValue
  return { ...draft, [field]: value === '' ? rest : { ...rest, [part]: value } }
}

/** Domains that are watched; none means all. */
export const domainsOf = ({ domainId, domainIds = [] }: Draft): string[] => [
  ...new Set([...(domainId ? [domainId] : []), ...domainIds]),
]

/** The draft that watches this domain only; an empty id means all. */
export function withDomain({ domainId: _, domainIds: __, ...draft }: Draft, id: string): Draft {
  return { ...(draft as Draft), ...(id && { domainId: id }) }
}

/** Vendors that are watched, separated by commas; empty for all. */
export function vendorOf(draft: Draft, form: Form | undefined): string {
  const own = ownPlace(form, 'vendor')
  return own === null ? (draft.vendors ?? []).join(', ') : partOf(draft, own, 'vendor')
}

export function withVendor(draft: Draft, form: Form | undefined, vendor: string): Draft {
  const own = ownPlace(form, 'vendor')
  if (own !== null) return withOwnPart(draft, own, 'vendor', vendor)
  const { vendors: _, ...rest } = draft
  const vendors = vendor.split(', ').filter((name, index) => name !== '' || index === 0)
  return { ...(rest as Draft), ...(vendor !== '' && { vendors }) }
}

const isEventFilter = ({ parameter, op, values = [] }: Condition) =>
  parameter === '$event' && op === 'equals' && values.length === 1

/** The event that is watched; empty for all. */
export function eventOf(draft: Draft, form: Form | undefined): string {
  const own = ownPlace(form, 'event')
  return own === null ? (draft.filters?.find(isEventFilter)?.values?.[0] ?? '') : partOf(draft, own, 'event')
}

export function withEvent(draft: Draft, form: Form | undefined, event: string): Draft {
  const own = ownPlace(form, 'event')
  if (own !== null) return withOwnPart(draft, own, 'event', event)
  const filter: Condition = { parameter: '$event', op: 'equals', values: [event] }
  return withFilters(draft, [...(event === '' ? [] : [filter]), ...filtersOf(draft)])
}

/** Which events are looked at, beside those of one name. */
export const filtersOf = ({ filters = [] }: Draft): readonly Condition[] =>
  filters.filter((filter) => !isEventFilter(filter))

const withFilters = ({ filters: _, ...rest }: Draft, filters: readonly Condition[]): Draft => ({
  ...(rest as Draft),
  ...(filters.length > 0 && { filters }),
})

/** The draft as one of another type: what both have stays, the rest goes. */
export function withType(draft: Draft, forms: readonly Form[], kind: string): Draft {
  const before = forms.find((form) => form.kind === draft.alertType)
  const form = forms.find((one) => one.kind === kind)
  const [vendor, event] = [vendorOf(draft, before), eventOf(draft, before)]
  const foreign = new Set(forms.flatMap((one) => fieldsOf(schemaOf(one)).map(([name]) => name)))
  const { conditions = EMPTY.conditions, conditionGroups, ...kept } = draft
  const shared = Object.fromEntries(Object.entries(kept).filter(([name]) => !foreign.has(name) && name !== 'vendors'))
  const next = withFilters({ ...(shared as unknown as Draft), alertType: kind }, filtersOf(draft))
  const started = { ...next, ...(startOf({ type: 'object', ...schemaOf(form) }) as FormValue) }
  const placed = withEvent(withVendor(started, form, vendor), form, event)
  return hasConditions(form) ? { ...placed, conditions, ...(conditionGroups && { conditionGroups }) } : placed
}

/** The name that the rule suggests, of names in the data and these words; empty while there is nothing to name. */
export function suggestedName(draft: Draft, form: Form | undefined, say: (op: string) => string): string {
  const [condition] = hasConditions(form) ? (draft.conditions?.items ?? []) : []
  const what = [vendorOf(draft, form).replace('*', ''), eventOf(draft, form)].filter(Boolean).join(' ')
  if (!condition?.parameter) return hasConditions(form) ? '' : what
  const { parameter, op, values = [] } = condition
  const rule = [parameter, say(op), needsValues(op) ? values.join(', ') : ''].filter(Boolean).join(' ')
  return what ? `${what}: ${rule}` : rule
}

const isBlank = ({ parameter, values = [] }: Condition) => parameter === '' && values.length === 0

/** What is sent: without empty rows, when others are filled in, and without values where none are needed. */
export function toSend(draft: Draft): Draft {
  const { conditions, channels } = draft
  const items = conditions?.items.filter((condition) => !isBlank(condition)) ?? []
  const told = channels?.filter(({ type: _, ...rest }) => Object.values(rest).some((part) => part !== ''))
  return {
    ...draft,
    ...(conditions && {
      conditions: { ...conditions, items: (items.length > 0 ? items : conditions.items).map(sent) },
    }),
    ...(draft.filters && { filters: draft.filters.map(sent) }),
    ...(told && { channels: told.length > 0 ? told : channels }),
  }
}

const sent = ({ parameter, op, values }: Condition): Condition => ({
  ...{ parameter, op },
  ...(needsValues(op) && values && { values }),
})

/** The same for the past: a rule is tried whoever is told of it, and whatever it is called. */
export const toTry = (draft: Draft): Draft => ({ ...toSend(draft), name: draft.name || 'Rule', channels: [OWNERS] })

/** What the rule can not do without and does not have yet: a row and its part, or a field by its title; null for nothing. */
export function missingOf(
  draft: Draft,
  form: Form | undefined,
): { part: 'parameter' | 'values'; n: number } | { title: string } | null {
  if (!hasConditions(form)) {
    const title = missingIn(schemaOf(form), draft)
    return title === null ? null : { title }
  }
  const items = toSend(draft).conditions?.items ?? []
  if (items.length === 0) return { part: 'parameter', n: 1 }
  const unnamed = items.findIndex(({ parameter }) => parameter === '')
  if (unnamed >= 0) return { part: 'parameter', n: unnamed + 1 }
  const without = items.findIndex(({ op, values = [] }) => needsValues(op) && values.length === 0)
  return without < 0 ? null : { part: 'values', n: without + 1 }
}

/** A saved alert without what is not sent. */
export function draftOf({
  id: _,
  orgId,
  createdAt,
  updatedAt,
  ...alert
}: object & { [field: string]: unknown }): Draft {
  return alert as unknown as Draft
}

/** Paths of the fields that are always there, and of the rows that are there now, as refusals name them. */
export function sharedPaths({ conditions, channels = [], filters = [] }: Draft): string[] {
  const rows = (path: string, count: number, parts: readonly string[]) =>
    Array.from({ length: count }, (_, index) => parts.map((part) => `${path}[${index}].${part}`)).flat()
  return [
    ...['name', 'alertType', 'domainId', 'vendors', 'vendors[0]', 'period', 'severity', 'impactValue'],
    ...rows('conditions.items', conditions?.items.length ?? 0, ['parameter', 'op', 'values']),
    ...rows('filters', filters.length, ['parameter', 'op', 'values']),
    ...rows('channels', channels.length, ['type', 'target']),
  ]
}
