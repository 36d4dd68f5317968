import { sized } from '../tools/bench-size.ts'
import { type Budget, budget } from '../tools/budget.ts'
import { spreadOf } from '../tools/percentiles.ts'
import { client, makeFolder, start, tagwarden } from '../tools/server.ts'

const BYTES = sized(8 * 2 ** 20, 2 ** 17)
const HAR_BYTES = sized(30 * 2 ** 20, 2 ** 17)
const VALUES = sized(100, 2)
const ROUNDS = sized(3, 1)
const ASK_EVERY_MS = 20
const MOST_MS = 50

const repeated = (item: string, bytes: number) =>
  Array(Math.floor(bytes / (item.length + 1)))
    .fill(item)
    .join()

/** The largest accepted request body for each path. */
const BODIES: [name: string, path: string, body: () => string][] = [
  ['lists', '/v1/alerts', () => `[${repeated('[]', BYTES - 2)}]`],
  ['numbers', '/v1/domains', () => `[${repeated('1', BYTES - 2)}]`],
  ['a string of escape sequences', '/v1/domains', () => `"${'\\"'.repeat(BYTES / 2 - 1)}"`],
  ['the largest rule', '/v1/alerts', () => JSON.stringify(largestRule())],
  ['a HAR', '/v1/flows/drafts', () => `{"har":{"log":{"entries":[${repeated('{"a":1}', HAR_BYTES - 100)}]}}}`],
]

function largestRule() {
  const values = (n: number) => Array.from({ length: VALUES }, (_, m) => `${n} ${m} `.padEnd(1000, 'x'))
  const items = Array.from({ length: 50 }, (_, n) => ({ parameter: `p${n}`, op: 'equals', values: values(n) }))
  const channels = [{ type: 'email', target: 'a@example.com' }]
  return { name: 'Large', alertType: 'data_validation', period: '1h', channels, conditions: { logic: 'any', items } }
}

/** Measures the response time of `/healthz` while another client sends the largest bodies. */
export async function benchLargeBodies(): Promise<Budget[]> {
  const { folder, key, remove } = await makeFolder()
  const server = await start(tagwarden('serve', '--data', folder, '--listen', '127.0.0.1:0'), {
    TAGWARDEN_LOG_LEVEL: 'error',
  })
  try {
    await client(server.url, key)('GET', '/v1/whoami')
    const budgets: Budget[] = []
    for (const [name, path, make] of BODIES) {
      const body = new TextEncoder().encode(make())
      const times: number[] = []
      for (let round = 0; round < ROUNDS; round++) times.push(...(await healthDuring(server.url, { path, key, body })))
      console.log(`  ${name}, ${Math.round(body.length / 1024)} KiB: /healthz ${spreadOf(times)}`)
      budgets.push(budget(`slowest /healthz response during ${name}, ms`, Math.max(...times), 'at most', MOST_MS))
    }
    return budgets
  } finally {
    await server.stop()
    remove()
  }
}

/** Returns the response time of each `/healthz` request sent while a body is received and processed, in ms. */
async function healthDuring(
  url: string,
  { path, key, body }: { path: string; key: string; body: Uint8Array<ArrayBuffer> },
): Promise<number[]> {
  let isSending = true
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const sent = fetch(url + path, { method: 'POST', headers, body }).then(async (answer) => {
    await answer.bytes()
    isSending = false
  })
  const times: number[] = []
  do {
    const startedAt = performance.now()
    await (await fetch(`${url}/healthz`)).text()
    times.push(performance.now() - startedAt)
    await Bun.sleep(ASK_EVERY_MS)
  } while (isSending)
  await sent
  return times
}
