import { describe, expect, test } from 'bun:test'
import { countTail, incompleteBeta, logGamma, normalTail, shareTail } from './tail-probability.ts'

/** Expects a relative error of at most one millionth. */
function expectNear(value: number, truth: number): void {
  expect(Math.abs(value - truth)).toBeLessThanOrEqual(1e-6 * Math.max(truth, 1e-300))
}

test.each([
  [1, 0],
  [5, Math.log(24)],
  [0.5, Math.log(Math.sqrt(Math.PI))],
  [101, 363.73937555556347],
])('the logarithm of gamma of %d is %d', (x, truth) => {
  expect(Math.abs(logGamma(x) - truth)).toBeLessThan(1e-9)
})

test.each([
  [0, 0.5],
  [1.959963985, 0.025],
  [-1, 0.8413447461],
  [6, 9.865876e-10],
])('the upper tail of a normal distribution above %d is %d', (z, truth) => expectNear(normalTail(z), truth))

test('the incomplete beta function of integers is a sum of binomials', () => {
  // I_x(a, n − a + 1) is the probability of at least a successes in n trials.
  const choose = (n: number, k: number) => Math.exp(logGamma(n + 1) - logGamma(k + 1) - logGamma(n - k + 1))
  for (const [x, a, n] of [
    [0.3, 2, 5],
    [0.05, 4, 40],
    [0.9, 35, 40],
  ] as const) {
    let sum = 0
    for (let k = a; k <= n; k++) sum += choose(n, k) * x ** k * (1 - x) ** (n - k)
    expectNear(incompleteBeta(x, a, n - a + 1), sum)
  }
})

describe('the tail probability of a count', () => {
  test('follows a Poisson distribution when the mean is certain', () => {
    // P(X ≤ 2) with mean 10: https://en.wikipedia.org/wiki/Poisson_distribution
    expect(Math.abs(countTail('low', 2, 10, 1e-4) - 0.0027693957155115775)).toBeLessThan(1e-6)
    expect(Math.abs(countTail('high', 20, 10, 1e-4) - 0.0034543419758) / 0.00345).toBeLessThan(1e-3)
    expectNear(countTail('low', 0, 10, 1e-4), Math.exp(-10 + (10 * 1e-4) ** 2 / 2))
  })

  test('increases with the uncertainty of the mean', () => {
    const chances = [0.01, 0.1, 0.3, 1].map((spread) => countTail('low', 50, 100, spread))
    expect(chances).toEqual(chances.toSorted((a, b) => a - b))
    expect(countTail('low', 100, 100, 0.1)).toBeGreaterThan(0.4)
    expect(countTail('high', 0, 100, 0.1)).toBe(1)
  })
})

describe('the tail probability of a share', () => {
  test('follows a binomial distribution when the share never varies', () => {
    expect(Math.abs(shareTail(0, 10, 0.5, 1e-9) - 0.5 ** 10)).toBeLessThan(1e-7)
    expect(Math.abs(shareTail(5, 10, 0.5, 1e-9) - 0.623046875)).toBeLessThan(1e-5)
  })

  test('increases when the share varies over time', () => {
    const chances = [0.001, 0.01, 0.1, 0.5].map((rho) => shareTail(20, 100, 0.5, rho))
    expect(chances).toEqual(chances.toSorted((a, b) => a - b))
    expect(shareTail(100, 100, 0.5, 0.1)).toBeCloseTo(1, 6)
  })

  test('is computed quickly for a very large number of trials', () => {
    expect(shareTail(0, 1e9, 0.999, 0.002)).toBeLessThan(1e-12)
  })
})
