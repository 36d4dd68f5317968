import { listIntegrationsOptions } from '#client/@tanstack/react-query.gen'
import { STALE_MS } from '../api/queries.ts'

/** Maximum number of integrations to load. */
const MOST = 200

/** Query for the names of integrations. */
export const integrationNamesQuery = () => ({
  ...listIntegrationsOptions({ query: { limit: MOST } }),
  staleTime: STALE_MS.dictionary,
})
