import { listIntegrationsOptions } from '#client/@tanstack/react-query.gen'
import { MAX_PAGE_SIZE } from '../../contract/limits.ts'
import { STALE_MS } from '../api/queries.ts'

/** Query for the names of integrations. */
export const integrationNamesQuery = () => ({
  ...listIntegrationsOptions({ query: { limit: MAX_PAGE_SIZE } }),
  staleTime: STALE_MS.dictionary,
})
