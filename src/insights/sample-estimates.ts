import { MINUTE_MS } from '../core/clock.ts'
import { Closed, Int, Nullable, type Static, Type } from '../core/schema.ts'
import { EVENT_UNIT, SAMPLE_PARTS, samplePartSql } from '../warehouse/dialect.ts'
import { type Binder, type Query, query } from '../warehouse/query.ts'
import type { History } from '../warehouse/warehouse.ts'

/**
 * Estimates from a sample of sessions.
 *
 * A session is in the sample with probability 1/`oneIn`, independently of all others, and with all its events (Bernoulli
 * sampling of clusters). A total is estimated by the sum in the sample times `oneIn`. The variance of this estimate is
 * (`oneIn` − 1) · Σ tᵢ², where tᵢ are the sums of all sessions.
 * Source: Särndal, Swensson and Wretman, Model Assisted Survey Sampling, 1992, sections 3.2 and 4.2.
 *
 * Σ tᵢ² is estimated from the sums of `SAMPLE_PARTS` random groups of sessions.
 * Source: Wolter, Introduction to Variance Estimation, 2nd edition 2007, chapter 2.
 */

const CONFIDENCE = 0.95
/** Quantile 0.975 of the normal distribution. */
const Z = 1.96

const rateFields = {
  oneIn: Int({
    description: 'One in this many sessions was read, a power of two. An event without a session counts as a session',
  }),
  detectableSessions: Int({
    description:
      'Names and values in this many sessions were read with a probability of 95 %. Rarer ones may be missing',
  }),
}
/** How the sessions of an answer without estimates were sampled. */
export const RateSchema = Nullable(Closed(rateFields), { description: 'Null if all events in the scope were read' })

/** How the sessions of an answer were sampled. */
export const SamplingSchema = Nullable(
  Closed({
    ...rateFields,
    sessions: Int({ description: 'Number of sessions read' }),
    marginPct: Type.Number({
      description: 'Half the width of the 95 % confidence interval of the total, as a percentage of the total',
    }),
    detectableSharePct: Type.Number({ description: '`detectableSessions` as a percentage of all sessions' }),
  }),
  { description: 'Null if all events in the scope were read; otherwise, counts are estimates for all sessions' },
)
export type Sampling = Static<typeof SamplingSchema>

/** Returns the schema of the confidence interval of a number in the same object. */
export const intervalSchema = (of: string) =>
  Type.Optional(
    Closed(
      { low: Type.Number(), high: Type.Number() },
      { description: `95 % confidence interval of \`${of}\`; absent unless sessions were sampled` },
    ),
  )
/** Fields to add to an object with an estimate: none if everything was read. */
export type WithInterval = { interval?: { low: number; high: number } }

/** The sum of a count in each part of a sample, by `samplePart`. Parts without an entry are 0. */
export type PartSums = readonly { samplePart: number; weight: number }[]

/** The sum of a count in a sample, and the sum of the squares of its sums by part. */
export interface SampledSum {
  weight: number
  squares: number
}

/** Returns the smallest power of two for which one in that many of these events does not exceed `most`. */
export function oneInFor(events: number, most: number): number {
  let oneIn = 1
  while (events > most * oneIn) oneIn *= 2
  return oneIn
}

/**
 * Returns the sampling rate for the events of an organization that pass these tests on columns of `counts`: one in how
 * many sessions to read so that no more than `maxEventsRead` events are read. Uses stored counts.
 */
export async function sampleRate(
  { history, maxEventsRead }: { history: History; maxEventsRead: number },
  { orgId, window }: Pick<Query, 'orgId' | 'window'>,
  tests: (binder: Binder) => readonly string[],
): Promise<number> {
  const [counted] = await history.query<{ events: number | null }>(
    query('insights.scope-size', {
      over: 'counts',
      orgId,
      // Counts are by minute.
      window: { ...window, from: window.from - MINUTE_MS },
      write: (binder) => ({
        sql: `SELECT sum(events) AS events FROM counts WHERE ${['true', ...tests(binder)].join(' AND ')}`,
      }),
    }),
  )
  return oneInFor(counted?.events ?? 0, maxEventsRead)
}

/** Returns SQL tests, to be joined with AND, that select one in `oneIn` sessions. */
export const sessionTests = (oneIn: number, { dialect }: Binder): string[] =>
  oneIn > 1 ? [dialect.sampled(EVENT_UNIT, oneIn)] : []

/** Returns SQL for the part of an event's session; a constant unless sessions are sampled. */
export const partSql = (oneIn: number, { dialect }: Binder): string => (oneIn > 1 ? samplePartSql(dialect) : '0')

/** Describes the sampling rate. */
export function rateOf(oneIn: number): Static<typeof RateSchema> {
  if (oneIn === 1) return null
  return { oneIn, detectableSessions: Math.ceil(Math.log(1 - CONFIDENCE) / Math.log(1 - 1 / oneIn)) }
}

/** Returns the number of stored events in one of `oneIn` sessions of these domains. */
export async function eventsIn(
  { history }: { history: History },
  {
    orgId,
    domainIds,
    window,
    oneIn,
  }: Pick<Query, 'window'> & { orgId: string; domainIds: readonly string[]; oneIn: number },
): Promise<number> {
  if (domainIds.length === 0) return 0
  const [row] = await history.query<{ events: number }>(
    query('insights.event-count', {
      orgId,
      window,
      write: (binder) => ({
        sql: `SELECT count(*) AS events FROM events
          WHERE ${[`kind <> 'library'`, ...binder.among('domainId', domainIds), ...sessionTests(oneIn, binder)].join(' AND ')}`,
      }),
    }),
  )
  return row?.events ?? 0
}

