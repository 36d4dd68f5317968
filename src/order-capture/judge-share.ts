import { DAY_MS, HOUR_MS, type Instant } from '../core/clock.ts'
import { type Slice, UsualShare } from './usual-share.ts'

/** A rise that the last evaluations found, and past rises, which are not part of the usual share. */
export interface ShareState {
  /** Start of the current rise; null when the share is usual. */
  since: Instant | null
  /** Orders before this are not judged again: the end of the last rise. */
  judgedFrom: Instant
  /** Periods that are not learned, oldest first. */
  excluded: [from: Instant, to: Instant][]
}

export const INITIAL_SHARE: ShareState = { since: null, judgedFrom: 0, excluded: [] }

/** The result for one share. */
export interface ShareVerdict {
  state: ShareState
  /** Usual share; null while it is being learned. */
  usual: { share: number; low: number; high: number } | null
}

/**
 * Maximum number of false alarms: one in this many years per rule. The bound for the likelihood ratio follows from it.
 */
const YEARS_PER_FALSE_ALARM = 10
const YEAR_DAYS = 365
/** Evaluations of a rule per day, at most. */
const EVALUATIONS_PER_DAY = DAY_MS / (5 * 60_000)
/** Minimum rise of the share, and minimum number of bad orders. Smaller rises are not worth an issue. */
const MIN_RISE = 0.05
const MIN_BAD = 6
/** Longest window that is judged. */
const MAX_WINDOW_MS = 14 * DAY_MS
/** A rise that lasts this long becomes the usual share. */
const ACCEPTED_AFTER_MS = 28 * DAY_MS
/** Likelihood ratio at which the newest orders certainly differ from those in the rise before them: 10,000 to 1. */
const RECOVERED = Math.log(10_000)
/** Likelihood ratio at which the newest orders are nearer to the usual share than to the risen one: 20 to 1. */
const USUAL_AGAIN = Math.log(20)

/**
 * Judges whether the share of bad orders has risen above the usual share. Pure; evaluates the same orders to the same
 * result.
 *
 * While the share is usual, every window that ends now is compared with the history before it by the generalised
 * likelihood ratio of two binomial shares, `G = n·KL(q‖r) + m·KL(p‖r)`. The window has `n` orders and the share `q`, the
 * history has `m` orders and the share `p`, and `r` is the share of both. `KL` is the Kullback–Leibler divergence. The
 * window with
 * the largest `G` is the estimate of the change (window-limited GLR: T. L. Lai, Sequential changepoint detection in
 * quality control and dynamical systems, J. R. Statist. Soc. B 57, 1995). `n` and `m` are effective numbers, reduced by
 * the variance of the share itself. `G` exceeds `h` by chance with a probability of about `exp(−h) / √(4πh)` (Bahadur and
 * Rao's refinement of Chernoff's bound). `h` is chosen for one false alarm in 10 years of a rule, where only evaluations
 * with new orders count, at most one in 5 minutes.
 *
 * A rise has ended when the orders since some instant differ from those in the rise before it by the same ratio, at least
 * 10,000 to 1, and are certainly below the middle of the usual and the risen share. Periods of a rise are not learned. A
 * rise that lasts 28 days becomes the usual share.
 * @param slices settled orders of at most 12 weeks, oldest first
 */
export function judgeShare(slices: readonly Slice[], state: ShareState): ShareVerdict {
  const filled = slices.filter(({ count }) => count > 0)
  const end = (filled.at(-1)?.at ?? 0) + 1
  if (state.since !== null && end - state.since > ACCEPTED_AFTER_MS) {
    return judgeShare(slices, { since: null, judgedFrom: state.since, excluded: [[0, state.since]] })
  }
  const isExcluded = ({ at }: Slice) =>
    (state.since !== null && at >= state.since) || state.excluded.some(([from, to]) => at >= from && at < to)
  const usual = new UsualShare(filled.filter((slice) => !isExcluded(slice)))
  if (!usual.isLearned) return { state, usual: null }
  const next = state.since === null ? risen(filled, usual, state) : recovered(filled, usual, state, state.since)
  return { state: next, usual: rangeOf(usual) }
}

function rangeOf(usual: UsualShare): NonNullable<ShareVerdict['usual']> {
  const days = Math.max(1, (usual.to - usual.from) / DAY_MS)
  const { share } = usual
  const margin = 2 * usual.deviationIn(usual.orders / days, share)
  return { share, low: Math.max(0, share - margin), high: Math.min(1, share + margin) }
}

/** Returns the bound for the likelihood ratio. */
function boundOf(usual: UsualShare): number {
  const perDay = usual.orders / Math.max(1, (usual.to - usual.from) / DAY_MS)
  const looks = Math.log(YEARS_PER_FALSE_ALARM * YEAR_DAYS * Math.max(1, Math.min(perDay, EVALUATIONS_PER_DAY)))
  return looks - Math.log(4 * Math.PI * looks) / 2
}

