import { useQuery } from '@tanstack/react-query'
import { listIntegrationsOptions } from '#client/@tanstack/react-query.gen'
import { FRESH } from '../api/queries.ts'
import { Data } from './data.tsx'

/** What ids of integrations begin with. */
const INTEGRATION = 'int_'
/** Names of more are not asked for. */
const MOST = 200

/** Where a message goes: an address, or the name of the integration whose id it is. */
export function Target({ target }: { target: string }) {
  const { data } = useQuery({
    ...listIntegrationsOptions({ query: { limit: MOST } }),
    ...{ staleTime: FRESH.dictionary, enabled: target.startsWith(INTEGRATION) },
  })
  return <Data>{data?.integrations.find(({ id }) => id === target)?.label ?? target}</Data>
}
