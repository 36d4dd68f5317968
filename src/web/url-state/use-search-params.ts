import { useMatches, useNavigate, useSearch } from '@tanstack/react-router'
import type { ParamType, ParamTypes, ValuesOf } from './param-types.ts'
import { SHARED_PARAMS, type SharedParams, valuesOf } from './search-params.ts'

/** Changes some values of the address. It replaces the entry in the history: filtering is no new page. */
export type SetValues<F> = (part: Partial<ValuesOf<F>>) => void

/** The values of these fields in the address of the open page, and a way to change them. */
export function useSearchParams<F extends ParamTypes>(fields: F): [ValuesOf<F>, SetValues<F>] {
  const search = useSearch({ strict: false })
  const navigate = useNavigate()
  const set: SetValues<F> = (part) =>
    void navigate({
      to: '.',
      search: (before: object) => ({ ...before, ...written(fields, part) }) as never,
      replace: true,
    })
  return [valuesOf(fields, search as never), set]
}

/** What of these the address says: a value that holds anyway is undefined, which takes it out. */
function written<F extends ParamTypes>(fields: F, part: Partial<ValuesOf<F>>): Record<string, unknown> {
  const said = Object.entries(part).map(([name, value]) => {
    const { write, fallback } = fields[name] as ParamType<unknown>
    return [name, write(value) === write(fallback) ? undefined : value]
  })
  return Object.fromEntries(said)
}

/** The project and the time range, which every page has. */
export function useSharedParams(): [ValuesOf<SharedParams>, SetValues<SharedParams>] {
  const shared = useMatches({ select: (matches) => matches.at(-1)?.staticData.shared })
  return useSearchParams(shared ?? SHARED_PARAMS)
}

const HOUR_MS = 3_600_000
/** Hours of each time range. */
export const RANGE_HOURS = { '24h': 24, '3d': 72, '7d': 168, '30d': 720 } as const

/** The moments that the page is about, in milliseconds since the epoch; a range ends at the minute that has begun. */
export function useTimeRange(): { from: number; to: number; hours: number } {
  const [{ range, from, to }] = useSharedParams()
  const end = to ?? Math.ceil(Date.now() / 60_000) * 60_000
  const start = from ?? end - RANGE_HOURS[range] * HOUR_MS
  return { from: start, to: end, hours: Math.max(1, Math.ceil((end - start) / HOUR_MS)) }
}
