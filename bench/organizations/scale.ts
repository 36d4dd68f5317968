import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { MINUTE_MS, SECOND_MS } from '../../src/core/clock.ts'
import { sized } from '../tools/bench-size.ts'
import { type Budget, budget } from '../tools/budget.ts'
import { client, type Measured, start, tagwarden } from '../tools/server.ts'
import { makeScaleFolder, type ScaleFolder, type Size } from './scale-folder.ts'
import type { ScaleLoad } from './scale-load.ts'

/** The measured sizes. Only the last one has limits. */
const SIZES: Size[] = sized(
  [
    { domains: 200, alerts: 1000 },
    { domains: 200, alerts: 10_000 },
    { domains: 2000, alerts: 1000 },
    { domains: 2000, alerts: 10_000 },
  ],
  [{ domains: 4, alerts: 20 }],
)
/** Number of minutes that are measured, not counting the minute in which the server started. */
const MINUTES = 1
/** Length of an evaluation window. */
const WINDOW_MS = sized(MINUTE_MS, SECOND_MS / 10)
const BATCHES_A_SECOND = sized(100, 10)
const LONGEST_MS = sized(3 * MINUTE_MS, 0)
/** Delay between the end of a minute and stopping the server, so that it stops in the middle of the evaluation. */
const STOP_AFTER_MS = sized(1200, 0)
/**
 * The lists whose response time is measured, both before and after the series have been learned. Learning takes a while
 * after a start.
 */
const LISTS = { all: '', 'of one domain': 'domain', 'with series': 'series' } as const

interface Figures {
  /** Maximum time from the end of a minute to the evaluation of its last alert, in ms. */
  lateMs: number
  /** Maximum response time of these lists, in ms. */
  listMs: number
  stopMs: number
  load: ScaleLoad
  peakMb: number
}

/** Measures how the number of domains and alerts affects the time to evaluate alerts, return lists and stop. */
export async function benchScale(): Promise<Budget[]> {
  const lines = [
    '| domains | one-minute alerts | evaluation delay, ms | lists, ms | longest pause, ms | stop, ms | memory, MB |',
  ]
  lines.push('|---|---|---|---|---|---|---|')
  let last: Figures | null = null
  for (const size of SIZES) {
    const filled = await makeScaleFolder(size)
    try {
      last = await measure(filled)
    } finally {
      filled.remove()
    }
    const cells = [size.domains, size.alerts, last.lateMs, last.listMs, last.load.pauseMs, last.stopMs, last.peakMb]
    lines.push(`| ${cells.map((cell) => Math.round(cell).toLocaleString('en-US')).join(' | ')} |`)
    console.log(
      `  ${lines.at(-1)} ${last.load.taken} batches accepted, ${last.load.failed} rejected, p99 ${last.load.p99Ms.toFixed(0)} ms`,
    )
  }
  console.log(`\n${lines.join('\n')}`)
  if (!last) return []
  return [
    budget('2,000 domains, 10,000 one-minute alerts: evaluation delay, ms', last.lateMs, 'at most', 5000),
    budget('slowest list of signals, ms', last.listMs, 'at most', 1000),
    budget('longest pause of the event loop, ms', last.load.pauseMs, 'at most', 100),
    budget('stop under load, ms', last.stopMs, 'at most', 3000),
    budget('rejected batches', last.load.failed, 'is', 0),
  ]
}

async function measure({ folder, orgs }: ScaleFolder): Promise<Figures> {
  const tokens = join(folder, 'tokens')
  writeFileSync(tokens, orgs.flatMap(({ domains }) => domains.map(({ token }) => token)).join('\n'))
  const env = { TAGWARDEN_RATE_COLLECT_PER_SECOND: '100000' }
  const server = await start(tagwarden('serve', '--data', folder, '--listen', '127.0.0.1:0'), env)
  const stopLoad = startLoad(server.url, tokens)
  const db = new Database(join(folder, 'tagwarden.db'), { readonly: true })
  try {
    const lists: number[] = []
    let isOver = false
    const listing = (async () => {
      while (!isOver) {
        for (const ms of await listTimes(server, orgs)) lists.push(ms)
        await Bun.sleep(SECOND_MS)
      }
    })()
    const late: number[] = []
    // Alerts that count events start with the first complete minute. The first result is discarded, because it does not
    // include all of these alerts.
    await lateness(db, sized(MINUTE_MS, 0))
    for (let minute = 0; minute < MINUTES; minute++) late.push(await lateness(db))
    isOver = true
    await listing
    const boundary = Math.ceil(Date.now() / WINDOW_MS) * WINDOW_MS
    await Bun.sleep(boundary - Date.now() + STOP_AFTER_MS)
    const peakMb = server.peakMb()
    const load = await stopLoad()
    const stopAt = performance.now()
    await server.stop()
    const stopMs = performance.now() - stopAt
    console.log(`  delays ${late.map(Math.round)}, lists ${lists.map(Math.round)}`)
    return { lateMs: Math.max(...late), listMs: Math.max(...lists), stopMs, load, peakMb }
  } finally {
    db.close()
    await stopLoad()
    await server.stop()
  }
}

function startLoad(url: string, tokens: string): () => Promise<ScaleLoad> {
  const script = join(import.meta.dir, 'scale-load.ts')
  const child = Bun.spawn([process.execPath, script, url, tokens, String(BATCHES_A_SECOND)], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  let answer: Promise<ScaleLoad> | null = null
  return () => {
    answer ??= (async () => {
      child.stdin.end()
      return JSON.parse(await new Response(child.stdout).text()) as ScaleLoad
    })()
    return answer
  }
}

/** Returns the time from the end of the current minute until all one-minute alerts have been evaluated for it. */
async function lateness(db: Database.Database, longestMs = LONGEST_MS): Promise<number> {
  const boundary = Math.ceil(Date.now() / WINDOW_MS) * WINDOW_MS
  const behind = db
    .prepare<[number], number>(
      `SELECT 1 FROM alert WHERE evaluatedThrough < ? AND input LIKE '%"period":"1m"%' LIMIT 1`,
    )
    .pluck()
  await Bun.sleep(boundary - Date.now())
  while (behind.get(boundary) !== undefined && Date.now() < boundary + longestMs) await Bun.sleep(50)
  return Date.now() - boundary
}

async function listTimes({ url }: Measured, orgs: ScaleFolder['orgs']): Promise<number[]> {
  const times: number[] = []
  const [org] = orgs
  if (!org) return times
  const call = client(url, org.key)
  for (const kind of Object.values(LISTS)) {
    const query = kind === 'domain' ? `?domainId=${org.domains[0]?.id}` : kind === 'series' ? '?series=true' : ''
    const at = performance.now()
    await call('GET', `/v1/auto/signals${query}`)
    times.push(performance.now() - at)
  }
  return times
}
