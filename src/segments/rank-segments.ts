import { incompleteBeta } from '../changes/tail-probability.ts'
import { DIMENSIONS, remainder, type SegmentKey, type SegmentTally, type Tally } from './segment.ts'

/**
 * Minimum effective number of violating sessions in a segment and in all events. Events of one session count once, and
 * sampled events by their effective sample size, the square of the sum of the weights over the sum of their squares
 * (Kish, Survey Sampling, 1965).
 */
export const MIN_SESSIONS = 4
/** Maximum share of false discoveries among the segments that stand out. */
const FALSE_DISCOVERIES = 0.02
/** Minimum ratio of the shares of violating events, so that a difference of no practical use is not named. */
const MIN_RATIO = 1.5
/** Minimum share of the violations that would not have occurred if the segment were like the others. */
const MIN_EXCESS = 0.05
/**
 * A pair with at least this share of the events of one of its values must explain clearly more than that value, because
 * there are many such pairs.
 */
const SAME_SHARE = 0.8
const NEARLY_ONE_PENALTY = 8
/** Quantile of the normal distribution for an interval of 95 %. */
const Z = 1.96

/** Compares the shares of violating events, or their odds (violating to other events). */
export type Measure = 'risk' | 'odds'

/** A segment compared with all other events. */
export interface ComparedSegment extends SegmentTally {
  /** Share of violating events in the segment and elsewhere. */
  inside: number
  elsewhere: number
  /** The share or odds in the segment over that elsewhere, with its confidence interval of 95 %. */
  ratio: number
  low: number
  high: number
}

interface Candidate {
  tally: SegmentTally
  /** Probability that chance alone concentrates the violations so strongly in this segment. */
  chance: number
  /** How much better the violations are described with a separate rate for this segment; higher is better. */
  gain: number
}

/**
 * Returns the segment that best explains the violations; null if none stands out.
 *
 * A segment stands out if it has more of the violations than its share of the events and chance explain. The test is a
 * binomial tail, corrected for the dependence of events in a session. The Benjamini-Hochberg correction is applied to
 * all segments compared.
 *
 * Among these, the segment with the highest log-likelihood ratio is chosen. It rises with the ratio of the rates and
 * with the share of violations that the segment explains. It is highest for the true cause, because any correlate
 * contains valid events of other segments or lacks some of the violations. The logarithm of the number of segments to
 * choose from is subtracted, so that a pair is named only if it explains clearly more than one dimension.
 */
export function standOut(all: Tally, tallies: readonly SegmentTally[], measure: Measure): SegmentTally | null {
  if (sessionsOf(all) < MIN_SESSIONS || all.violating >= all.total) return null
  const dispersion = dispersionOf(all)
  const singles = new Map(
    tallies.flatMap((tally) => (tally.dimensions.length === 1 ? [[nameOf(tally), tally.total] as const] : [])),
  )
  const compared = tallies.toSorted(coarseFirst).flatMap((tally) => {
    const isPair = tally.dimensions.length === 2
    const choices = isPair ? (singles.size * (singles.size - 1)) / 2 : singles.size
    const penalty = 2 * Math.log(choices) + (isPair && isNearlyOne(tally, singles) ? NEARLY_ONE_PENALTY : 0)
    return candidateOf(all, tally, { dispersion, penalty }) ?? []
  })
  const limit = discoveryLimit(compared.map(({ chance }) => chance))
  const found = compared.filter(({ chance, tally }) => chance <= limit && isOfUse(all, tally, measure))
  return (
    found.reduce<Candidate | null>((best, one) => (best && best.gain >= one.gain ? best : one), null)?.tally ?? null
  )
}

/** Single segments before pairs, and in the order of the dimensions. */
function coarseFirst(a: SegmentKey, b: SegmentKey): number {
  const place = ({ dimensions }: SegmentKey) => DIMENSIONS.indexOf(dimensions[0])
  return a.dimensions.length - b.dimensions.length || place(a) - place(b)
}

const nameOf = ({ dimensions, values }: SegmentKey) => `${dimensions[0]}\0${values[0]}`

/** True if one of the pair's values alone selects almost the same events. */
function isNearlyOne({ dimensions, values, total }: SegmentTally, singles: ReadonlyMap<string, number>): boolean {
  return dimensions.some((dimension, at) => {
    const alone = singles.get(nameOf({ dimensions: [dimension], values: [values[at] ?? ''] }))
    return alone !== undefined && total >= alone * SAME_SHARE
  })
}

/** Returns the effective number of violating sessions. */
export function sessionsOf({ cappedViolating, violatingSquares }: Tally): number {
  return violatingSquares > 0 ? cappedViolating ** 2 / violatingSquares : 0
}

/**
 * Returns the variance of the number of violating events relative to that of independent events with weight 1 (the
 * design effect), from the sessions' deviations from the overall rate.
 */
function dispersionOf({ cappedViolating, cappedTotal, ...tally }: Tally): number {
  const rate = cappedViolating / cappedTotal
  const deviations = squaredDeviations({ ...tally, cappedViolating, cappedTotal }, rate)
  const perEvent = Math.min(1, tally.violatingSquares / cappedViolating) * (1 - rate)
  return Math.max(deviations / cappedViolating, perEvent)
}

/** Returns the sum over sessions of (violating − rate × total)². */
function squaredDeviations({ violatingSquares, products, totalSquares }: Tally, rate: number): number {
  return Math.max(0, violatingSquares - 2 * rate * products + rate ** 2 * totalSquares)
}

