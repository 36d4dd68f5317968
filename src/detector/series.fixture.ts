/** Returns random numbers from 0 (inclusive) to 1 (exclusive). */
export type Random = () => number

/** Returns the same random numbers for the same seed (mulberry32 by Tommy Ettinger, in the public domain). */
export function randomOf(seed: number): Random {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Returns a random number from a normal distribution with mean 0 and standard deviation 1. */
export function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}

const WEEK_HOURS = 168
/** From this mean on, a Poisson count is drawn as a rounded normally distributed number. */
const MANY = 500
/** Small enough that e^−mean is far above the smallest positive number. */
const PIECE = 30

/** Returns a random Poisson count with the given mean. */
export function poisson(mean: number, random: Random): number {
  if (mean > MANY) return Math.max(0, Math.round(mean + Math.sqrt(mean) * normal(random)))
  if (mean > PIECE) return poisson(PIECE, random) + poisson(mean - PIECE, random)
  let count = -1
  for (let product = 1; product > Math.exp(-mean); count++) product *= random()
  return count
}

/**
 * Returns the traffic in an hour of the week as a fraction of the average: quiet nights, an afternoon peak, a quarter
 * less on weekends.
 */
export function profileAt(hour: number): number {
  const ofDay = hour % 24
  const waking = ofDay < 5 ? 0 : Math.sin((Math.PI * (ofDay - 5)) / 19) ** 2
  const ofWeek = [1, 1.02, 1, 0.98, 0.95, 0.7, 0.75][Math.floor(hour / 24) % 7] ?? 1
  return ((0.25 + 0.75 * waking) * ofWeek) / 0.505
}

/**
 * Returns counts with a weekly profile, 1 % growth per week, noise of 8 % by day and 5 % by hour, and Poisson noise.
 */
export function madeSeries(perHour: number, weeks: number, random: Random, profile = profileAt): number[] {
  let ofDay = 1
  return Array.from({ length: weeks * WEEK_HOURS }, (_, hour) => {
    if (hour % 24 === 0) ofDay = Math.exp(0.08 * normal(random))
    const trend = Math.exp((0.01 * hour) / WEEK_HOURS)
    return poisson(perHour * profile(hour % WEEK_HOURS) * trend * ofDay * Math.exp(0.05 * normal(random)), random)
  })
}
