import { SECOND_MS } from '../../src/core/clock.ts'
import { hookReceiver, rule } from '../organizations/neighbours.ts'
import { sized } from '../tools/bench-size.ts'
import { type Budget, budget } from '../tools/budget.ts'
import { quantile, spreadOf } from '../tools/percentiles.ts'
import { client, load, makeFolder, start, tagwarden } from '../tools/server.ts'

/**
 * Number of violations sent in each of the two measurements. Each violates a different rule, because a rule with an
 * open issue sends no further message.
 */
const PROBES = sized(60, 1)
/**
 * Minimum and maximum of the random pause between two violations. Random pauses make violations occur at any point
 * within a second.
 */
const [SHORTEST_PAUSE_MS, LONGEST_PAUSE_MS] = [200, 900]
const PATIENCE_MS = 30 * SECOND_MS
const CONNECTIONS = 32
const PEAK_SECONDS = sized(6, 0.3)

/** Measures the time from a violating event to its webhook, on an idle server and at half of the server's peak load. */
export async function benchNotificationDelay(): Promise<Budget[]> {
  const { folder, key, remove } = await makeFolder()
  const hooks = hookReceiver()
  const server = await start(tagwarden('serve', '--data', folder, '--listen', '127.0.0.1:0'), {
    TAGWARDEN_OUTBOUND_ALLOW: '127.0.0.1',
    TAGWARDEN_LOG_LEVEL: 'error',
    TAGWARDEN_RATE_KEY_PER_MINUTE: '1000000',
    TAGWARDEN_RATE_COLLECT_PER_SECOND: '1000000',
  })
  try {
    const call = client(server.url, key)
    const { token } = await call<{ token: string }>('POST', '/v1/domains', { name: 'shop.example' })
    await makeRules(call, hooks.url)
    const order = { token, connections: CONNECTIONS, client: 'sockets' as const }
    const tell = (first: number) => probes({ url: server.url, token, hooks, first })
    const idle = await tell(0)
    const { requests, seconds } = await load(server.url, { ...order, seconds: PEAK_SECONDS })
    const half = requests / seconds / 2
    const loadSeconds = (PROBES * (LONGEST_PAUSE_MS + SECOND_MS)) / SECOND_MS
    const loading = load(server.url, { ...order, seconds: loadSeconds, perSecond: half })
    await Bun.sleep(SECOND_MS)
    const busy = await tell(PROBES)
    await loading
    console.log(`  at rest ${spreadOf(idle)}; at ${half.toFixed(0)} requests/s ${spreadOf(busy)}`)
    return [
      budget('violation to webhook at rest, median, ms', quantile(idle, 0.5), 'at most', 150),
      budget('violation to webhook at half of the peak load, median, ms', quantile(busy, 0.5), 'at most', 500),
    ]
  } finally {
    await server.stop()
    hooks.stop()
    remove()
  }
}

async function makeRules(call: ReturnType<typeof client>, url: string): Promise<void> {
  const hook = { provider: 'webhook', label: 'Hook', config: { url } }
  const { id } = await call<{ id: string }>('POST', '/v1/integrations', hook)
  for (let n = 0; n < 2 * PROBES; n++) {
    const items = [{ parameter: 'probe', op: 'equals', values: [`probe-${n}`] }]
    await call('POST', '/v1/alerts', rule(`probe-${n}`, items, [{ type: 'webhook', target: id }]))
  }
}

interface ProbesInput {
  url: string
  token: string
  hooks: ReturnType<typeof hookReceiver>
  first: number
}

/**
 * Sends violations one after another. Returns the time until each violation was reported, in ms; infinite after a
 * timeout.
 */
async function probes({ url, token, hooks, first }: ProbesInput): Promise<number[]> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const took: number[] = []
  for (let n = first; n < first + PROBES; n++) {
    const name = `probe-${n}`
    const arrival = hooks.arrivalOf(name)
    const events = [{ vendor: 'Shop', event: 'view', params: { probe: name } }]
    const sentAt = performance.now()
    const body = JSON.stringify({ batchId: `telling-${name}`, events })
    const { status } = await fetch(`${url}/api/v1/events`, { method: 'POST', headers, body })
    if (status !== 202) throw new Error(`a violating event was rejected with status ${status}`)
    const toldAt = await Promise.race([arrival, Bun.sleep(PATIENCE_MS).then(() => Number.POSITIVE_INFINITY)])
    took.push(toldAt - sentAt)
    await Bun.sleep(SHORTEST_PAUSE_MS + Math.random() * (LONGEST_PAUSE_MS - SHORTEST_PAUSE_MS))
  }
  return took
}
