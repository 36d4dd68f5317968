import { type OwnPrivacy, personalCandidates } from '../conditions/personal-sql.ts'
import type { Instant } from '../core/clock.ts'
import { type Query, query } from '../warehouse/query.ts'

/** Fields that are looked through beside the parameters, and the keys of their findings. */
export const FIELDS: readonly string[] = ['title', 'path', 'event', 'account', 'sessionId']
/** Keys that a parameter may have, too; it is then spelled with one more `$`, as in conditions. */
export const FIELD_KEYS: readonly string[] = FIELDS.map((field) => `$${field}`)

/** One value that could be personal, of one vendor and domain. */
export interface Candidate {
  orgId: string
  domainId: string
  vendor: string
  /** A parameter, or the name of a field. */
  key: string
  isField: boolean
  value: string
  weight: number
  firstAt: Instant
  lastAt: Instant
}

/**
 * Returns the query for every value that could be personal, of all organizations. `owns`: those with countries or
 * patterns of their own. `read`: what becomes of each row, in memory one by one.
 */
export function candidatesQuery(
  owns: readonly OwnPrivacy[],
  scope: Pick<Query, 'orgId' | 'window'>,
  read?: (candidate: Candidate) => unknown,
): Query {
  return query('compliance.candidates', {
    ...scope,
    ...(read && { read }),
    write(binder) {
      const { any, field, own, entry } = personalCandidates(binder, owns)
      const either = [any.column, own, ...FIELDS.map(field)]
      const texts = `SELECT orgId, domainId, vendor, weight, receivedAt, ${binder.dialect.textRows(FIELDS)} FROM events`
      return {
        sql: `SELECT orgId, domainId, vendor, key, isField, value, sum(weight) AS weight,
            min(receivedAt) AS firstAt, max(receivedAt) AS lastAt
          FROM (${texts}) AS texts WHERE value IS NOT NULL AND ${entry('key', 'value')}
          GROUP BY orgId, domainId, vendor, key, isField, value
          ORDER BY orgId, domainId, vendor, key, isField, value`,
        wholeParams: true,
        anyTests: [any],
        where: either.join(' OR '),
        either,
      }
    },
  })
}
