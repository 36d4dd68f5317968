import { listIntegrationsOptions } from '#client/@tanstack/react-query.gen'
import { STALE_MS } from '../api/queries.ts'

/** Names of more are not asked for. */
const MOST = 200

/** The integrations, for their names. */
export const integrationNamesQuery = () => ({
  ...listIntegrationsOptions({ query: { limit: MOST } }),
  staleTime: STALE_MS.dictionary,
})
