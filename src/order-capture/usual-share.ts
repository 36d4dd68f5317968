import { DAY_MS, HOUR_MS, type Instant } from '../core/clock.ts'

/** Orders of a period, and how many of them are bad: missing, reported repeatedly, or reported with another value. */
export interface Slice {
  /** Start of the period: 5 minutes or an hour. */
  at: Instant
  count: number
  bad: number
}

/** Minimum age of the history, and minimum number of orders in it, before the usual share is known. */
const MIN_LEARNED_MS = 7 * DAY_MS
const MIN_LEARNED_ORDERS = 100

/** Minimum number of orders in a block, in which chance is small enough to see other variation. */
const BLOCK_ORDERS = 60
/**
 * Blocks that differ from the median by more than this many standard deviations, and by more than this share, are
 * incidents and are not learned. If they have more than this part of the orders, they are a rhythm instead.
 */
const MAX_DEVIATION = 4
const MAX_DIFFERENCE = 0.05
const MAX_INCIDENTS = 0.25
/** Number of bad orders by which the share of an hour of the day, or of the weekend, is drawn to the overall share. */
const PRIOR_BAD = 10
/** Factor for the variance of the share itself, whose estimate is uncertain and whose largest values matter. */
const VARIANCE_FACTOR = 1.5
/** Smallest share that is expected. Below it, a few bad orders by chance would look like a multiple of the usual. */
const MIN_SHARE = 0.02

const hourOf = (at: Instant) => Math.floor((at % DAY_MS) / HOUR_MS)

/** 1 on Saturday and Sunday in UTC, otherwise 0. */
const weekendOf = (at: Instant) => ([2, 3].includes(Math.floor(at / DAY_MS) % 7) ? 1 : 0)

interface Block {
  slices: Slice[]
  count: number
  bad: number
}

function blocksOf(slices: readonly Slice[], isFull: (block: Block, next: Slice) => boolean): Block[] {
  const blocks: Block[] = []
  let block: Block = { slices: [], count: 0, bad: 0 }
  for (const slice of slices) {
    if (block.count > 0 && isFull(block, slice)) {
      blocks.push(block)
      block = { slices: [], count: 0, bad: 0 }
    }
    block.slices.push(slice)
    block.count += slice.count
    block.bad += slice.bad
  }
  if (block.count > 0) blocks.push(block)
  return blocks
}

/** Returns the value below which half of the weight lies. */
function weightedMedian(items: readonly { value: number; weight: number }[]): number {
  const sorted = items.toSorted((a, b) => a.value - b.value)
  let left = sorted.reduce((sum, { weight }) => sum + weight, 0) / 2
  for (const { value, weight } of sorted) {
    left -= weight
    if (left <= 0) return value
  }
  return 0
}

/** Returns the slices without incidents: blocks of orders whose share is far from the median of all blocks. */
function withoutIncidents(slices: readonly Slice[]): Slice[] {
  const blocks = blocksOf(slices, ({ count }) => count >= BLOCK_ORDERS)
  const smooth = ({ bad, count }: Block) => (bad + 0.5) / (count + 1)
  const center = weightedMedian(blocks.map((block) => ({ value: smooth(block), weight: block.count })))
  const scores = blocks.map((block) => (smooth(block) - center) / Math.sqrt((center * (1 - center)) / block.count))
  const spread = Math.max(1, 1.4826 * weightedMedian(scores.map((score) => ({ value: Math.abs(score), weight: 1 }))))
  const kept = blocks.filter(
    (block, at) =>
      Math.abs(scores[at] ?? 0) <= MAX_DEVIATION * spread || Math.abs(smooth(block) - center) <= MAX_DIFFERENCE,
  )
  const ordersIn = (of: readonly { count: number }[]) => of.reduce((sum, { count }) => sum + count, 0)
  const isRhythm = ordersIn(kept) < (1 - MAX_INCIDENTS) * ordersIn(blocks)
  return isRhythm ? [...slices] : kept.flatMap((block) => block.slices)
}

/** Returns the ratio of bad orders to expected ones in each cell, by gamma–Poisson shrinkage. */
function ratiosOf(
  slices: readonly Slice[],
  cellOf: (at: Instant) => number,
  cells: number,
  shareOf: (slice: Slice) => number,
): number[] {
  const [expected, bad] = [new Array<number>(cells).fill(PRIOR_BAD), new Array<number>(cells).fill(PRIOR_BAD)]
  for (const slice of slices) {
    const cell = cellOf(slice.at)
    expected[cell] = (expected[cell] ?? 0) + slice.count * shareOf(slice)
    bad[cell] = (bad[cell] ?? 0) + slice.bad
  }
  return bad.map((count, cell) => count / (expected[cell] ?? 1))
}

/**
 * The usual share of bad orders, learned from a history without incidents.
 *
 * The share may depend on the hour of the day and on the weekend. Its ratios to the overall share are estimated by
 * gamma–Poisson shrinkage, so that they only differ from 1 where there are enough orders. The remaining
 * variance in blocks of about 60 orders, and in days, is compared with binomial chance. The excess is the variance of
 * the share itself (overdispersion, method of moments).
 */
