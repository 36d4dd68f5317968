import { retainSearchParams } from '@tanstack/react-router'
import { messages } from '../messages.ts'
import { notices } from '../state/notices.ts'
import type { ParamTypes, SearchOf } from './param-types.ts'
import type { Dropped } from './search-params.ts'
import { readSearch, SHARED_PARAMS, type SharedParams } from './search-params.ts'

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    /** The shared search params; a page may override the default time range. */
    shared?: SharedParams
  }
}

/** Route options for a page's search params, including project and time range. */
export const routeSearch = <F extends ParamTypes>(fields: F) => ({
  validateSearch: (raw: Record<string, unknown>): SearchOf<F & typeof SHARED_PARAMS> => {
    const read = readSearch({ ...SHARED_PARAMS, ...fields }, raw)
    reportDropped(read.dropped)
    return read.search
  },
  staticData: {
    shared: { ...SHARED_PARAMS, ...('range' in fields ? { range: fields.range as SharedParams['range'] } : {}) },
  },
  search: { middlewares: [retainSearchParams(['project', 'range', 'from', 'to'] as never)] },
})

const reportedParams = new Set<string>()

/** Notifies the user about ignored search params, once for each param. */
function reportDropped(dropped: readonly Dropped[]): void {
  const parts = dropped.map(({ name, text }) => `${name}=${text}`).filter((part) => !reportedParams.has(part))
  if (parts.length === 0) return
  for (const part of parts) reportedParams.add(part)
  // Deferred, because the router parses URLs while rendering.
  queueMicrotask(() => notices.say(messages.shell.ignoredFilters(parts.join(', '))))
}
