import { useQuery } from '@tanstack/react-query'
import { listDomainsOptions } from '#client/@tanstack/react-query.gen'
import { MAX_PAGE_SIZE } from '../../../contract/limits.ts'
import { STALE_MS } from '../../api/queries.ts'
import { useSearchParams, useSharedParams } from '../../url-state/use-search-params.ts'
import { EXPLORE } from './queries.ts'

/** The domains of the selected project, or of all projects. */
export function useDomains() {
  const [{ project }] = useSharedParams()
  const query = { limit: MAX_PAGE_SIZE, ...(project && { projectId: project }) }
  return useQuery({ ...listDomainsOptions({ query }), staleTime: STALE_MS.insight })
}

/**
 * The domain whose orders are shown: the selected domain, or else the one with the most recent order, or else the
 * first. Empty while loading and when there are no domains.
 */
export function useOrdersDomain(): string {
  const [{ domainId }] = useSearchParams(EXPLORE)
  const { data } = useDomains()
  if (domainId || !data) return domainId
  const [latest] = Object.entries(data.lastOrderAt).toSorted(([, one], [, other]) => other - one)
  return latest?.[0] ?? data.domains[0]?.id ?? ''
}
