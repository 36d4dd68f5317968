import {
  type FetchInfiniteQueryOptions,
  type FetchQueryOptions,
  QueryClient,
  type QueryKey,
} from '@tanstack/react-query'
import { listDomainsOptions, listFormsOptions } from '#client/@tanstack/react-query.gen'
import { ApiError, isTransient } from './api-error.ts'
import { session } from './session.ts'

const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS
/** How long answers are taken for fresh. What changes is told by the stream, which asks again at once. */
export const STALE_MS = { list: 10 * SECOND_MS, insight: MINUTE_MS, dictionary: 5 * MINUTE_MS }

/** How often a question is asked again by itself when the server can't answer now. */
const RETRIES = 2

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // A server in the same house is there without the internet, and what is not there says so.
      networkMode: 'always',
      staleTime: STALE_MS.list,
      refetchOnWindowFocus: false,
      retry: (failures, error) => failures < RETRIES && error instanceof ApiError && isTransient(error),
      retryDelay: (failures, error) => {
        const wait = error instanceof ApiError ? error.retryAfterS : null
        return Math.min(wait === null ? SECOND_MS * 2 ** failures : wait * SECOND_MS, MINUTE_MS)
      },
    },
  },
})

/** The API answers no more at once. */
const MOST = 200

/** Questions of several pages: asked in one way, they have one answer. */
export const sharedQueries = {
  /** The domains for fields and columns that name them. */
  domains: () => ({ ...listDomainsOptions({ query: { limit: MOST } }), staleTime: STALE_MS.insight }),
  forms: () => ({ ...listFormsOptions(), staleTime: STALE_MS.dictionary }),
}

/**
 * Asks again at once what was refused so, `refetch` being what asks it: also while it waits to ask again by itself, which
 * `refetch` alone would leave waiting.
 */
export function refetchNow(refusal: unknown, refetch: () => Promise<unknown>): void {
  void queries.cancelQueries(
    { predicate: ({ state }) => state.fetchFailureReason === refusal },
    { silent: true, revert: false },
  )
  void refetch()
}

/**
 * Asks for what a page will show, while the pointer nears its link or the page opens. The page does not wait for it, and
 * a refusal is shown by the page.
 */
export function prefetch<Answer, Failure, Data, Key extends QueryKey>(
  options: FetchQueryOptions<Answer, Failure, Data, Key>,
): void {
  if (session.state().is === 'open') void queries.prefetchQuery(options)
}

/** The same for a list in pages: its first one. */
export function prefetchPages<Answer, Failure, Data, Key extends QueryKey, Param>(
  options: FetchInfiniteQueryOptions<Answer, Failure, Data, Key, Param>,
): void {
  if (session.state().is === 'open') void queries.prefetchInfiniteQuery(options)
}