export class UsualShare {
  private readonly kept: ReadonlySet<Slice>
  /** Ratio of the share to the overall share by weekend, and by hour of the day. */
  private readonly weekend: readonly number[]
  private readonly hours: readonly number[]
  /** Sums over the history: bad orders, and orders weighted by the ratio of their hour. */
  private readonly bad: number
  private readonly weight: number
  private readonly days: number
  private readonly block: { variance: number; ms: number }
  private readonly dayVariance: number
  readonly from: Instant
  readonly to: Instant
  readonly orders: number

  /** @param slices the history, oldest first */
  constructor(slices: readonly Slice[]) {
    const kept = withoutIncidents(slices)
    this.kept = new Set(kept)
    this.from = slices[0]?.at ?? 0
    this.to = slices.at(-1)?.at ?? 0
    this.orders = kept.reduce((sum, { count }) => sum + count, 0)
    this.bad = kept.reduce((sum, { bad }) => sum + bad, 0)
    const overall = this.orders === 0 ? 0 : this.bad / this.orders
    this.weekend = ratiosOf(kept, weekendOf, 2, () => overall)
    this.hours = ratiosOf(kept, hourOf, 24, ({ at }) => overall * (this.weekend[weekendOf(at)] ?? 1))
    this.weight = kept.reduce((sum, slice) => sum + this.weightOf(slice), 0)
    const blocks = blocksOf(kept, ({ count }) => count >= BLOCK_ORDERS)
    const days = blocksOf(kept, ({ slices }, { at }) => dayOf(slices[0]?.at ?? 0) !== dayOf(at))
    this.days = Math.max(1, days.length)
    const spans = blocks.map(({ slices }) => (slices.at(-1)?.at ?? 0) - (slices[0]?.at ?? 0) + HOUR_MS)
    const ms = spans.reduce((sum, span) => sum + span, 0) / Math.max(1, spans.length)
    this.block = { variance: this.excessVariance(blocks), ms }
    this.dayVariance = this.excessVariance(days)
  }

  /** True when the history is long enough for a judgement. */
  get isLearned(): boolean {
    return this.orders >= MIN_LEARNED_ORDERS && this.to - this.from >= MIN_LEARNED_MS - DAY_MS / 2
  }

  /** Orders weighted by the ratio of their hour: the expected number of bad orders divided by the overall share. */
  weightOf({ at, count }: Slice): number {
    return count * (this.weekend[weekendOf(at)] ?? 1) * (this.hours[hourOf(at)] ?? 1)
  }

  /** True when the slice belongs to the learned history. */
  isPart(slice: Slice): boolean {
    return this.kept.has(slice)
  }

  /**
   * Returns the expected share of bad orders in a window, and the number of orders that are worth as much evidence as
   * the window and the history would be if the share never varied.
   * @param own sums over slices of the window that are part of the history, which are left out of it
   */
  expectationOf(
    window: { count: number; weight: number; ms: number },
    own: { bad: number; weight: number },
  ): Expectation {
    const weight = this.weight - own.weight
    const overall = weight <= 0 ? 0 : (this.bad - own.bad) / weight
    const share = Math.min(0.999, Math.max(MIN_SHARE, (overall * window.weight) / Math.max(1, window.count)))
    const chance = Math.max(share * (1 - share), 1 / Math.max(1, weight))
    const effective = (count: number, variance: number) => count / (1 + (count * variance) / chance)
    return {
      share,
      count: effective(window.count, this.varianceIn(window.ms)),
      base: effective(Math.max(0, weight), this.dayVariance / this.days),
    }
  }

  /** Standard deviation of the share over a day with this number of orders. */
  deviationIn(ordersPerDay: number, share: number): number {
    return Math.sqrt((share * (1 - share)) / Math.max(1, ordersPerDay) + this.varianceIn(DAY_MS))
  }

  get share(): number {
    return this.weight <= 0 ? 0 : this.bad / this.weight
  }

  /** Variance of the share itself in a window. It averages out with time, but not below that of days. */
  private varianceIn(ms: number): number {
    const { variance, ms: own } = this.block
    return ms <= own ? Math.max(variance, this.dayVariance) : Math.max(this.dayVariance, (variance * own) / ms)
  }

  private excessVariance(blocks: readonly Block[]): number {
    if (blocks.length < 2 || this.weight <= 0) return 0
    let [scores, chance, count] = [0, 0, 0]
    for (const block of blocks) {
      const expected = block.slices.reduce((sum, slice) => sum + this.weightOf(slice), 0) * this.share
      const variance = expected * Math.max(0.05, 1 - expected / block.count)
      if (variance <= 0) continue
      scores += Math.min(25, (block.bad - expected) ** 2 / variance)
      chance += variance / block.count ** 2
      count++
    }
    if (count < 2) return 0
    // An excess within one standard error of the mean of squares is chance.
    return Math.max(0, scores / count - 1 - Math.sqrt(2 / count)) * (chance / count) * VARIANCE_FACTOR
  }
}

const dayOf = (at: Instant) => Math.floor(at / DAY_MS)

/** The expected share in a window, and the effective numbers of orders in the window and in the history. */
export interface Expectation {
  share: number
  count: number
  base: number
}
