import { listChangesInfiniteOptions } from '#client/@tanstack/react-query.gen'
import { listChanges } from '#client/sdk.gen'
import type { Change } from '#client/types.gen'
import { MAX_PAGE_SIZE } from '../../../contract/limits.ts'
import { ApiError } from '../../api/api-error.ts'
import { CURSOR_PAGINATION, PAGE_SIZE } from '../../api/pagination.ts'
import { messages } from '../../messages.ts'
import type { ValuesOf } from '../../url-state/param-types.ts'
import { optional, text } from '../../url-state/param-types.ts'
import type { SharedParams } from '../../url-state/search-params.ts'

/** Search parameters of the list of changes. */
export const CHANGES = {
  domainId: text,
  status: optional(['watching', 'regressed', 'clean', 'unclear']),
}

/** The query of the list of changes. */
export function changesQuery({ domainId, status, project }: ValuesOf<typeof CHANGES & SharedParams>) {
  const query = {
    limit: PAGE_SIZE,
    ...(domainId && { domainId }),
    ...(status && { status }),
    ...(project && { projectId: project }),
  }
  return { ...listChangesInfiniteOptions({ query }), ...CURSOR_PAGINATION }
}

/**
 * One change. The API has no endpoint for it, so the list is searched. Fails with 404 when the change is not in the
 * list.
 */
export const changeQuery = (id: string) => ({
  queryKey: [{ _id: 'listChanges', one: id }],
  async queryFn({ signal }: { signal: AbortSignal }): Promise<Change> {
    let cursor: string | null = null
    do {
      const query: { limit: number; cursor?: string } = { limit: MAX_PAGE_SIZE, ...(cursor && { cursor }) }
      const { data } = await listChanges({ query, signal })
      const found = data.changes.find((change) => change.id === id)
      if (found) return found
      cursor = data.nextCursor
    } while (cursor !== null)
    throw new ApiError(messages.changes.notFound, 404, null)
  },
})
