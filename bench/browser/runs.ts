import puppeteer, { type Browser } from 'puppeteer-core'
import { MINUTE_MS, SECOND_MS, systemClock } from '../../src/core/clock.ts'
import { openStores } from '../../src/data-folder/open-folder.ts'
import { createDomain, findDomain } from '../../src/domains/store.ts'
import { installedChromium } from '../../test/browser/installed-chromium.ts'
import { sized } from '../tools/bench-size.ts'
import { type Budget, budget } from '../tools/budget.ts'
import { client, load, makeFolder, start, tagwarden } from '../tools/server.ts'
import { openRunsSite, SITE_PAGES } from './runs-site.ts'

const ROUNDS = sized(5, 1)
const STEPS = sized(8, 2)
/**
 * A page is considered finished after this time without requests, both in the audit and in the puppeteer script that it
 * is compared with.
 */
const SETTLE_MS = 100
const LOAD_SECONDS = sized(6, 0.3)
const CONNECTIONS = 32
const PAUSE_MS = 50

type Call = ReturnType<typeof client>

/**
 * Measures flow tests and audits run by the executable, alternating with plain puppeteer in the same browser and on the
 * same site. Also measures the collector while two browsers are running.
 */
export async function benchRuns(): Promise<Budget[]> {
  const chromium = await installedChromium()
  const site = openRunsSite()
  const { folder, key, remove } = await makeFolder()
  const token = tokenIn(folder)
  const server = await start(tagwarden('serve', '--data', folder, '--listen', '127.0.0.1:0'), {
    TAGWARDEN_CHROMIUM: chromium,
    TAGWARDEN_OUTBOUND_ALLOW: '127.0.0.1',
    TAGWARDEN_FLOW_CONCURRENCY: '2',
    TAGWARDEN_LOG_LEVEL: 'error',
    TAGWARDEN_RATE_KEY_PER_MINUTE: '1000000',
    TAGWARDEN_RATE_COLLECT_PER_SECOND: '1000000',
  })
  try {
    const call = client(server.url, key)
    return [
      ...(await flowTests(call, chromium, site.origin)),
      ...(await audits(call, chromium, site.origin)),
      ...(await whileTwoRun(call, server.url, { token, origin: site.origin })),
    ]
  } finally {
    await server.stop()
    site.stop()
    remove()
  }
}

function tokenIn(folder: string): string {
  const { db } = openStores(folder)
  const orgId = db.prepare<[], string>('SELECT id FROM org').pluck().get() ?? ''
  const { token } = findDomain(
    db,
    { orgId, id: createDomain(db, systemClock, orgId, { name: 'shop' }) },
    systemClock.now(),
  )
  db.close()
  return token
}

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

async function flowTests(call: Call, chromium: string, origin: string): Promise<Budget[]> {
  const steps = [
    { type: 'navigate', url: `${origin}/page/0`, assertedEvents: [{ type: 'navigation' }] },
    ...Array.from({ length: STEPS - 1 }, () => ({
      type: 'click',
      selectors: [['#next']],
      offsetX: 2,
      offsetY: 2,
      assertedEvents: [{ type: 'navigation' }],
    })),
  ]
  const { id } = await call<{ id: string }>('POST', '/v1/flows/tests', {
    name: 'Bench',
    recording: { title: 'Bench', steps },
    retries: 0,
  })
  const [ours, bare]: [number[], number[]] = [[], []]
  for (let round = 0; round < ROUNDS; round++) {
    bare.push(await timed(() => withBrowser(chromium, (browser) => walkBare(browser, origin))))
    ours.push(await flowRun(call, id))
  }
  console.log(`  flow tests ${ours.map(Math.round).join(' ')} ms, bare ${bare.map(Math.round).join(' ')} ms`)
  return [
    budget(
      `flow test of ${STEPS} steps, excluding the wait for tags / bare Puppeteer`,
      median(ours) / median(bare),
      'at most',
      1.5,
    ),
  ]
}

/** Returns the duration of a test run, excluding the time that it waited for tags. */
async function flowRun(call: Call, testId: string): Promise<number> {
  const { id } = await call<{ id: string }>('POST', `/v1/flows/tests/${testId}/run`, {})
  const run = await finished<{ status: string; durationMs: number; pausedMs: number; error: string | null }>(
    call,
    `/v1/flows/runs/${id}`,
  )
  if (run.status !== 'passed') throw new Error(`a run failed: ${run.error}`)
  return run.durationMs - run.pausedMs
}

