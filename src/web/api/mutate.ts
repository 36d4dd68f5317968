import type { QueryKey } from '@tanstack/react-query'
import type { OperationId } from '#client/types.gen'
import { notices } from '../state/notices.ts'
import { errorMessage } from './api-error.ts'
import { queries } from './queries.ts'

/** An optimistic update of cached queries. */
export interface CacheUpdate {
  /** Prefix of the query keys, such as `[{_id: 'listIssues'}]`. */
  queryKey: QueryKey
  /** Returns the updated data; the same object if nothing changes. */
  // biome-ignore lint/suspicious/noExplicitAny: the type depends on the query; the caller declares it
  update(answer: any): unknown
}

/** A change made by the user. */
export interface Mutation<Answer> {
  /** Sends the request; throws an `ApiError`. */
  send(): Promise<Answer>
  /** Applied before the response, and reverted if the request fails. */
  optimistic?: readonly CacheUpdate[]
  /** Operations whose queries are also refetched; the queries in `optimistic` are always refetched. */
  invalidates?: readonly OperationId[]
  /** Success message; null for none. */
  message?: string | ((answer: Answer) => string | null)
  /** Reverts the change; offered for 10 s. */
  undo?: (answer: Answer) => void
  /** Called with the error instead of showing the default notice with its Retry button. */
  onRefused?: (error: unknown) => void
}

let underWay = 0
const due = new Map<string, QueryKey>()

/** Performs the mutation. Returns the response; undefined after an error, which has then already been shown. */
export async function mutate<Answer>(given: Mutation<Answer>): Promise<Answer | undefined> {
  const { send, optimistic: changes = [], invalidates = [], message: say = null, undo, onRefused: refused } = given
  underWay++
  for (const { queryKey } of changes) due.set(JSON.stringify(queryKey), queryKey)
  for (const _id of invalidates) due.set(_id, [{ _id }])
  const begun = undo && notices.begin()
  const takeBack = await show(changes)
  try {
    const answer = await send()
    const text = typeof say === 'function' ? say(answer) : say
    begun?.end()
    if (begun?.isUndone()) undo?.(answer)
    else if (text !== null) notices.say(text, undo ? () => undo(answer) : null)
    return answer
  } catch (error) {
    begun?.end()
    takeBack()
    if (refused) refused(error)
    else notices.refuse(errorMessage(error), () => void mutate(given))
    return undefined
  } finally {
    underWay--
    if (underWay === 0) askDue()
  }
}

/** Applies optimistic updates. Returns a function that reverts them. */
async function show(changes: readonly CacheUpdate[]): Promise<() => void> {
  // Responses to requests already in flight would restore the old state.
  const stopped = changes.map(({ queryKey: of }) => queries.cancelQueries({ queryKey: of }))
  const before = changes.flatMap(({ queryKey: of }) => queries.getQueriesData({ queryKey: of }))
  for (const { queryKey: of, update: to } of changes) {
    queries.setQueriesData({ queryKey: of }, (answer: unknown) => (answer === undefined ? undefined : to(answer)))
  }
  await Promise.all(stopped)
  return () => {
    for (const [key, answer] of before) queries.setQueryData(key, answer)
  }
}

// Called only when no mutation is pending. A refetch between two mutations would temporarily revert the second one on
// screen.
function askDue(): void {
  for (const queryKey of due.values()) void queries.invalidateQueries({ queryKey })
  due.clear()
}
