import type { InfiniteData, QueryKey } from '@tanstack/react-query'
import type { IssueList } from '#client/types.gen'
import { queries } from '../../api/queries.ts'

/** The most recently shown list: its query key and search parameters. */
let last: { key: QueryKey; search: object } | null = null

/** Remembers the list, so that issue pages can link to the next and previous issue. */
export function rememberList(key: QueryKey, search: object): void {
  last = { key, search }
}

/** The position of an issue in the most recently shown list. */
export interface ListPosition {
  /** Position of the issue, from 1. */
  position: number
  /** Number of loaded issues in the list. */
  total: number
  previous: string | null
  next: string | null
}

/**
 * The position of an issue; null when the issue is not in the list, for example after following a link from elsewhere.
 */
export function positionInList(id: string): ListPosition | null {
  const pages = last && queries.getQueryData<InfiniteData<IssueList>>(last.key)?.pages
  const ids = pages?.flatMap(({ issues }) => issues.map((issue) => issue.id)) ?? []
  const index = ids.indexOf(id)
  if (index === -1) return null
  return { position: index + 1, total: ids.length, previous: ids[index - 1] ?? null, next: ids[index + 1] ?? null }
}

/** Search parameters of the most recently shown list. */
export const listSearch = (): object => last?.search ?? {}
