import { type FetchInfiniteQueryOptions, QueryClient, type QueryKey } from '@tanstack/react-query'
import { listDomainsOptions, listFormsOptions } from '#client/@tanstack/react-query.gen'
import type { OperationId } from '#client/types.gen'
import { MAX_PAGE_SIZE } from '../../contract/limits.ts'
import { ApiError, isTransient } from './api-error.ts'
import { session } from './session.ts'

const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS
/** Times in milliseconds after which data is stale. The stream invalidates changed data earlier. */
export const STALE_MS = { list: 10 * SECOND_MS, insight: MINUTE_MS, dictionary: 5 * MINUTE_MS }

/** Maximum number of automatic retries of a query after transient errors. */
const RETRIES = 2

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // Servers on the local network are reachable without internet access.
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

/** Queries that several pages share, with the same key. */
export const sharedQueries = {
  /** Domains, for fields and columns that show their names. */
  domains: () => ({ ...listDomainsOptions({ query: { limit: MAX_PAGE_SIZE } }), staleTime: STALE_MS.insight }),
  forms: () => ({ ...listFormsOptions(), staleTime: STALE_MS.dictionary }),
}

/** Marks all queries of these operations as stale. Resolves when those that a page uses have been refetched. */
export async function invalidate(...operations: OperationId[]): Promise<void> {
  await Promise.all(operations.map((_id) => queries.invalidateQueries({ queryKey: [{ _id }] })))
}

/**
 * Immediately refetches a failed query, even while it waits for an automatic retry. `refetch` alone would not end that
 * wait.
 */
export function refetchNow(refusal: unknown, refetch: () => Promise<unknown>): void {
  void queries.cancelQueries(
    { predicate: ({ state }) => state.fetchFailureReason === refusal },
    { silent: true, revert: false },
  )
  void refetch()
}

/** Options of a query or an infinite query. */
export interface PrefetchOptions {
  queryKey: QueryKey
  /** Queries that depend on the answer of this query. */
  next?: (answer: never) => readonly PrefetchOptions[]
}

/**
 * Prefetches a query, or the first page of an infinite query, and then the queries that depend on its answer. Does
 * nothing without a session. Errors are ignored.
 */
export async function prefetch({ next, ...options }: PrefetchOptions): Promise<void> {
  if (session.state().is !== 'open') return
  if ('initialPageParam' in options) return queries.prefetchInfiniteQuery(options as FetchInfiniteQueryOptions)
  await queries.prefetchQuery(options)
  const answer = queries.getQueryData(options.queryKey)
  if (answer === undefined) return
  await Promise.all((next?.(answer as never) ?? []).map(prefetch))
}
