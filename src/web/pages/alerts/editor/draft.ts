import type { AlertInput, Condition, Form } from '#client/types.gen'
import { type Operator, WITHOUT_VALUES } from '../../../../contract/condition-operators.ts'
import { DEFAULT_CHANNEL } from '../../../components/edited-channels.ts'
import { defaultValueOf, type FormSchema, type FormValue, fieldsOf } from '../../../components/form-schema.ts'
import { DEFAULT_TYPE } from './templates.ts'

/** An alert being edited. It may be incomplete or invalid, and JSON that a user has typed may have other types. */
export type Draft = AlertInput
/** A group of conditions. */
export type Group = NonNullable<Draft['conditionGroups']>[number]

export const NO_CONDITION: Condition = { parameter: '', op: 'is_blank' }

/** A new alert. */
export const EMPTY: Draft = {
  name: '',
  alertType: DEFAULT_TYPE,
  severity: 'medium',
  conditions: { logic: 'any', items: [NO_CONDITION] },
  period: '1h',
  channels: [DEFAULT_CHANNEL],
}

export const needsValues = (op: Operator): boolean => !WITHOUT_VALUES.has(op)

/** The condition with another operator. If the operator takes no values, they are dropped. */
export const withOperator = ({ parameter, values }: Condition, op: Operator): Condition => ({
  parameter,
  op,
  ...(needsValues(op) && values && { values }),
})

/** True for an empty row. */
export const isBlank = ({ parameter, values = [] }: Condition): boolean => parameter === '' && values.length === 0

export const schemaOf = (form: Form | undefined): FormSchema => (form?.schema ?? {}) as FormSchema

/** True for types that use conditions instead of type-specific fields. */
export const hasConditions = (form: Form | undefined): boolean => fieldsOf(schemaOf(form)).length === 0

/** Name of the type-specific field that contains the vendor or event, such as `volume`; null when there is none. */
export function ownField(form: Form | undefined, part: 'vendor' | 'event'): string | null {
  return fieldsOf(schemaOf(form)).find(([, schema]) => schema.properties?.[part])?.[0] ?? null
}

/** The value of a type-specific object, such as `volume`; empty when there is none. */
export const objectIn = (draft: Draft, field: string): FormValue => ((draft as FormValue)[field] ?? {}) as FormValue

const partOf = (draft: Draft, field: string, part: string): string => String(objectIn(draft, field)[part] ?? '')

function withOwnPart(draft: Draft, field: string, part: string, value: string): Draft {
  const { [part]: _, ...rest } = objectIn(draft, field)
  return { ...draft, [field]: value === '' ? rest : { ...rest, [part]: value } }
}

/** Monitored domains; empty: all. */
export const domainsOf = ({ domainId, domainIds = [] }: Draft): string[] => [
  ...new Set([...(domainId ? [domainId] : []), ...domainIds]),
]

/** The draft that monitors only this domain; an empty id means all. */
export const withDomain = (draft: Draft, id: string): Draft => withDomains(draft, id ? [id] : [])

/** The draft that monitors these domains; empty: all. */
export function withDomains({ domainId: _, domainIds: __, ...draft }: Draft, ids: string[]): Draft {
  if (ids.length > 1) return { ...draft, domainIds: ids }
  return { ...draft, ...(ids[0] && { domainId: ids[0] }) }
}

/** Monitored vendors, separated by commas; empty: all. */
export function vendorOf(draft: Draft, form: Form | undefined): string {
  const own = ownField(form, 'vendor')
  return own === null ? (draft.vendors ?? []).join(', ') : partOf(draft, own, 'vendor')
}

export function withVendor(draft: Draft, form: Form | undefined, vendor: string): Draft {
  const own = ownField(form, 'vendor')
  if (own !== null) return withOwnPart(draft, own, 'vendor', vendor)
  const { vendors: _, ...rest } = draft
  const vendors = vendor.split(', ').filter((name, index) => name !== '' || index === 0)
  return { ...rest, ...(vendor !== '' && { vendors }) }
}

const isEventFilter = ({ parameter, op, values = [] }: Condition) =>
  parameter === '$event' && op === 'equals' && values.length === 1

/** Index of the filter that names the event; -1 when there is none or the type has a specific field for the event. */
export const eventFilterIndex = ({ filters = [] }: Draft, form: Form | undefined): number =>
  ownField(form, 'event') === null ? filters.findIndex(isEventFilter) : -1

/** The monitored event; empty: all. */
export function eventOf(draft: Draft, form: Form | undefined): string {
  const own = ownField(form, 'event')
  return own === null ? (draft.filters?.find(isEventFilter)?.values?.[0] ?? '') : partOf(draft, own, 'event')
}

export function withEvent(draft: Draft, form: Form | undefined, event: string): Draft {
  const own = ownField(form, 'event')
  if (own !== null) return withOwnPart(draft, own, 'event', event)
  const { filters = [] } = draft
  const filter: Condition = { parameter: '$event', op: 'equals', values: [event] }
  const index = eventFilterIndex(draft, form)
  if (event === '') return withFilters(draft, index < 0 ? filters : filters.toSpliced(index, 1))
  return withFilters(draft, index < 0 ? [filter, ...filters] : filters.with(index, filter))
}

/** All filters except the one for the event name. */
export function filtersOf({ filters = [] }: Draft): Condition[] {
  const index = filters.findIndex(isEventFilter)
  return index < 0 ? filters : filters.toSpliced(index, 1)
}

export const withFilters = ({ filters: _, ...rest }: Draft, filters: Condition[]): Draft => ({
  ...rest,
  ...(filters.length > 0 && { filters }),
})

/** The draft with another type. Fields that both types have are retained. */
export function withType(draft: Draft, forms: readonly Form[], kind: string): Draft {
  const before = forms.find((form) => form.kind === draft.alertType)
  const form = forms.find((one) => one.kind === kind)
  const [vendor, event] = [vendorOf(draft, before), eventOf(draft, before)]
  const foreign = new Set(forms.flatMap((one) => fieldsOf(schemaOf(one)).map(([name]) => name)))
  const { conditions = EMPTY.conditions, conditionGroups, ...kept } = draft
  const shared = Object.fromEntries(Object.entries(kept).filter(([name]) => !foreign.has(name) && name !== 'vendors'))
  const next = withFilters({ ...(shared as Draft), alertType: kind as Draft['alertType'] }, filtersOf(draft))
  const started = { ...next, ...(defaultValueOf({ type: 'object', ...schemaOf(form) }) as FormValue) }
  const placed = withEvent(withVendor(started, form, vendor), form, event)
  return hasConditions(form)
    ? { ...placed, ...(conditions && { conditions }), ...(conditionGroups && { conditionGroups }) }
    : placed
}

/** A name suggested from the rule; empty if the rule is still empty. */
export function suggestedName(draft: Draft, form: Form | undefined, say: (op: string) => string): string {
  const [condition] = hasConditions(form) ? (draft.conditions?.items ?? []) : []
  const what = [vendorOf(draft, form).replace('*', ''), eventOf(draft, form)].filter(Boolean).join(' ')
  if (!condition?.parameter) return hasConditions(form) ? '' : what
  const { parameter, op, values = [] } = condition
  const rule = [parameter, say(op), needsValues(op) ? values.join(', ') : ''].filter(Boolean).join(' ')
  return what ? `${what}: ${rule}` : rule
}
