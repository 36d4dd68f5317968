import type { WatchedDomain } from '../alerts/types/alert-type.ts'
import { HOUR_MS, type Instant } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { Int, Type } from '../core/schema.ts'
import { domainIdsNamed } from '../domains/project-store.ts'
import type { Query } from '../warehouse/query.ts'
import type { Sources } from './insight.ts'

/** What several insights are asked in the same words. */

/** The query field `hours`: how far back. */
export const hoursField = (byDefault: number, maximum: number) =>
  Type.Optional(
    Int({
      minimum: 1,
      maximum,
      default: byDefault,
      description: 'So far back, by arrival. More than events are kept shows what is kept',
    }),
  )

/** An optional query field. */
export const textField = (maxLength: number, description: string) =>
  Type.Optional(Type.String({ maxLength, description }))

/** The query fields that say which domains are meant. */
export const domainFields = {
  domainId: textField(100, 'Only this domain; left out: all'),
  projectId: textField(100, 'Only domains of this project; left out: all'),
}

/** Which domains are asked about; those of which both hold. */
export interface DomainsAsked {
  domainId?: string | undefined
  projectId?: string | undefined
}

/** The last `hours` up to now, this millisecond included. */
export function lastHours(hours: number, now: Instant): Query['window'] {
  return { from: now + 1 - hours * HOUR_MS, to: now + 1 }
}

/**
 * Returns the domains that are asked about, in no order: all, where none is named. Fails with `notFound` for a domain or a
 * project that is not.
 */
export function domainsMeant(
  { db, domains }: Pick<Sources, 'db' | 'domains'>,
  orgId: string,
  asked: DomainsAsked,
): readonly WatchedDomain[] {
  const { domainId, projectId } = asked
  const all = domains()
  const meant = domainId === undefined ? all : all.filter(({ id }) => id === domainId)
  if (domainId !== undefined && meant.length === 0) throw new AppError('notFound', 'query.domainId: no such domain')
  const named = domainIdsNamed(db, orgId, { projectId })
  return named === null ? meant : meant.filter(({ id }) => named.includes(id))
}

/** The same as ids; null where none is named, which means also domains that were deleted. */
export function domainsNamed(
  sources: Pick<Sources, 'db' | 'domains'>,
  orgId: string,
  asked: DomainsAsked,
): readonly string[] | null {
  if (asked.domainId === undefined && asked.projectId === undefined) return null
  return domainsMeant(sources, orgId, asked).map(({ id }) => id)
}

/** A part of a whole as a percentage with one decimal; 0 of nothing. */
export function percentOf(part: number, whole: number): number {
  return whole > 0 ? Math.round((part / whole) * 1000) / 10 : 0
}
