import { listDomainsInfiniteOptions } from '#client/@tanstack/react-query.gen'
import { PAGE_SIZE } from '../../api/pagination.ts'
import type { ValuesOf } from '../../url-state/param-types.ts'
import { nameList, sortParam, text } from '../../url-state/param-types.ts'
import type { SharedParams } from '../../url-state/search-params.ts'

/** Search parameters of the list of domains. */
export const DOMAINS = { q: text, sort: sortParam(['name', 'events24h', 'lastEventAt', 'createdAt'], 'createdAt') }

/** Search parameters of the live page. */
export const LIVE = { q: text, vendor: nameList, event: nameList }

/** The query of the list of domains. */
export const domainsQuery = ({
  q,
  sort,
  project,
}: ValuesOf<typeof DOMAINS> & Pick<ValuesOf<SharedParams>, 'project'>) =>
  listDomainsInfiniteOptions({
    query: {
      limit: PAGE_SIZE,
      ...(q && { q }),
      ...(project && { projectId: project }),
      ...(sort !== DOMAINS.sort.fallback && { sort }),
    },
  })
