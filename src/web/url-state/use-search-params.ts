import { useMatches, useNavigate, useSearch } from '@tanstack/react-router'
import type { ParamType, ParamTypes, ValuesOf } from './param-types.ts'
import { type Period, periodOf } from './period.ts'
import { RANGE_HOURS, SHARED_PARAMS, type SharedParams, valuesOf } from './search-params.ts'

/** Changes some values in the URL without adding a history entry. */
export type SetValues<F> = (part: Partial<ValuesOf<F>>) => void

/** Returns the values of these params in the URL, and a setter. */
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

/** The order of a list whose params include `sort`. */
export function useSorting<F extends ParamTypes>(
  fields: F,
): { value: string; change(value: string): void; fallback: string } {
  const [{ sort }, set] = useSearchParams(fields as F & { sort: ParamType<string> })
  const { fallback } = fields.sort as ParamType<string>
  return { value: sort as string, change: (value) => set({ sort: value } as never), fallback }
}

/** Search params to write; fallbacks become undefined, which removes them. */
function written<F extends ParamTypes>(fields: F, part: Partial<ValuesOf<F>>): Record<string, unknown> {
  const said = Object.entries(part).map(([name, value]) => {
    const { write, fallback } = fields[name] as ParamType<unknown>
    return [name, write(value) === write(fallback) ? undefined : value]
  })
  return Object.fromEntries(said)
}

/** Project and time range of the page. */
export function useSharedParams(): [ValuesOf<SharedParams>, SetValues<SharedParams>] {
  const shared = useMatches({ select: (matches) => matches.at(-1)?.staticData.shared })
  return useSearchParams(shared ?? SHARED_PARAMS)
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** The page's interval. */
export function useTimeRange(): { from: number; to: number } {
  const [shared] = useSharedParams()
  return timeRangeOf(shared)
}

/** The interval in milliseconds since the epoch; presets end at the next full minute. */
export function timeRangeOf({ range, from, to }: Pick<ValuesOf<SharedParams>, 'range' | 'from' | 'to'>): {
  from: number
  to: number
} {
  const end = to ?? Math.ceil(Date.now() / MINUTE_MS) * MINUTE_MS
  return { from: from ?? end - RANGE_HOURS[range] * HOUR_MS, to: end }
}

/** The period that a part of the page covers, which may be limited to `maxHours`. */
export function usePeriod(maxHours: number): Period {
  const [shared] = useSharedParams()
  return periodOf(shared, maxHours)
}
