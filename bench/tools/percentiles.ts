/** Returns the value at the quantile `share`, from 0 to 1. Returns NaN if there are no values. */
export function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN
}

/** Summarises a distribution of times: `p50 1.2 ms, p90 3.4 ms, p99 17 ms`. */
export function spreadOf(times: readonly number[]): string {
  return [0.5, 0.9, 0.99].map((share) => `p${share * 100} ${round(quantile(times, share))} ms`).join(', ')
}

function round(ms: number): string {
  return ms.toFixed(ms < 1 ? 3 : ms < 10 ? 1 : 0)
}

/** Runs the work `runs` times, prints the distribution of the times, and returns their median in ms. */
export async function medianMs(name: string, work: () => Promise<unknown>, runs: number): Promise<number> {
  const times: number[] = []
  for (let run = 0; run < runs; run++) {
    const startedAt = performance.now()
    await work()
    times.push(performance.now() - startedAt)
  }
  console.log(`  ${name}: ${spreadOf(times)}`)
  return quantile(times, 0.5)
}
