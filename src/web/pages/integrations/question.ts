import { listIntegrationsInfiniteOptions } from '#client/@tanstack/react-query.gen'
import { AT_ONCE, PAGED } from '../../api/pages.ts'

/** With whom Tagwarden speaks, in pages. */
export const integrationsAskedFor = () => ({
  ...listIntegrationsInfiniteOptions({ query: { limit: AT_ONCE } }),
  ...PAGED,
})
