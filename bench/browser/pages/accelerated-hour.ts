import type { Browser } from 'puppeteer-core'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../src/core/clock.ts'
import { type Budget, budget } from '../../tools/budget.ts'
import { openTab, settled, type Tab } from './open-tab.ts'
import { heapOf } from './page-memory.ts'

/** Factor by which the clocks of the page and the stream are accelerated. */
const SPEED = 30
/** Time after which the page has loaded all data that it loads only once or caches for a minute. */
const BEGINNING_MS = 30 * MINUTE_MS
const PULSE_MS = 10 * SECOND_MS
/** Interval between changes to issues, alerts or other objects, typical of a large company. */
const CHANGE_MS = 5 * SECOND_MS

/**
 * Leaves the Overview open on an accelerated clock. Compares its memory usage half an hour after opening with that an
 * hour later.
 */
export async function acceleratedHour(browser: Browser, { url, key }: { url: string; key: string }): Promise<Budget[]> {
  const stand = openQuickStream(url)
  const tab = await openTab(browser, { key })
  try {
    await hasten(tab)
    await tab.page.goto(`${stand.url}/`)
    await settled(tab)
    await Bun.sleep(BEGINNING_MS / SPEED)
    const before = await memoryOf(tab)
    const [askedBefore, toldBefore] = [tab.asked.length, stand.told()]
    await Bun.sleep(HOUR_MS / SPEED)
    const after = await memoryOf(tab)
    console.log(
      `  an hour: ${stand.told() - toldBefore} events, ${tab.asked.length - askedBefore} requests; ${say(before)} before, ${say(after)} after`,
    )
    return [
      budget('memory retained by the page after an hour / before', after.kept / before.kept, 'at most', 1.05),
      budget('DOM nodes after an hour / before', after.nodes / before.nodes, 'at most', 1.05),
    ]
  } finally {
    await tab.close()
    stand.stop()
  }
}

interface Memory {
  kept: number
  compiled: number
  nodes: number
  listeners: number
}

const say = ({ kept, compiled, nodes, listeners }: Memory) =>
  `${(kept / 1e6).toFixed(2)} MB and ${(compiled / 1e6).toFixed(2)} of compiled code, ${nodes} nodes, ${listeners} listeners`

async function memoryOf({ page }: Tab): Promise<Memory> {
  const cdp = await page.createCDPSession()
  const heap = await heapOf(cdp)
  const { nodes, jsEventListeners } = await cdp.send('Memory.getDOMCounters')
  await cdp.detach()
  return { ...heap, nodes, listeners: jsEventListeners }
}

/** Accelerates the page's clock and timers. */
async function hasten({ page }: Tab): Promise<void> {
  await page.evaluateOnNewDocument((speed) => {
    const { now } = Date
    const began = now()
    Date.now = () => began + (now() - began) * speed
    for (const name of ['setTimeout', 'setInterval'] as const) {
      const plain = window[name].bind(window) as (run: TimerHandler, ms?: number, ...rest: unknown[]) => number
      Object.assign(window, {
        [name]: (run: TimerHandler, ms = 0, ...rest: unknown[]) => plain(run, ms / speed, ...rest),
      })
    }
  }, SPEED)
}

/**
 * Starts a proxy for the server at `target`. Its stream is replaced with an accelerated one whose events refer to
 * existing objects.
 */
function openQuickStream(target: string) {
  let told = 0
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      if (pathname === '/v1/stream') return stream(await idsOf(target, request.headers), () => told++)
      const answer = await fetch(target + pathname + search, {
        method: request.method,
        headers: request.headers,
        body: request.body,
        decompress: false,
      })
      return new Response(answer.body, answer)
    },
  })
  return { url: server.url.origin, told: () => told, stop: () => void server.stop(true) }
}

type Ids = Record<string, string[]>

/** Returns the ids of several objects of each kind that the stream reports on. */
async function idsOf(target: string, headers: Headers): Promise<Ids> {
  const lists = { issue: 'issues', alert: 'alerts', domain: 'domains', delivery: 'deliveries', change: 'changes' }
  const authorization = headers.get('authorization') ?? ''
  const found = Object.entries(lists).map(async ([kind, list]) => {
    const response = await fetch(`${target}/v1/${list}?limit=20`, { headers: { authorization } })
    const { [list]: things = [] } = (await response.json()) as Record<string, { id: string }[]>
    return [kind, things.map(({ id }) => id)]
  })
  return Object.fromEntries(await Promise.all(found))
}

function stream(ids: Ids, tell: () => void): Response {
  const kinds = Object.entries(ids).filter(([, those]) => those.length > 0)
  const timers: ReturnType<typeof setInterval>[] = []
  let last = 0
  const body = new ReadableStream({
    start(to) {
      const send = (event: string, data: object) => {
        to.enqueue(`id: ${++last}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
        tell()
      }
      const pulse = () => {
        const now = Date.now()
        send('pulse', { at: now, lastStoredAt: now, eventsPerMinute: 60 + (last % 7), gapSince: null })
      }
      const change = () => {
        const [kind, those] = kinds[last % kinds.length] ?? ['issue', []]
        const id = those[last % those.length]
        const issue = { status: 'open', severity: 'high', alertId: null, domainId: null }
        const delivery = { issueId: ids.issue?.[0] ?? null, status: 'sent' }
        const more = kind === 'issue' ? issue : kind === 'delivery' ? delivery : {}
        send(kind, { id, updatedAt: Date.now(), ...more })
      }
      pulse()
      timers.push(setInterval(pulse, PULSE_MS / SPEED), setInterval(change, CHANGE_MS / SPEED))
    },
    cancel() {
      for (const timer of timers) clearInterval(timer)
    },
  })
  return new Response(body, { headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store' } })
}
