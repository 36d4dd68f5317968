import type { Form } from '#client/types.gen'
import { type Operator, WITHOUT_VALUES } from '../../../../contract/condition-operators.ts'
import { defaultValueOf, type FormSchema, type FormValue, fieldsOf } from '../../../components/form-schema.ts'
import { DEFAULT_TYPE } from './templates.ts'

/** A condition in the API. In `filters` it selects events; in `conditions` it describes the violation. */
export interface Condition {
  parameter: string
  op: string
  values?: readonly string[]
}

export interface Channel {
  type: string
  [field: string]: unknown
}

/** A group of conditions. */
export interface Group {
  op: string
  items: readonly Condition[]
}

/**
 * Days and hours in which notifications may be sent, in the alert's time zone. The end hour is exclusive. Day 0 is
 * Sunday.
 */
export interface RunWindows {
  hours?: readonly number[] | undefined
  days?: readonly number[]
}

/** The maximum number of messages within a period. */
export interface Throttle {
  count: number
  per: number
  unit: string
}

/** An alert being edited: the API's `AlertInput`, possibly incomplete or invalid. */
export interface Draft {
  name: string
  alertType: string
  severity?: string
  domainId?: string
  domainIds?: readonly string[]
  vendors?: readonly string[]
  conditions?: { logic: string; items: readonly Condition[] }
  conditionGroups?: readonly Group[]
  filters?: readonly Condition[]
  period: string
  timezone?: string
  runWindows?: RunWindows
  throttle?: Throttle
  channels?: readonly Channel[]
  impactValue?: number
  enabled?: boolean
  [field: string]: unknown
}

export const NO_CONDITION: Condition = { parameter: '', op: 'is_blank' }
/** The default channel, which allows a new alert to be saved immediately. */
export const DEFAULT_CHANNEL: Channel = { type: 'email', target: 'owners' }

/** A new alert. */
export const EMPTY: Draft = {
  name: '',
  alertType: DEFAULT_TYPE,
  severity: 'medium',
  conditions: { logic: 'any', items: [NO_CONDITION] },
  period: '1h',
  channels: [DEFAULT_CHANNEL],
}

export const needsValues = (op: string): boolean => !WITHOUT_VALUES.has(op as Operator)

/** The condition with another operator. If the operator takes no values, they are dropped. */
export const withOperator = ({ parameter, values }: Condition, op: string): Condition => ({
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

const partOf = (draft: Draft, field: string, part: string): string =>
  String((draft[field] as FormValue | undefined)?.[part] ?? '')

function withOwnPart(draft: Draft, field: string, part: string, value: string): Draft {
  const { [part]: _, ...rest } = (draft[field] ?? {}) as FormValue
  return { ...draft, [field]: value === '' ? rest : { ...rest, [part]: value } }
}

/** Monitored domains; empty: all. */
export const domainsOf = ({ domainId, domainIds = [] }: Draft): string[] => [
  ...new Set([...(domainId ? [domainId] : []), ...domainIds]),
]

/** The draft that monitors only this domain; an empty id means all. */
export const withDomain = (draft: Draft, id: string): Draft => withDomains(draft, id ? [id] : [])

/** The draft that monitors these domains; empty: all. */
export function withDomains({ domainId: _, domainIds: __, ...draft }: Draft, ids: readonly string[]): Draft {
  if (ids.length > 1) return { ...(draft as Draft), domainIds: ids }
  return { ...(draft as Draft), ...(ids[0] && { domainId: ids[0] }) }
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
  return { ...(rest as Draft), ...(vendor !== '' && { vendors }) }
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
export function filtersOf({ filters = [] }: Draft): readonly Condition[] {
  const index = filters.findIndex(isEventFilter)
  return index < 0 ? filters : filters.toSpliced(index, 1)
}

export const withFilters = ({ filters: _, ...rest }: Draft, filters: readonly Condition[]): Draft => ({
  ...(rest as Draft),
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
  const next = withFilters({ ...(shared as unknown as Draft), alertType: kind }, filtersOf(draft))
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
