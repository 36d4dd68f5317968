import type { Instant } from '../core/clock.ts'
import { type Query, query } from '../warehouse/query.ts'
import { MARK_BUCKETS } from '../warehouse/relation-columns.ts'
import type { History } from '../warehouse/warehouse.ts'
import { formOf, type ListScope } from './value-lists.ts'

/** Number of buckets with a given rank, for one parameter name and vendor. */
interface RankRow {
  vendor: string
  key: string
  rank: number
  buckets: number
  weight: number
  lastAt: Instant
}

/** Estimate for one parameter name and vendor, based on sums alone. */
export interface DistinctEstimate {
  vendor: string
  key: string
  weight: number
  lastAt: Instant
  /** Estimated number of distinct values. Nine out of ten estimates are off by less than 2 %. */
  different: number
}

/** Returns an estimate for each vendor that has one of these keys. */
export async function estimateDistinct(
  history: History,
  scope: ListScope,
  keys: readonly string[],
): Promise<DistinctEstimate[]> {
  if (keys.length === 0) return []
  const rows = await history.query<RankRow>(ranksQuery(scope, keys))
  const lists = Map.groupBy(rows, ({ vendor, key }) => JSON.stringify([vendor, key]))
  return [...lists.values()].map((ranks) => ({
    vendor: ranks[0]?.vendor ?? '',
    key: ranks[0]?.key ?? '',
    weight: ranks.reduce((sum, { weight }) => sum + weight, 0),
    lastAt: Math.max(...ranks.map(({ lastAt }) => lastAt)),
    different: Math.round(estimateOf(ranks)),
  }))
}

function ranksQuery(scope: ListScope, keys: readonly string[]): Query {
  return query('insights.value-ranks', {
    over: 'parameters',
    orgId: scope.orgId,
    window: scope.window,
    write: (binder) => ({
      ...formOf(scope, binder, { by: ['vendor'], only: keys, as: 'marks' }),
      sql: `SELECT vendor, key, rank, count(*) AS buckets, sum(weight) AS weight, max(lastAt) AS lastAt
        FROM (
          SELECT vendor, key, bucket, max(rank) AS rank, sum(weight) AS weight, max(lastAt) AS lastAt
          FROM parameters GROUP BY vendor, key, bucket
        ) GROUP BY vendor, key, rank`,
    }),
  })
}

/**
 * Estimates the number of distinct values from the number of buckets per rank. This is algorithm 6 in Otmar Ertl, New
 * cardinality estimation algorithms for HyperLogLog sketches, https://arxiv.org/abs/1702.01284. The correction for
 * ranks above 51 bits is omitted, because no value reaches them here.
 */
export function estimateOf(ranks: readonly Pick<RankRow, 'rank' | 'buckets'>[]): number {
  const filled = ranks.reduce((sum, { buckets }) => sum + buckets, 0)
  const [most] = ranks.map(({ rank }) => rank).sort((a, b) => b - a)
  const counts = new Map(ranks.map(({ rank, buckets }) => [rank, buckets]))
  let sum = 0
  for (let rank = most ?? 0; rank >= 1; rank--) sum = (sum + (counts.get(rank) ?? 0)) / 2
  return MARK_BUCKETS ** 2 / (2 * Math.LN2) / (sum + MARK_BUCKETS * emptyShare((MARK_BUCKETS - filled) / MARK_BUCKETS))
}

/** Returns `x + Σ x^(2^k) · 2^(k−1)`, summed over k ≥ 1. */
function emptyShare(share: number): number {
  if (share === 1) return Number.POSITIVE_INFINITY
  let [power, factor, sum] = [share, 1, share]
  for (;;) {
    power *= power
    const next = sum + power * factor
    if (next === sum) return sum
    sum = next
    factor += factor
  }
}
