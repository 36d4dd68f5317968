import { queryOptions } from '@tanstack/react-query'
import type { Operation, RequestData } from './request.ts'

type Key = readonly [Omit<RequestData, 'headers'> & { _id: string; _infinite?: true }]
type Given<Data extends RequestData> = Parameters<Operation<Data, unknown>>

/** Returns the function that creates the query key of an operation: its id and the parts of the request. */
export function queryKeyOf<Data extends RequestData>({ id }: { id: string }) {
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
 * cursor; null for the first page. The caller adds `CURSOR_PAGINATION`.
 */
export function infiniteQueryOptionsOf<Data extends RequestData, Answer>(call: Operation<Data, Answer>) {
  const keyOf = queryKeyOf<Data>(call)
  return (...given: Given<Data>) => {
    const [parts] = keyOf(...given)
    const queryKey: Key = [{ ...parts, _infinite: true }]
    const queryFn = async ({ signal, pageParam }: { signal: AbortSignal; pageParam: string | null }): Promise<Answer> =>
      (await call(...withParts<Data>(given, { signal, query: { ...parts.query, cursor: pageParam ?? undefined } })))
        .data
    return { queryKey, queryFn }
  }
}

const withParts = <Data extends RequestData>([options]: Given<Data>, parts: object) =>
  [{ ...options, ...parts }] as unknown as Given<Data>
