import { listIntegrationsOptions } from '#client/@tanstack/react-query.gen'
import { FRESH } from '../api/queries.ts'

/** Names of more are not asked for. */
const MOST = 200

/** The integrations, for their names. */
export const integrationNamesAskedFor = () => ({
  ...listIntegrationsOptions({ query: { limit: MOST } }),
  staleTime: FRESH.dictionary,
})
