import { useQuery } from '@tanstack/react-query'
import { Data } from './data.tsx'
import { integrationNamesAskedFor } from './integration-names.ts'

/** What ids of integrations begin with. */
const INTEGRATION = 'int_'

/** Where a message goes: an address, or the name of the integration whose id it is. */
export function Target({ target }: { target: string }) {
  const { data } = useQuery({ ...integrationNamesAskedFor(), enabled: target.startsWith(INTEGRATION) })
  return <Data>{data?.integrations.find(({ id }) => id === target)?.label ?? target}</Data>
}
