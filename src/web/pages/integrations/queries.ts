import { listIntegrationsInfiniteOptions } from '#client/@tanstack/react-query.gen'
import { PAGE_SIZE } from '../../api/pagination.ts'
import { text } from '../../url-state/param-types.ts'

/** Search parameters of a new integration. */
export const CONNECT = { provider: text }

/** The query of the list of integrations. */
export const integrationsQuery = () => listIntegrationsInfiniteOptions({ query: { limit: PAGE_SIZE } })
