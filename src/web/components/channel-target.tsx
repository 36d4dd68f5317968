import { useQuery } from '@tanstack/react-query'
import { Data } from './data-text.tsx'
import { integrationNamesQuery } from './integration-names-query.ts'

/** What ids of integrations begin with. */
const INTEGRATION = 'int_'

/** Where a message goes: an address, or the name of the integration whose id it is. */
export function ChannelTarget({ target }: { target: string }) {
  const { data } = useQuery({ ...integrationNamesQuery(), enabled: target.startsWith(INTEGRATION) })
  return <Data>{data?.integrations.find(({ id }) => id === target)?.label ?? target}</Data>
}
