import { retainSearchParams } from '@tanstack/react-router'
import { reportDropped } from './dropped.ts'
import type { Fields, SearchOf } from './fields.ts'
import { readSearch, SHARED } from './search.ts'

/** What a page's address may say, beside project and time range: a part of its route. */
export const search = <F extends Fields>(fields: F) => ({
  validateSearch: (raw: Record<string, unknown>): SearchOf<F & typeof SHARED> => {
    const read = readSearch({ ...SHARED, ...fields }, raw)
    reportDropped(read.dropped)
    return read.search
  },
  search: { middlewares: [retainSearchParams(['project', 'range', 'from', 'to'] as never)] },
})
