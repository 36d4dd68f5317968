import type { WatchedDomain } from '../alerts/types/alert-type.ts'
import { DAY_MS, HOUR_MS, type Instant } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { InstantInput, Int, Type } from '../core/schema.ts'
import { domainIdsNamed } from '../domains/project-store.ts'
import type { Query } from '../warehouse/query.ts'
import type { Sources } from './insight.ts'

/** Query fields shared by several insights. */

/** Query fields of a period. */
export const periodFields = {
  from: Type.Optional(InstantInput({ minimum: 0, description: 'Start, by time of receipt; replaces the default' })),
  to: Type.Optional(InstantInput({ minimum: 0, description: 'End of the period, exclusive; default: now' })),
}

/** Returns the query fields of a period: its length up to now or up to `to`, or its start and end. */
export const rangeFields = (byDefault: number, maximum: number) => ({
  hours: Type.Optional(
    Int({
      minimum: 1,
      maximum,
      default: byDefault,
      description: 'Length of the time range up to now or `to`, by time of receipt; not used with `from`',
    }),
  ),
  ...periodFields,
})

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

/** The period fields of a request. */
export interface AskedRange {
  hours?: number | undefined
  from?: Instant | undefined
  to?: Instant | undefined
}

/**
 * Returns the requested period: from `from`, or from `hours` earlier, to `to`, by default up to and including the
 * current millisecond. Throws `invalid`, naming the field, for an empty period or one longer than `maximum` hours.
 */
export function windowOf(
  { hours, from, to }: AskedRange,
  { byDefault, maximum, now }: { byDefault: number; maximum: number; now: Instant },
): Query['window'] {
  const end = to ?? now + 1
  const start = from ?? end - (hours ?? byDefault) * HOUR_MS
  if (start >= end) {
    throw new AppError('invalid', `query.from: must be before ${to === undefined ? 'the current time' : '`to`'}`)
  }
  if (end - start > maximum * HOUR_MS + 1) {
    throw new AppError('invalid', `query.from: must be at most ${maximum} hours before the end of the period`)
  }
  return { from: start, to: end }
}

/** Returns the length of a period in hours, rounded up. */
export const hoursIn = ({ from, to }: Query['window']): number => Math.ceil((to - from) / HOUR_MS)

/** UTC days since the Unix epoch. Both ends are inclusive. */
interface DaySpan {
  from: number
  to: number
}

/**
 * Returns the UTC days of a period with `from` or `to`, otherwise the last `days` up to and including today. Throws
 * `invalid`, naming the field, for an empty period or one with more than `maximum` days.
 */
export function daysOf(
  { days, from, to }: { days: number; from?: Instant | undefined; to?: Instant | undefined },
  { maximum, now }: { maximum: number; now: Instant },
): DaySpan {
  const last = Math.floor(Math.min(now, to === undefined ? now : to - 1) / DAY_MS)
  if (from === undefined) return { from: last - days + 1, to: last }
  const window = windowOf({ from, to }, { byDefault: 0, maximum: Number.POSITIVE_INFINITY, now })
  const first = Math.floor(window.from / DAY_MS)
  if (last - first >= maximum) {
    throw new AppError('invalid', `query.from: must be at most ${maximum} days before the end of the period`)
  }
  return { from: first, to: last }
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