/** Returns the segment with its test; null if it is too small to be compared, or is all or none of the events. */
function candidateOf(
  all: Tally,
  tally: SegmentTally,
  { dispersion, penalty }: { dispersion: number; penalty: number },
): Candidate | null {
  const share = tally.cappedTotal / all.cappedTotal
  if (share <= 0 || tally.total >= all.total || tally.cappedTotal >= all.cappedTotal) return null
  // The smallest possible value of `chance`. Segments that could never stand out are not counted as comparisons (Tarone,
  // A modified Bonferroni method for discrete data, 1990).
  const violations = all.cappedViolating / dispersion
  if (share ** violations > FALSE_DISCOVERIES / 10) return null
  const own = Math.min(tally.cappedViolating / dispersion, violations)
  const isLarge = sessionsOf(tally) >= MIN_SESSIONS
  const chance = isLarge ? incompleteBeta(share, own, violations - own + 1) : 1
  const gain = likelihoodRatio(all, tally) / dispersion - penalty
  return { tally, chance, gain }
}

/** Returns twice the log-likelihood ratio of two rates, inside and elsewhere, to one rate. */
function likelihoodRatio(all: Tally, tally: Tally): number {
  const others = remainder(all, tally)
  return 2 * (likelihood(tally) + likelihood(others) - likelihood(all))
}

function likelihood({ cappedViolating, cappedTotal }: Tally): number {
  const valid = Math.max(0, cappedTotal - cappedViolating)
  return termOf(cappedViolating, cappedTotal) + termOf(valid, cappedTotal)
}

const termOf = (count: number, total: number) => (count > 0 ? count * Math.log(count / total) : 0)

/** Returns the largest value that passes the Benjamini-Hochberg correction; −1 if none does. */
function discoveryLimit(chances: readonly number[]): number {
  const sorted = chances.toSorted((a, b) => a - b)
  const last = sorted.findLastIndex((chance, at) => chance <= (FALSE_DISCOVERIES * (at + 1)) / sorted.length)
  return sorted[last] ?? -1
}

function isOfUse(all: Tally, tally: Tally, measure: Measure): boolean {
  const others = remainder(all, tally)
  if (measure === 'odds') return oddsOf(tally) >= oddsOf(others) * MIN_RATIO
  const [inside, elsewhere] = [tally.cappedViolating / tally.cappedTotal, others.cappedViolating / others.cappedTotal]
  const excess = (tally.cappedViolating - elsewhere * tally.cappedTotal) / all.cappedViolating
  return inside >= elsewhere * MIN_RATIO && excess >= MIN_EXCESS
}

const oddsOf = ({ cappedViolating, cappedTotal }: Tally) =>
  cappedViolating / Math.max(Number.MIN_VALUE, cappedTotal - cappedViolating)

/**
 * Returns the segment compared with all other events. The interval is computed on the logarithm of the ratio, with
 * variances between sessions instead of events (for shares: Katz et al., Obtaining confidence intervals for the risk
 * ratio in cohort studies, 1978; for odds: Woolf, On estimating the relation between blood group and disease, 1955). If
 * a count is 0, half an event is added to each (Haldane-Anscombe correction).
 */
export function compareSegment(all: Tally, tally: SegmentTally, measure: Measure): ComparedSegment {
  const others = remainder(all, tally)
  const isZero = [tally, others].some(
    ({ violating, total }) => violating <= 0 || (measure === 'odds' && violating >= total),
  )
  const added = isZero ? 0.5 : 0
  const chanceOf = ({ violating, total }: Tally) =>
    measure === 'risk' ? (violating + added) / (total + 2 * added) : (violating + added) / (total - violating + added)
  const ratio = chanceOf(tally) / chanceOf(others)
  const spread = Math.exp(Z * Math.sqrt(logVariance(tally, added, measure) + logVariance(others, added, measure)))
  const [inside, elsewhere] = [tally, others].map(({ violating, total }) => (total > 0 ? violating / total : 0))
  return { ...tally, inside: inside ?? 0, elsewhere: elsewhere ?? 0, ratio, low: ratio / spread, high: ratio * spread }
}

/** Returns the variance of the logarithm of the share, or of the odds, of violating events. */
function logVariance(tally: Tally, added: number, measure: Measure): number {
  const violating = tally.cappedViolating + added
  const total = tally.cappedTotal + 2 * added
  const rate = violating / total
  // The derivative of the logarithm of the odds is that of the logarithm of the share, divided by 1 − rate.
  const scale = measure === 'odds' ? (1 - rate) ** 2 : 1
  const ofSessions = squaredDeviations(tally, rate) / violating ** 2
  return Math.max(ofSessions, (1 - rate) / violating) / scale
}

/** Returns the segments that have more violations than their share of the events, the most surprising first. */
export function rankedBySurprise(all: Tally, tallies: readonly SegmentTally[]): SegmentTally[] {
  if (sessionsOf(all) < MIN_SESSIONS || all.violating >= all.total) return []
  return tallies
    .filter((tally) => tally.cappedViolating * all.cappedTotal > all.cappedViolating * tally.cappedTotal)
    .map((tally) => ({ tally, gain: likelihoodRatio(all, tally) }))
    .sort((a, b) => b.gain - a.gain)
    .map(({ tally }) => tally)
}
