import {
  choice,
  type ParamType,
  type ParamTypes,
  type SearchOf,
  text,
  timestamp,
  type ValuesOf,
} from './param-types.ts'

/** Time ranges, in the order of the keys `1` to `4`. */
export const RANGES = ['24h', '3d', '7d', '30d'] as const
export type Range = (typeof RANGES)[number]

/** Length of each time range in hours. */
export const RANGE_HOURS = { '24h': 24, '3d': 72, '7d': 168, '30d': 720 } as const satisfies Record<Range, number>

/** Search params of every page: project, and a time range or a custom interval. */
export const SHARED_PARAMS = { project: text, range: choice(RANGES, '24h'), from: timestamp, to: timestamp }
export type SharedParams = typeof SHARED_PARAMS

/** An ignored search param. */
export interface Dropped {
  name: string
  text: string
}

/** Parses search params. `dropped` lists unknown names and invalid values. */
export function readSearch<F extends ParamTypes>(fields: F, raw: Readonly<Record<string, unknown>>) {
  const search: Record<string, unknown> = {}
  const dropped: Dropped[] = []
  for (const [name, given] of Object.entries(raw)) {
    if (given === undefined) continue
    const field = Object.hasOwn(fields, name) ? (fields[name] as ParamType<unknown>) : null
    // Links within the dashboard contain values; URLs in the address bar contain strings.
    const written = typeof given === 'string' ? given : field?.write(given)
    const { value, left } = partOf(field, written)
    if (field && value !== undefined && field.write(value) !== field.write(field.fallback)) search[name] = value
    if (left !== '') dropped.push({ name, text: left ?? String(given) })
  }
  return { search: search as SearchOf<F>, dropped }
}

/** Parses a search param. Invalid items of a list are returned in `left`. */
function partOf(
  field: ParamType<unknown> | null,
  text: string | undefined,
): { value?: unknown; left: string | undefined } {
  if (field === null || text === undefined) return { left: text }
  const whole = field.parse(text)
  if (whole !== undefined) return { value: whole, left: '' }
  const [good, bad] = [true, false].map((isGood) =>
    text.split(',').filter((part) => (field.parse(part) !== undefined) === isGood),
  ) as [string[], string[]]
  const value = bad.length > 0 && good.length > 0 ? field.parse(good.join(',')) : undefined
  return value === undefined ? { left: text } : { value, left: bad.join(',') }
}

/** Returns all values, with fallbacks for missing ones. */
export function valuesOf<F extends ParamTypes>(fields: F, raw: Readonly<Record<string, unknown>>): ValuesOf<F> {
  // The router keeps the original strings of params that `readSearch` dropped.
  const search: Record<string, unknown> = readSearch(fields, raw).search
  const values = Object.entries(fields).map(([name, field]) => [
    name,
    search[name] ?? (field as ParamType<unknown>).fallback,
  ])
  return Object.fromEntries(values)
}

/** `?status=open,muted&q=a%26b` → `{status: 'open,muted', q: 'a&b'}`; repeated names are joined with commas. */
export function parseSearch(query: string): Record<string, string> {
  const found: Record<string, string> = {}
  for (const [name, value] of new URLSearchParams(query)) {
    found[name] = Object.hasOwn(found, name) ? `${found[name]},${value}` : value
  }
  return found
}

/** Returns the query string with its question mark, or an empty string. Lists are joined with commas. */
export function writeSearch(search: Readonly<Record<string, unknown>>): string {
  const parts = Object.entries(search)
    .filter(([, value]) => value !== undefined && value !== null && value !== '')
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value)).replaceAll('%2C', ',')}`)
  return parts.length === 0 ? '' : `?${parts.join('&')}`
}
