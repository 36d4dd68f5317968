import { HOUR_MS, type Instant } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { Int, Type } from '../core/schema.ts'
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
      'x-unit': 'h',
      description: 'So far back, by arrival. More than events are kept shows what is kept',
    }),
  )

/** An optional query field. */
export const textField = (maxLength: number, description: string) =>
  Type.Optional(Type.String({ maxLength, description }))

/** The query field `domainId`. */
export const domainField = textField(100, 'Only this domain; left out: all')

/** The last `hours` up to now, this millisecond included. */
export function lastHours(hours: number, now: Instant): Query['window'] {
  return { from: now + 1 - hours * HOUR_MS, to: now + 1 }
}

/** Returns the domains that are asked about, in no order: the one named, or all. Fails with `notFound` for one that is not. */
export function domainsMeant(sources: Pick<Sources, 'domains'>, { domainId }: { domainId?: string }) {
  const domains = sources.domains()
  if (domainId === undefined) return domains
  const named = domains.filter(({ id }) => id === domainId)
  if (named.length === 0) throw new AppError('notFound', 'query.domainId: no such domain')
  return named
}

/** A part of a whole as a percentage with one decimal; 0 of nothing. */
export function percentOf(part: number, whole: number): number {
  return whole > 0 ? Math.round((part / whole) * 1000) / 10 : 0
}
