import { SIGNALS } from './scale-folder.ts'

/**
 * Sends traffic to many domains and measures the response time of `/healthz`, in a separate process: `bun
 * bench/organizations/scale-load.ts URL FILE BATCHES_A_SECOND`. FILE contains the property tokens, one per line. Each
 * batch has five events. Prints a `ScaleLoad` as JSON when its standard input is closed.
 */
export interface ScaleLoad {
  /** Number of accepted and rejected batches. */
  taken: number
  failed: number
  p99Ms: number
  /** Maximum and 99th percentile of the response time of `/healthz`, in ms. */
  pauseMs: number
  healthP99Ms: number
}

const ASK_EVERY_MS = 10

const event = (n: number) => ({
  vendor: SIGNALS[n % 2]?.vendor,
  event: SIGNALS[n % 2]?.event,
  account: 'G-1',
  status: 'ok',
  params: { value: `${n}.50`, currency: 'EUR', page_title: 'Checkout' },
})
const page = { url: 'https://shop.example/checkout', title: 'Checkout' }

/** Returns the HTTP status; 0 if there was no response. */
async function statusOf(url: string, order: RequestInit = {}): Promise<number> {
  try {
    const response = await fetch(url, order)
    await response.text()
    return response.status
  } catch {
    return 0
  }
}

async function main(url: string, file: string, perSecond: number): Promise<void> {
  const tokens = (await Bun.file(file).text()).trim().split('\n')
  const [batches, responses]: [number[], number[]] = [[], []]
  let failed = 0
  let isOver = false
  const send = async (n: number) => {
    const at = performance.now()
    const events = Array.from({ length: 5 }, (_, place) => event(n + place))
    const body = JSON.stringify({ batchId: `scale-${process.pid}-${n}`, sessionId: `s${n % 500}`, page, events })
    const headers = { authorization: `Bearer ${tokens[n % tokens.length]}`, 'content-type': 'application/json' }
    const status = await statusOf(`${url}/api/v1/events`, { method: 'POST', headers, body })
    if (isOver) return
    if (status !== 202) failed++
    else batches.push(performance.now() - at)
  }
  const ask = async () => {
    while (!isOver) {
      const at = performance.now()
      if ((await statusOf(`${url}/healthz`)) > 0) responses.push(performance.now() - at)
      await Bun.sleep(ASK_EVERY_MS)
    }
  }
  const startedAt = performance.now()
  let sent = 0
  const timer = setInterval(() => {
    const due = ((performance.now() - startedAt) / 1000) * perSecond
    while (sent < due) void send(sent++)
  }, 5)
  const asking = ask()
  for await (const _ of Bun.stdin.stream());
  isOver = true
  clearInterval(timer)
  await Promise.race([asking, Bun.sleep(1000)])
  const at = (values: number[], share: number) => values.sort((a, b) => a - b)[Math.floor(values.length * share)] ?? 0
  const load: ScaleLoad = {
    taken: batches.length,
    failed,
    p99Ms: at(batches, 0.99),
    pauseMs: responses.sort((a, b) => a - b).at(-1) ?? 0,
    healthP99Ms: at(responses, 0.99),
  }
  console.log(JSON.stringify(load))
  process.exit(0)
}

const [url = '', file = '', perSecond = '0'] = process.argv.slice(2)
if (import.meta.main) await main(url, file, Number(perSecond))
