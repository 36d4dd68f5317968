/**
 * Tail probabilities: the probability that a value at least this extreme occurs by chance. Every function ending in
 * `Tail` returns a probability from 0 to 1. Counts do not need to be integers.
 */

const LANCZOS = [
  676.5203681218851, -1259.1392167224028, 771.3234287776531, -176.6150291621406, 12.507343278686905,
  -0.13857109526572012, 9.984369578019572e-6, 1.5056327351493116e-7,
]

/**
 * Returns the natural logarithm of the gamma function, for x above 0:
 * https://en.wikipedia.org/wiki/Lanczos_approximation
 */
export function logGamma(x: number): number {
  if (x < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * x)) - logGamma(1 - x)
  const t = x + 6.5
  const sum = LANCZOS.reduce((sum, part, at) => sum + part / (x + at), 0.9999999999998099)
  return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(t) - t + Math.log(sum)
}

const TINY = 1e-300
const STEPS = 500
const EXACT = 1e-14

/**
 * Returns the regularized incomplete beta function I_x(a, b), computed as a continued fraction:
 * https://dlmf.nist.gov/8.17#v
 */
export function incompleteBeta(x: number, a: number, b: number): number {
  if (x <= 0) return 0
  if (x >= 1) return 1
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x))
  return x < (a + 1) / (a + b + 2) ? (front * betaFraction(x, a, b)) / a : 1 - (front * betaFraction(1 - x, b, a)) / b
}

function betaFraction(x: number, a: number, b: number): number {
  const nonZero = (value: number) => (Math.abs(value) < TINY ? TINY : value)
  let c = 1
  let d = 1 / nonZero(1 - ((a + b) * x) / (a + 1))
  let result = d
  for (let m = 1; m <= STEPS; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m))
    d = 1 / nonZero(1 + even * d)
    c = nonZero(1 + even / c)
    result *= d * c
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1))
    d = 1 / nonZero(1 + odd * d)
    c = nonZero(1 + odd / c)
    result *= d * c
    if (Math.abs(d * c - 1) < EXACT) break
  }
  return result
}

/**
 * Returns the share of a standard normal distribution above `z`, with a relative error of 1e-7:
 * https://dlmf.nist.gov/7.17
 */
export function normalTail(z: number): number {
  if (z < 0) return 1 - normalTail(-z)
  // Chebyshev approximation of erfc from Numerical Recipes, with a relative error below 1.2e-7.
  const x = z / Math.SQRT2
  const t = 1 / (1 + x / 2)
  const terms = [
    -1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807, -1.13520398, 1.48851587, -0.82215223,
    0.17087277,
  ]
  const power = terms.reduceRight((sum, term) => sum * t + term, 0)
  return (t * Math.exp(-x * x + power)) / 2
}

/**
 * Returns the probability of a count of at most `count` (`side` low) or at least `count` (`side` high). The count has a
 * negative binomial distribution with the mean `mean`. `spread` is the relative standard deviation of that mean, and
 * must be above 0.
 */
export function countTail(side: 'low' | 'high', count: number, mean: number, spread: number): number {
  const size = 1 / spread ** 2
  const p = size / (size + mean)
  if (side === 'low') return incompleteBeta(p, size, Math.max(0, count) + 1)
  return count <= 0 ? 1 : incompleteBeta(1 - p, count, size)
}

/** Maximum number of trials taken into account. More trials do not make a share more certain. */
const MOST_TRIALS = 20_000

/**
 * Returns the probability of at most `hits` hits in `trials` trials, with a beta-binomial distribution. `share` is the
 * mean share, and `rho` (0 to 1) is the correlation between trials in the same period.
 */
export function shareTail(hits: number, trials: number, share: number, rho: number): number {
  const scale = Math.min(1, MOST_TRIALS / trials)
  const n = Math.round(trials * scale)
  const k = Math.min(n, Math.floor(hits * scale + 1e-9))
  const size = 1 / rho - 1
  const [a, b] = [share * size, (1 - share) * size]
  const base = logGamma(n + 1) - logGamma(a) - logGamma(b) + logGamma(size) - logGamma(n + size)
  let sum = 0
  for (let at = k; at >= 0; at--) {
    const term = Math.exp(base - logGamma(at + 1) - logGamma(n - at + 1) + logGamma(at + a) + logGamma(n - at + b))
    sum += term
    // Below the mean, the terms decrease unless shares near 0 are likely as well.
    if (at < share * n && term < sum * 1e-12 && a >= 1) break
  }
  return Math.min(1, sum)
}
