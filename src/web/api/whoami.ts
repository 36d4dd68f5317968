import { useQuery } from '@tanstack/react-query'
import { whoamiOptions } from '#client/@tanstack/react-query.gen'
import type { Whoami } from '#client/types.gen'
import { STALE_MS } from './queries.ts'

/** From the lowest to the highest. */
export const ROLES = ['viewer', 'member', 'admin', 'owner'] as const
export type Role = (typeof ROLES)[number]

/** The question who is signed in. Pages are drawn when it is answered: what they show depends on the role. */
export const whoamiQuery = () => ({ ...whoamiOptions(), staleTime: STALE_MS.dictionary })

/** The same, for places where nothing can be shown before its answer. */
export const useWhoamiQuery = () => useQuery(whoamiQuery())

/** Who is signed in; undefined until the server said it. */
export const useWhoami = (): Whoami | undefined => useWhoamiQuery().data

/** True when the caller may do what needs this role. False until it is known. */
export function useHasRole(role: Role): boolean {
  const who = useWhoami()
  return who !== undefined && !who.readOnly && ROLES.indexOf(who.role) >= ROLES.indexOf(role)
}
