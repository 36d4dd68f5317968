import { useQuery } from '@tanstack/react-query'
import { whoamiOptions } from '#client/@tanstack/react-query.gen'
import type { Whoami } from '#client/types.gen'
import { atLeast, type Role } from '../../contract/roles.ts'
import { STALE_MS } from './queries.ts'

/** Query for the current user. Pages wait for its result because their content depends on the role. */
export const whoamiQuery = () => ({ ...whoamiOptions(), staleTime: STALE_MS.dictionary })

/** The query state of the current user. */
export const useWhoamiQuery = () => useQuery(whoamiQuery())

/** The current user; undefined while loading. */
export const useWhoami = (): Whoami | undefined => useWhoamiQuery().data

/** Returns whether the user has this role or a higher one; false while loading and for read-only keys. */
export const hasRole = (who: Whoami | undefined, role: Role): boolean =>
  who !== undefined && !who.readOnly && atLeast(who.role, role)

export const useHasRole = (role: Role): boolean => hasRole(useWhoami(), role)
