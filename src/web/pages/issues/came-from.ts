import type { InfiniteData, QueryKey } from '@tanstack/react-query'
import type { IssueList } from '#client/types.gen'
import { queries } from '../../api/queries.ts'

/** The list that was shown last: its question, and its part of the address. */
let last: { key: QueryKey; search: object } | null = null

/** Remembers the list, so that the pages of its issues lead on to the next. */
export function rememberList(key: QueryKey, search: object): void {
  last = { key, search }
}

/** Where an issue stands in the list that one came from; null when it is not in it, as after a link from elsewhere. */
export interface Neighbours {
  /** From 1. */
  place: number
  /** How many of the list are loaded. */
  of: number
  previous: string | null
  next: string | null
}

export function neighboursOf(id: string): Neighbours | null {
  const pages = last && queries.getQueryData<InfiniteData<IssueList>>(last.key)?.pages
  const ids = pages?.flatMap(({ issues }) => issues.map((issue) => issue.id)) ?? []
  const index = ids.indexOf(id)
  if (index === -1) return null
  return { place: index + 1, of: ids.length, previous: ids[index - 1] ?? null, next: ids[index + 1] ?? null }
}

/** The address of the list that one came from. */
export const listSearch = (): object => last?.search ?? {}
