import { listIntegrationsInfiniteOptions } from '#client/@tanstack/react-query.gen'
import { AT_ONCE, PAGED } from '../../api/pages.ts'

/** The query of the list of integrations. */
export const integrationsAskedFor = () => ({
  ...listIntegrationsInfiniteOptions({ query: { limit: AT_ONCE } }),
  ...PAGED,
})