async function finished<T extends { status: string }>(call: Call, path: string): Promise<T> {
  for (;;) {
    const one = await call<T>('GET', path)
    if (one.status !== 'queued' && one.status !== 'running') return one
    await Bun.sleep(PAUSE_MS)
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

async function withBrowser(chromium: string, work: (browser: Browser) => Promise<void>): Promise<void> {
  const browser = await puppeteer.launch({ executablePath: chromium, headless: 'shell', args: BARE_ARGS, pipe: true })
  try {
    await work(browser)
  } finally {
    await browser.close()
  }
}

/** Flags for plain puppeteer, which also prevent requests to vendors. */
const BARE_ARGS = ['--no-sandbox', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1']

async function walkBare(browser: Browser, origin: string): Promise<void> {
  const page = await browser.newPage()
  await page.setViewport({ width: 1280, height: 800 })
  await page.goto(`${origin}/page/0`)
  await page.screenshot()
  for (let step = 1; step < STEPS; step++) {
    await Promise.all([page.waitForNavigation(), page.locator('#next').click()])
    await page.screenshot()
  }
}

const auditOf = (origin: string) => ({
  name: 'Bench',
  startUrls: [`${origin}/page/0`],
  maxPages: SITE_PAGES,
  maxDepth: 10,
  delayMs: 0,
  settleMs: SETTLE_MS,
  respectRobots: false,
})

async function audits(call: Call, chromium: string, origin: string): Promise<Budget[]> {
  const [ours, bare]: [number[], number[]] = [[], []]
  for (let round = 0; round < 3; round++) {
    bare.push(await timed(() => withBrowser(chromium, (browser) => loadBare(browser, origin))))
    const { id } = await call<{ id: string }>('POST', '/v1/audits', auditOf(origin))
    const audit = await finished<{ status: string; durationMs: number; summary: { pagesTotal: number } }>(
      call,
      `/v1/audits/${id}`,
    )
    if (audit.summary.pagesTotal !== SITE_PAGES)
      throw new Error(`unexpected number of audited pages: ${audit.summary.pagesTotal}`)
    ours.push(audit.durationMs)
  }
  console.log(`  audits ${ours.map(Math.round).join(' ')} ms, bare ${bare.map(Math.round).join(' ')} ms`)
  return [
    budget(`audit of ${SITE_PAGES} pages / loading them without an audit`, median(ours) / median(bare), 'at most', 1.3),
  ]
}

async function loadBare(browser: Browser, origin: string): Promise<void> {
  const page = await browser.newPage()
  for (let n = 0; n < SITE_PAGES; n++) {
    await page.goto(`${origin}/page/${n}`)
    await page.waitForNetworkIdle({ idleTime: SETTLE_MS })
  }
}

/**
 * Measures the ingest rate of the collector with two browsers running and, in alternation, with none. Also measures the
 * time to open an issue while the browsers are running.
 */
async function whileTwoRun(
  call: Call,
  url: string,
  { token, origin }: { token: string; origin: string },
): Promise<Budget[]> {
  const rate = async () => {
    const { requests, failures, seconds } = await load(url, {
      token,
      connections: CONNECTIONS,
      seconds: LOAD_SECONDS,
      client: 'sockets',
    })
    return (requests - failures) / seconds
  }
  const [alone, beside]: [number[], number[]] = [[], []]
  let openedMs = 0
  for (let round = 0; round < 3; round++) {
    alone.push(await rate())
    const stop = await keepTwoBusy(call, origin)
    beside.push(await rate())
    if (round === 0) openedMs = await issueOpens(call, url, token)
    await stop()
  }
  console.log(
    `  collector ${alone.map(Math.round).join(' ')} requests/s, with two browsers ${beside.map(Math.round).join(' ')}`,
  )
  return [
    budget('collector throughput with two browsers / alone', median(beside) / median(alone), 'at least', 0.5),
    budget('time until an issue opens, with two browsers, ms', openedMs, 'at most', 5 * SECOND_MS),
  ]
}

/**
 * Keeps two audits running at all times. Returns a function that starts no further audits and waits for the running
 * ones.
 */
async function keepTwoBusy(call: Call, origin: string): Promise<() => Promise<void>> {
  let isOver = false
  const busy = [0, 1].map(async (at) => {
    while (!isOver) {
      const { id } = await call<{ id: string }>('POST', '/v1/audits', { ...auditOf(origin), name: `Busy ${at}` })
      await finished(call, `/v1/audits/${id}`)
    }
  })
  await Bun.sleep(2 * SECOND_MS)
  return async () => {
    isOver = true
    await Promise.all(busy)
  }
}

async function issueOpens(call: Call, url: string, token: string): Promise<number> {
  await call('POST', '/v1/alerts', {
    name: 'Bench',
    alertType: 'data_validation',
    period: '1h',
    conditions: { logic: 'any', items: [{ parameter: 'broken', op: 'equals', values: ['yes'] }] },
    channels: [{ type: 'email', target: 'owners' }],
  })
  const sentAt = performance.now()
  const batch = { events: [{ vendor: 'Bench', event: 'x', params: { broken: 'yes' } }] }
  await fetch(`${url}/api/v1/events?token=${token}`, { method: 'POST', body: JSON.stringify(batch) })
  while (performance.now() - sentAt < MINUTE_MS) {
    const { issues } = await call<{ issues: unknown[] }>('GET', '/v1/issues')
    if (issues.length > 0) return performance.now() - sentAt
    await Bun.sleep(PAUSE_MS)
  }
  return MINUTE_MS
}
