import { useQuery } from '@tanstack/react-query'
import { getFlatDictionaryOptions } from '#client/@tanstack/react-query.gen'
import { MAX_HOURS } from '../../../../contract/limits.ts'
import { STALE_MS } from '../../../api/queries.ts'

/** Names seen in events of the last 7 days, offered while typing. */
export interface Names {
  vendors: readonly string[]
  events: readonly string[]
  parameters: readonly string[]
  /** True for a parameter that occurs in none of these events and may therefore be misspelled. */
  isUnseen(parameter: string): boolean
  /** The most frequent values of a parameter. */
  valuesOf(parameter: string): readonly string[]
}

const EVENT_FIELDS = [
  '$event',
  '$vendor',
  '$host',
  '$path',
  '$title',
  '$account',
  '$status',
  '$env',
  '$browser',
  '$os',
  '$device',
  '$language',
  '$release',
  '$pageGroup',
  '$consent',
  '$country',
  '*',
]

/** Loads the names seen on a domain (empty: all domains), limited to the vendor and event if they are known. */
export function useNames(domainId: string, vendor: string, event: string): Names {
  const query = { hours: MAX_HOURS.dictionary, ...(domainId && { domainId }) }
  const { data } = useQuery({ ...getFlatDictionaryOptions({ query }), staleTime: STALE_MS.dictionary })
  const rows = data?.rows ?? []
  const ofVendor = rows.filter((row) => !isKnown(rows, 'vendor', vendor) || row.vendor === vendor)
  const ofEvent = ofVendor.filter((row) => !isKnown(ofVendor, 'event', event) || row.event === event)
  const valuesOf = (parameter: string) =>
    unique(
      ofEvent.filter(({ key }) => key === keyOf(parameter)).flatMap(({ values }) => values.map(({ value }) => value)),
    )
  const keys = unique(ofEvent.map(({ key }) => key))
  return {
    isUnseen: (parameter) =>
      data?.truncated === false && ofEvent.length > 0 && isKey(parameter) && !keys.includes(keyOf(parameter)),
    vendors: unique(rows.map((row) => row.vendor)),
    events: unique(ofVendor.map((row) => row.event)),
    parameters: [...keys.map(parameterOf), ...EVENT_FIELDS],
    valuesOf,
  }
}

// `$host` is a field of the event. A key that starts with `$` is escaped: `$$host`.
const parameterOf = (key: string) => (key.startsWith('$') ? `$${key}` : key)
const keyOf = (parameter: string) => (parameter.startsWith('$$') ? parameter.slice(1) : parameter)
const isKey = (parameter: string) => parameter !== '' && parameter !== '*' && !/^\$(?!\$)/.test(parameter)

const unique = (names: readonly string[]) => [...new Set(names)].filter(Boolean)

const isKnown = <Field extends string>(rows: readonly Record<Field, string>[], field: Field, name: string) =>
  rows.some((row) => row[field] === name)
