import type { AlertInput } from '../../src/alerts/alert.ts'
import { BATCH_BODY, BATCH_ID, type Load } from '../tools/batch.ts'
import { sized } from '../tools/bench-size.ts'
import { type Budget, budget } from '../tools/budget.ts'
import { client, load, type Measured, makeFolder, start, tagwarden } from '../tools/server.ts'
import { differentRule } from './different-rules.ts'

const CONNECTIONS = 32
const SECONDS = sized(Number(process.env.BENCH_SECONDS ?? 8), 0.3)
const WARM_UP_SECONDS = sized(2, 0.1)
const ROUNDS = sized(2, 1)
const [SOME, MANY] = sized([1000, 10_000], [10, 20]) as [number, number]
const SIZES = [0, SOME, MANY]
const AT_ONCE = sized(500, 10)
const HEALTH_EVERY_MS = 20
const CHANGES = sized(15, 2)

const NO_LIMITS = { TAGWARDEN_RATE_COLLECT_PER_SECOND: '10000000', TAGWARDEN_RATE_KEY_PER_MINUTE: '1000000' }

interface RuleServer extends Measured {
  rules: number
  /** Sends load to the collector for this number of seconds. */
  run(seconds: number): Promise<Load>
  /** Returns the number of issues. */
  issues(): Promise<number>
  /** Returns the longest response time of `/healthz`, in ms, with requests sent continuously during `work`. */
  longestPause(work: () => Promise<unknown>): Promise<number>
  /** Returns the median additional time to process a batch after one rule has changed, in ms. */
  change(): Promise<number>
  remove(): void
}

const alertOf = (n: number, domainId: string): AlertInput => ({
  name: `Rule ${n}`,
  alertType: 'data_validation',
  domainId,
  period: '1h',
  channels: [{ type: 'email', target: 'ops@example.com' }],
  ...differentRule(n),
})

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

async function startRuleServer(rules: number): Promise<RuleServer> {
  const { folder, key, remove } = await makeFolder()
  const server = await start(tagwarden('serve', '--data', folder, '--listen', '127.0.0.1:0'), NO_LIMITS)
  const call = client(server.url, key)
  const { id, token } = await call<{ id: string; token: string }>('POST', '/v1/domains', { name: 'bench.example' })
  for (let first = 0; first < rules; first += AT_ONCE) {
    const alerts = Array.from({ length: AT_ONCE }, (_, n) => alertOf(first + n, id))
    const { failed } = await call<{ failed: number }>('POST', '/v1/alerts/bulk', { alerts })
    if (failed > 0) throw new Error(`${failed} alerts were rejected`)
  }
  const send = async () => {
    const startedAt = performance.now()
    const body = BATCH_BODY.replace(BATCH_ID, crypto.randomUUID())
    await (await fetch(`${server.url}/api/v1/events?token=${token}`, { method: 'POST', body })).text()
    return performance.now() - startedAt
  }
  return {
    ...server,
    rules,
    run: (seconds) => load(server.url, { token, connections: CONNECTIONS, seconds, client: 'ordinary' }),
    issues: async () => (await call<{ issues: unknown[] }>('GET', '/v1/issues')).issues.length,
    longestPause: (work) => longestPause(server.url, work),
    async change() {
      const alerts = (await call<{ alerts: { id: string }[] }>('GET', '/v1/alerts?limit=1')).alerts
      const path = `/v1/alerts/${alerts[0]?.id}/enabled`
      const [usual, changed] = [[], []] as [number[], number[]]
      for (let n = 0; n < CHANGES; n++) {
        await send()
        usual.push(await send())
        await call('PUT', path, { enabled: n % 2 === 1 })
        changed.push(await send())
      }
      return median(changed) - median(usual)
    },
    remove,
  }
}

async function longestPause(url: string, work: () => Promise<unknown>): Promise<number> {
  let isOver = false
  let longest = 0
  const asking = (async () => {
    while (!isOver) {
      const startedAt = performance.now()
      await (await fetch(`${url}/healthz`)).text()
      longest = Math.max(longest, performance.now() - startedAt)
      await Bun.sleep(HEALTH_EVERY_MS)
    }
  })()
  await work()
  isOver = true
  await asking
  return longest
}

interface Rates {
  /** Requests per second, averaged over the rounds. */
  rate: number
  cpuUs: number
  failures: number
  /** Latencies of the requests in the last round. */
  latency: string
  /** Longest time without a response from the server under load, in ms. */
  pauseMs: number
}

async function measure(stands: readonly RuleServer[]): Promise<Map<number, Rates>> {
  const all = new Map(stands.map(({ rules }) => [rules, { rate: 0, cpuUs: 0, failures: 0, latency: '', pauseMs: 0 }]))
  for (const one of stands) await one.run(WARM_UP_SECONDS)
  for (let round = 0; round < ROUNDS; round++) {
    for (const one of stands) {
      const rates = all.get(one.rules) as Rates
      const cpu = one.cpuMs()
      const pauseMs = await one.longestPause(async () => {
        const { requests, seconds, failures, p50Ms, p90Ms, p99Ms } = await one.run(SECONDS)
        rates.rate += requests / seconds / ROUNDS
        rates.cpuUs += ((one.cpuMs() - cpu) * 1000) / requests / ROUNDS
        rates.failures += failures
        rates.latency = `p50 ${p50Ms} ms, p90 ${p90Ms} ms, p99 ${p99Ms} ms`
      })
      rates.pauseMs = Math.max(rates.pauseMs, pauseMs)
    }
  }
  return all
}

/**
 * Measures the cost of evaluating many different rules in the collector. The load alternates between servers with 0,
 * 1,000 and 10,000 rules.
 */
export async function benchJudge(): Promise<Budget[]> {
  const stands: RuleServer[] = []
  try {
    for (const rules of SIZES) stands.push(await startRuleServer(rules))
    const all = await measure(stands)
    for (const [rules, { rate, cpuUs, latency, pauseMs }] of all) {
      console.log(
        `  ${rules} rules: ${Math.round(rate)} requests/s (${latency}), ${cpuUs.toFixed(1)} µs of CPU per request, ` +
          `slowest /healthz response ${pauseMs.toFixed(0)} ms`,
      )
    }
    const plain = all.get(0)?.rate ?? 0
    const [, thousand, most] = stands
    const sum = (of: (rates: Rates) => number) => [...all.values()].reduce((total, rates) => total + of(rates), 0)
    return [
      budget(
        'ingest rate with 1,000 different rules in scope / without rules',
        (all.get(SOME)?.rate ?? 0) / plain,
        'at least',
        0.5,
      ),
      budget(
        'ingest rate with 10,000 different rules in scope / without rules',
        (all.get(MANY)?.rate ?? 0) / plain,
        'at least',
        0.1,
      ),
      budget('longest pause with 10,000 rules, ms', all.get(MANY)?.pauseMs ?? 0, 'at most', 100),
      budget('adding one rule to 10,000, ms', (await most?.change()) ?? 0, 'at most', 5),
      budget(
        'rejected or failed requests',
        sum(({ failures }) => failures),
        'at most',
        0,
      ),
      budget(
        'issues from rules that no event violates',
        ((await thousand?.issues()) ?? 0) + ((await most?.issues()) ?? 0),
        'is',
        0,
      ),
    ]
  } finally {
    for (const one of stands) {
      await one.stop()
      one.remove()
    }
  }
}
