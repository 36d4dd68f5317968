import { listIntegrationsInfiniteOptions } from '#client/@tanstack/react-query.gen'
import { text } from '../../address/fields.ts'
import { AT_ONCE, PAGED } from '../../api/pages.ts'

/** Search parameters of a new integration. */
export const CONNECT = { provider: text }

/** The query of the list of integrations. */
export const integrationsQuery = () => ({
  ...listIntegrationsInfiniteOptions({ query: { limit: AT_ONCE } }),
  ...PAGED,
})
