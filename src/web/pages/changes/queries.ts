import { queryOptions } from '@tanstack/react-query'
import {
  listChangesInfiniteOptions,
  listChangesOptions,
  listGateRunsInfiniteOptions,
} from '#client/@tanstack/react-query.gen'
import { listChanges } from '#client/sdk.gen'
import type { Change } from '#client/types.gen'
import { MAX_PAGE_SIZE } from '../../../contract/limits.ts'
import { CHANGE_STATUSES } from '../../../contract/statuses.ts'
import { ApiError } from '../../api/api-error.ts'
import { PAGE_SIZE } from '../../api/pagination.ts'
import { STALE_MS } from '../../api/queries.ts'
import { messages } from '../../messages.ts'
import type { ValuesOf } from '../../url-state/param-types.ts'
import { optional, text } from '../../url-state/param-types.ts'
import type { SharedParams } from '../../url-state/search-params.ts'

/** Search parameters of the list of changes. */
export const CHANGES = {
  domainId: text,
  status: optional(CHANGE_STATUSES),
}

/** The query of the list of changes. */
export function changesQuery({ domainId, status, project }: ValuesOf<typeof CHANGES & SharedParams>) {
  const query = {
    limit: PAGE_SIZE,
    ...(domainId && { domainId }),
    ...(status && { status }),
    ...(project && { projectId: project }),
  }
  return listChangesInfiniteOptions({ query })
}

/** The most recent change of any domain. */
export const latestChangeQuery = () => ({ ...listChangesOptions({ query: { limit: 1 } }), staleTime: STALE_MS.insight })

/** The query of the runs of the release gate. */
export const gateRunsQuery = () => listGateRunsInfiniteOptions({ query: { limit: PAGE_SIZE } })

/**
 * One change. The API has no endpoint for it, so the list is searched. Fails with 404 when the change is not in the
 * list.
 */
export const changeQuery = (id: string) =>
  queryOptions({
    queryKey: [{ _id: 'listChanges', path: { id } }],
    async queryFn({ signal }): Promise<Change> {
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
