import { retainSearchParams } from '@tanstack/react-router'
import { reportDropped } from './dropped.ts'
import type { Fields, SearchOf } from './fields.ts'
import { readSearch, SHARED, type Shared } from './search.ts'

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    /** What the page's address may say as that of every page; a page may have another time range by default. */
    shared?: Shared
  }
}

/** What a page's address may say, beside project and time range: a part of its route. */
export const search = <F extends Fields>(fields: F) => ({
  validateSearch: (raw: Record<string, unknown>): SearchOf<F & typeof SHARED> => {
    const read = readSearch({ ...SHARED, ...fields }, raw)
    reportDropped(read.dropped)
    return read.search
  },
  staticData: { shared: { ...SHARED, ...('range' in fields ? { range: fields.range as Shared['range'] } : {}) } },
  search: { middlewares: [retainSearchParams(['project', 'range', 'from', 'to'] as never)] },
})
