import { useQuery } from '@tanstack/react-query'
import { listMembersOptions } from '#client/@tanstack/react-query.gen'
import type { Member } from '#client/types.gen'
import { MAX_PAGE_SIZE } from '../../contract/limits.ts'
import { STALE_MS } from './queries.ts'

const NONE: readonly Member[] = []

/** The query of the organization's members and invited users. */
export const membersQuery = () => ({
  ...listMembersOptions({ query: { limit: MAX_PAGE_SIZE } }),
  staleTime: STALE_MS.dictionary,
})

/** The organization's members and invited users; empty while loading. */
export function useMembers(): readonly Member[] {
  const { data } = useQuery(membersQuery())
  return data?.members ?? NONE
}

/** Name of a member: their name or e-mail address; null if the caller can see neither. */
export const memberName = ({ name, email }: Member): string | null => name || email

/** Names of the organization's members by id. */
export function useMemberNames(): (id: string) => string | null {
  const members = useMembers()
  return (id) => {
    const member = members.find((one) => one.id === id)
    return member ? memberName(member) : null
  }
}
