import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import type { OperationId } from '#client/types.gen'
import type { Operation, RequestData } from './request.ts'

/** Names of the queries that are not requests of a single operation. */
type OtherQuery = 'changedKeys' | 'demoInbox' | 'picture'

/** Identifies a query: an operation and the parts of its request. The first parts alone identify a group of queries. */
type Key = readonly [Omit<RequestData, 'headers'> & { _id: OperationId | OtherQuery; _infinite?: true }]

declare module '@tanstack/react-query' {
  interface Register {
    queryKey: Key
  }
}

type Given<Data extends RequestData> = Parameters<Operation<Data, unknown>>

/** Returns the function that creates the query key of an operation: its id and the parts of the request. */
export function queryKeyOf<Data extends RequestData>({ id }: { id: OperationId }) {
  return (...[options]: Given<Data>): Key => {
    const { body, path, query } = (options ?? {}) as RequestData
    return [{ _id: id, ...(body !== undefined && { body }), ...(path && { path }), ...(query && { query }) }]
  }
}

/** Returns the function that creates the options of a query for an operation. */
export function queryOptionsOf<Data extends RequestData, Answer>(call: Operation<Data, Answer>) {
  const keyOf = queryKeyOf<Data>(call)
  return (...given: Given<Data>) =>
    queryOptions({
      queryKey: keyOf(...given),
      queryFn: async ({ signal }): Promise<Answer> => (await call(...withParts<Data>(given, { signal }))).data,
    })
}

/**
 * Returns the function that creates the options of an infinite query for a paged operation. The page parameter is the
 * cursor; null for the first page.
 */
export function infiniteQueryOptionsOf<Data extends RequestData, Answer extends { nextCursor: string | null }>(
  call: Operation<Data, Answer>,
) {
  const keyOf = queryKeyOf<Data>(call)
  return (...given: Given<Data>) => {
    const [parts] = keyOf(...given)
    const queryKey: Key = [{ ...parts, _infinite: true }]
    return infiniteQueryOptions({
      queryKey,
      queryFn: async ({ signal, pageParam }): Promise<Answer> => {
        const query = { ...parts.query, cursor: pageParam ?? undefined }
        return (await call(...withParts<Data>(given, { signal, query }))).data
      },
      initialPageParam: null as string | null,
      getNextPageParam: ({ nextCursor }) => nextCursor,
    })
  }
}

const withParts = <Data extends RequestData>([options]: Given<Data>, parts: object) =>
  [{ ...options, ...parts }] as unknown as Given<Data>
