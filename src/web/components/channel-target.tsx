import { useQuery } from '@tanstack/react-query'
import { Data } from './data-text.tsx'
import { integrationNamesQuery } from './integration-names-query.ts'

/** Prefix of integration ids. */
const INTEGRATION = 'int_'

/** Target of a channel: an e-mail address or URL, or the name of an integration. */
export function ChannelTarget({ target }: { target: string }) {
  const { data } = useQuery({ ...integrationNamesQuery(), enabled: target.startsWith(INTEGRATION) })
  return <Data>{data?.integrations.find(({ id }) => id === target)?.label ?? target}</Data>
}