/** Describes a sample of this many sessions, with this total. */
export function samplingOf(oneIn: number, sessions: number, total: SampledSum): Sampling {
  const rate = rateOf(oneIn)
  if (rate === null) return null
  const { interval: { low, high } = { low: 0, high: 0 } } = countInterval(total, oneIn)
  return {
    ...rate,
    sessions,
    marginPct: total.weight > 0 ? rounded(((high - low) / 2 / (total.weight * oneIn)) * 100) : 0,
    detectableSharePct:
      sessions > 0 ? Math.min(100, rounded((rate.detectableSessions / (sessions * oneIn)) * 100, 4)) : 100,
  }
}

const rounded = (number: number, digits = 1) => Number(number.toFixed(digits))

export function sumOf(parts: PartSums): SampledSum {
  const sums = byPart(parts)
  return { weight: total(sums), squares: total(sums.map((sum) => sum * sum)) }
}

/**
 * Adds sums whose parts are unknown. The squares are an upper bound, which is reached if the sums are proportional in
 * all parts.
 */
export function addSums(sums: readonly SampledSum[]): SampledSum {
  return {
    weight: sums.reduce((sum, { weight }) => sum + weight, 0),
    squares: sums.reduce((sum, { squares }) => sum + Math.sqrt(squares), 0) ** 2,
  }
}

/**
 * Returns the quantile 0.975 of Student's t distribution. Its degrees of freedom are the effective number of sessions in
 * a sum, (Σ tᵢ)² ÷ Σ tᵢ² (Kish, Survey Sampling, 1965), from 2 to `SAMPLE_PARTS` − 1. The approximation is formula 26.7.5
 * in Abramowitz and Stegun, Handbook of Mathematical Functions, and at most 4 % too small.
 */
function quantileFor(sum: SampledSum): number {
  const effective = sum.weight ** 2 / Math.max(1, sum.weight, clusterSquares(sum))
  const freedom = Math.min(SAMPLE_PARTS - 1, Math.max(2, effective))
  const terms = [
    Z,
    (Z ** 3 + Z) / 4,
    (5 * Z ** 5 + 16 * Z ** 3 + 3 * Z) / 96,
    (3 * Z ** 7 + 19 * Z ** 5 + 17 * Z ** 3 - 15 * Z) / 384,
  ]
  return terms.reduce((quantile, term, power) => quantile + term / freedom ** power, 0)
}

/**
 * Returns the confidence interval of a total: all values that differ from the estimate by at most t standard
 * deviations, where the variance is that of the value itself (a score interval). Unlike an interval around the
 * estimate, it also covers small counts.
 */
export function countInterval({ weight, squares }: SampledSum, oneIn: number): WithInterval {
  if (oneIn === 1) return {}
  const sum = { weight, squares }
  const estimate = weight * oneIn
  // The design effect of sampling whole sessions.
  const cluster = weight > 0 ? Math.max(1, clusterSquares(sum) / weight) : 1
  const spread = quantileFor(sum) ** 2 * (oneIn - 1) * cluster
  const [middle, half] = [estimate + spread / 2, Math.sqrt(estimate * spread + spread ** 2 / 4)]
  const low = Math.max(Math.round(weight), Math.floor(middle - half))
  return { interval: { low, high: Math.ceil(middle + half) } }
}

/** Returns the estimate of Σ tᵢ² over the sessions of the sample. */
const clusterSquares = ({ weight, squares }: SampledSum) =>
  Math.max(0, (squares - weight ** 2 / SAMPLE_PARTS) * (SAMPLE_PARTS / (SAMPLE_PARTS - 1)))

/**
 * Returns the confidence interval of the percentage that `some` is of `all`. The variance is that of a ratio, from the
 * residuals of the parts (Wolter, chapter 6). The interval is that of Wilson for the number of independent events that
 * would have the same variance (Korn and Graubard, Confidence intervals for proportions with small expected number of
 * positive counts estimated from survey data, Survey Methodology 24, 1998).
 */
export function shareInterval(some: PartSums, all: PartSums, oneIn: number): WithInterval {
  if (oneIn === 1) return {}
  const [part, whole] = [byPart(some), byPart(all)]
  const events = total(whole)
  if (events === 0) return { interval: { low: 0, high: 0 } }
  const share = Math.min(1, total(part) / events)
  const residuals = sumOf(
    part.map((sum, samplePart) => ({ samplePart, weight: sum - share * (whole[samplePart] ?? 0) })),
  )
  const variance = clusterSquares(residuals) / events ** 2
  const sizes = sumOf(all)
  // Without any residual, the size of the sessions is all that is known.
  const independent =
    variance > 0 && share < 1 ? (share * (1 - share)) / variance : events ** 2 / Math.max(events, clusterSquares(sizes))
  return { interval: wilson(share, Math.min(events, independent) / (1 - 1 / oneIn), quantileFor(sumOf(some))) }
}

function wilson(share: number, events: number, quantile: number): Required<WithInterval>['interval'] {
  const spread = quantile ** 2 / events
  const middle = (share + spread / 2) / (1 + spread)
  const half = Math.sqrt(spread * share * (1 - share) + spread ** 2 / 4) / (1 + spread)
  return { low: rounded(Math.max(0, middle - half) * 100, 2), high: rounded(Math.min(1, middle + half) * 100, 2) }
}

function byPart(parts: PartSums): number[] {
  const sums = Array.from({ length: SAMPLE_PARTS }, () => 0)
  for (const { samplePart, weight } of parts) sums[samplePart] = (sums[samplePart] ?? 0) + weight
  return sums
}

const total = (numbers: readonly number[]) => numbers.reduce((sum, number) => sum + number, 0)
