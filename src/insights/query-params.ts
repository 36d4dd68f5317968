import type { WatchedDomain } from '../alerts/types/alert-type.ts'
import { HOUR_MS, type Instant } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { Int, Type } from '../core/schema.ts'
import { domainIdsNamed } from '../domains/project-store.ts'
import type { Query } from '../warehouse/query.ts'
import type { Sources } from './insight.ts'

/** Query fields shared by several insights. */

/** Returns the query field `hours`, the length of the time range. */
export const hoursField = (byDefault: number, maximum: number) =>
  Type.Optional(
    Int({
      minimum: 1,
      maximum,
      default: byDefault,
      description: 'Length of the time range up to now, by time of receipt. Limited to the retention period',
    }),
  )

/** Returns an optional query field that accepts a string. */
export const textField = (maxLength: number, description: string) =>
  Type.Optional(Type.String({ maxLength, description }))

/** Query fields that select domains. */
export const domainFields = {
  domainId: textField(100, 'Only this domain; default: all'),
  projectId: textField(100, 'Only domains of this project; default: all'),
}

/** Domain filter of a request. A domain must match both fields. */
export interface DomainFilter {
  domainId?: string | undefined
  projectId?: string | undefined
}

/** Returns the time range of the last `hours`, up to and including the current millisecond. */
export function lastHours(hours: number, now: Instant): Query['window'] {
  return { from: now + 1 - hours * HOUR_MS, to: now + 1 }
}

/**
 * Returns the requested domains, in no particular order; all domains when there is no filter. Throws `notFound` for an
 * unknown domain or project.
 */
export function requestedDomains(
  { db, domains }: Pick<Sources, 'db' | 'domains'>,
  orgId: string,
  asked: DomainFilter,
): readonly WatchedDomain[] {
  const { domainId, projectId } = asked
  const all = domains()
  const meant = domainId === undefined ? all : all.filter(({ id }) => id === domainId)
  if (domainId !== undefined && meant.length === 0) throw new AppError('notFound', 'query.domainId: no such domain')
  const named = domainIdsNamed(db, orgId, { projectId })
  return named === null ? meant : meant.filter(({ id }) => named.includes(id))
}

/** Returns the ids of the requested domains; null when there is no filter, so that deleted domains are included. */
export function domainsNamed(
  sources: Pick<Sources, 'db' | 'domains'>,
  orgId: string,
  asked: DomainFilter,
): readonly string[] | null {
  if (asked.domainId === undefined && asked.projectId === undefined) return null
  return requestedDomains(sources, orgId, asked).map(({ id }) => id)
}

/** Returns `part` as a percentage of `whole` with one decimal; 0 when `whole` is 0. */
export function percentOf(part: number, whole: number): number {
  return whole > 0 ? Math.round((part / whole) * 1000) / 10 : 0
}
