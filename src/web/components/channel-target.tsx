import { useQuery } from '@tanstack/react-query'
import { useMemberNames } from '../api/members.ts'
import { messages } from '../messages.ts'
import { Data } from './data-text.tsx'
import { integrationNamesQuery } from './integration-names-query.ts'

/** Prefixes of the ids of integrations and users. */
const INTEGRATION = 'int_'
const USER = 'usr_'

/** Target of a channel: an e-mail address or URL, or the name of an integration or a member. */
export function ChannelTarget({ target }: { target: string }) {
  return target.startsWith(USER) ? <MemberTarget id={target} /> : <OtherTarget target={target} />
}

function MemberTarget({ id }: { id: string }) {
  const nameOf = useMemberNames()
  return <Data>{nameOf(id) ?? messages.displayNames.formerMember}</Data>
}

function OtherTarget({ target }: { target: string }) {
  const { data } = useQuery({ ...integrationNamesQuery(), enabled: target.startsWith(INTEGRATION) })
  return <Data>{data?.integrations.find(({ id }) => id === target)?.label ?? target}</Data>
}
