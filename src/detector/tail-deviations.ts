/** Number of table entries per unit of k. */
const STEPS_PER_K = 20
const MAX_K = 40

/**
 * Returns −ln of the share of a normal distribution that is more than `k` deviations above its mean, for k >= 1, using
 * the continued fraction of Laplace (https://dlmf.nist.gov/7.9.E1).
 */
function tailOf(k: number): number {
  let fraction = k
  for (let term = 200; term > 0; term--) fraction = k + term / fraction
  return (k * k) / 2 + Math.log(2 * Math.PI) / 2 + Math.log(fraction)
}

let table: Float64Array | null = null

/** `tailOf` from 1 to `MAX_K`, computed on first use to keep startup fast. */
function tails(): Float64Array {
  table ??= Float64Array.from({ length: (MAX_K - 1) * STEPS_PER_K + 1 }, (_, at) => tailOf(1 + at / STEPS_PER_K))
  return table
}

/**
 * Returns the number of standard deviations whose one-sided normal tail has the same probability as no event when
 * `expected` events were expected (e^−expected). It is 3, 4, 5 and 6 for 6.6, 10.4, 15.1 and 20.7 expected events.
 * Linear from 0 below 1; at most 40.
 */
export function tailDeviations(expected: number): number {
  const known = tails()
  const first = known[0] ?? 0
  if (!(expected > first)) return expected > 0 ? expected / first : 0
  let below = 0
  let above = known.length - 1
  if (expected >= (known[above] ?? 0)) return MAX_K
  while (above - below > 1) {
    const middle = (below + above) >> 1
    if ((known[middle] ?? 0) <= expected) below = middle
    else above = middle
  }
  const from = known[below] ?? 0
  return 1 + (below + (expected - from) / ((known[above] ?? 0) - from)) / STEPS_PER_K
}