function risen(slices: readonly Slice[], usual: UsualShare, state: ShareState): ShareState {
  const end = (slices.at(-1)?.at ?? 0) + 1
  const bound = boundOf(usual)
  const window = { count: 0, bad: 0, weight: 0 }
  const own = { bad: 0, weight: 0 }
  let isRisen = false
  let best = { ratio: 0, since: null as Instant | null }
  for (let index = slices.length - 1; index >= 0; index--) {
    const slice = slices[index] as Slice
    if (slice.at < state.judgedFrom || slice.at < end - MAX_WINDOW_MS) break
    const weight = usual.weightOf(slice)
    window.count += slice.count
    window.bad += slice.bad
    window.weight += weight
    if (usual.isPart(slice)) {
      own.bad += slice.bad
      own.weight += weight
    }
    const expected = usual.expectationOf({ ...window, ms: end - slice.at }, own)
    const share = window.bad / window.count
    if (window.bad < MIN_BAD || share - expected.share < MIN_RISE) continue
    const base = { share: expected.share, count: expected.base }
    isRisen ||= likelihoodRatio({ share, count: expected.count }, base) > bound
    // The start is estimated from all orders: their number is not reduced by the variance of the share.
    const ratio = likelihoodRatio({ share, count: window.count }, base)
    if (ratio > best.ratio) best = { ratio, since: slice.at }
  }
  return isRisen ? { ...state, since: best.since } : state
}

function recovered(slices: readonly Slice[], usual: UsualShare, state: ShareState, since: Instant): ShareState {
  const after = slices.filter(({ at }) => at >= since)
  const sum = (of: readonly Slice[], field: 'count' | 'bad') => of.reduce((total, slice) => total + slice[field], 0)
  const total = { count: sum(after, 'count'), bad: sum(after, 'bad') }
  const end = (after.at(-1)?.at ?? 0) + 1
  const tail = { count: 0, bad: 0, weight: 0 }
  let best = { ratio: RECOVERED, at: null as Instant | null }
  for (let index = after.length - 1; index >= 0; index--) {
    const slice = after[index] as Slice
    tail.count += slice.count
    tail.bad += slice.bad
    tail.weight += usual.weightOf(slice)
    const expected = usual.expectationOf({ ...tail, ms: end - slice.at }, { bad: 0, weight: 0 })
    const rest = total.count - tail.count
    if (rest <= 0) break
    const reduced = expected.count / tail.count
    const now = { share: tail.bad / tail.count, count: expected.count }
    const before = { share: (total.bad - tail.bad) / rest, count: rest * reduced }
    const middle = (expected.share + Math.max(total.bad / total.count, expected.share + MIN_RISE)) / 2
    const isUsual = now.share < middle && now.count * divergence(now.share, middle) > USUAL_AGAIN
    const ratio = isUsual ? likelihoodRatio(now, before) : 0
    if (ratio > best.ratio) best = { ratio, at: slice.at }
  }
  if (best.at === null) return state
  const oldest = (slices[0]?.at ?? 0) - HOUR_MS
  const excluded = [...state.excluded, [since, best.at] as [Instant, Instant]].filter(([, to]) => to > oldest)
  return { since: null, judgedFrom: best.at, excluded }
}

/** Kullback–Leibler divergence of two Bernoulli distributions. */
function divergence(q: number, p: number): number {
  const part = (a: number, b: number) => (a <= 0 ? 0 : a * Math.log(a / b))
  return part(q, p) + part(1 - q, 1 - p)
}

interface Sample {
  share: number
  count: number
}

/** Generalised likelihood ratio of two binomial samples with different shares against one common share. */
function likelihoodRatio(a: Sample, b: Sample): number {
  const common = (a.share * a.count + b.share * b.count) / (a.count + b.count)
  return a.count * divergence(a.share, common) + b.count * divergence(b.share, common)
}

/** Window in which a fixed maximum is judged, and the number of orders if there are fewer in this time. */
const LIMIT_WINDOW_MS = DAY_MS
const LIMIT_ORDERS = 100
/** Likelihood ratio at which a share is certainly above a fixed maximum: 1,000 to 1. */
const LIMIT_EXCEEDED = Math.log(1000)

/**
 * Returns the start of the window in which the share of bad orders is certainly above a fixed maximum, by the binomial
 * likelihood ratio `n·KL(q‖maximum)`; null if there is none. Judges windows of up to 24 hours, or of up to 100 orders in
 * small shops, and requires that the newest quarter of the window is above the maximum, too.
 */
export function exceedsLimit(slices: readonly Slice[], maximum: number): Instant | null {
  const filled = slices.filter(({ count }) => count > 0)
  const end = (filled.at(-1)?.at ?? 0) + 1
  let best = { ratio: LIMIT_EXCEEDED, since: null as Instant | null }
  const tails: { count: number; bad: number }[] = []
  let [count, bad] = [0, 0]
  for (const slice of filled.toReversed()) {
    if (slice.at < end - LIMIT_WINDOW_MS && count >= LIMIT_ORDERS) break
    count += slice.count
    bad += slice.bad
    tails.push({ count, bad })
    const share = bad / count
    const newest = tails.find((tail) => tail.count * 4 >= count)
    if (share <= maximum || !newest || newest.bad <= newest.count * maximum) continue
    const ratio = count * divergence(share, Math.max(maximum, 1e-6))
    if (ratio > best.ratio) best = { ratio, since: slice.at }
  }
  return best.since
}
