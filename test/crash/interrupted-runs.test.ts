import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Delivery } from '../../src/integrations/delivery/delivery.ts'
import { receiver } from '../../src/transport/receiver.fixture.ts'
import { installedChromium } from '../browser/installed-chromium.ts'
import { descendantsOf, isAlive } from '../proc-fs.ts'
import { ask, initialize, startServer, temporaryFolder, until, WEBHOOK_SECRET } from '../run-program.ts'

/*
 * Stops the whole program while a flow test and an audit are running and another of each is queued, then restarts it.
 */

/** Timeout for steps that use a browser, which are slow on a busy machine. */
const BROWSER_MS = 90_000

const GA4 = 'Google Analytics 4'
const VIEW = `<script>navigator.sendBeacon('https://www.google-analytics.com/g/collect?v=2&tid=G-1&en=page_view')</script>`
const LINKS = ['/one', '/two', '/held/page'].map((path) => `<a href="${path}">${path}</a>`).join(' ')

/** Requested paths. Requests for paths below `/held` get no response. */
const asked: string[] = []
let shop: ReturnType<typeof Bun.serve>
let env: Record<string, string>
beforeAll(async () => {
  env = {
    TAGWARDEN_CHROMIUM: await installedChromium(),
    TAGWARDEN_OUTBOUND_ALLOW: '127.0.0.1',
    TAGWARDEN_FLOW_CONCURRENCY: '2',
    TAGWARDEN_RATE_KEY_PER_MINUTE: '1000000',
  }
  shop = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    fetch(request) {
      const { pathname } = new URL(request.url)
      asked.push(pathname)
      if (pathname.startsWith('/held')) return new Promise<Response>(() => {})
      if (pathname === '/robots.txt') return new Response('', { status: 404 })
      const body = `<!doctype html><title>Shop</title>${VIEW}${LINKS}`
      return new Response(body, { headers: { 'content-type': 'text/html' } })
    },
  })
})
afterAll(() => shop?.stop(true))

const open = (path: string) => ({ type: 'navigate', url: `http://127.0.0.1:${shop.port}${path}` })
const flow = (name: string, paths: string[], more: object = {}) => ({
  name,
  recording: { title: name, timeout: 60_000, steps: paths.map(open) },
  retries: 0,
  ...more,
})
const crawl = (name: string, path: string, maxDepth: number) => ({
  name,
  startUrls: [open(path).url],
  maxDepth,
  delayMs: 0,
  settleMs: 0,
})

test.each<['SIGKILL' | 'SIGTERM', string]>([
  ['SIGKILL', 'the server stopped during the run'],
  ['SIGTERM', 'it was stopped because the server shut down'],
])(
  'after %s during a flow test and a crawl, running jobs fail, queued jobs are executed, and none runs twice',
  async (signal, why) => {
    using folder = temporaryFolder()
    await using hooks = receiver()
    const data = join(folder.path, 'data')
    const key = await initialize(data)
    await using servers = new AsyncDisposableStack()
    const first = servers.use(await startServer(data, { env }))
    const to = (path: string) => `${first.url}${path}`

    const webhook = { provider: 'webhook', label: 'Hook', config: { url: hooks.url, secret: WEBHOOK_SECRET } }
    const { id: target } = await ask('POST', to('/v1/integrations'), key, webhook)
    const begin = async (input: object) => {
      const { id } = await ask('POST', to('/v1/flows/tests'), key, input)
      return (await ask('POST', to(`/v1/flows/tests/${id}/run`), key, {})).id as string
    }
    asked.length = 0
    const walks = await begin(flow('Walks', ['/', '/held/walk']))
    await until('the second step of a run', () => asked.includes('/held/walk'), BROWSER_MS)
    const { id: crawls } = await ask('POST', to('/v1/audits'), key, crawl('Crawls', '/', 1))
    const crawling = async () => {
      const { pages } = await ask('GET', to(`/v1/audits/${crawls}`), key)
      return pages.length === 3 && asked.includes('/held/page') && pages
    }
    const seen = await until('the last page of a crawl', crawling, BROWSER_MS)
    const expectations = [{ vendor: GA4, event: 'purchase', withinMs: 0 }]
    const channels = [{ type: 'webhook', target }]
    const waits = await begin(flow('Waits', ['/one'], { expectations, channels }))
    const { id: waitsToo } = await ask('POST', to('/v1/audits'), key, crawl('Waits', '/two', 0))
    const browsers = descendantsOf(first.pid)
    expect(browsers.length).toBeGreaterThan(3)
    await first.stop(signal)
    await until('all browsers to exit', () => !browsers.some(isAlive))

    const server = servers.use(await startServer(data, { env }))
    const get = (path: string) => ask('GET', `${server.url}${path}`, key)
    const ended = (path: string) => {
      const look = async () => {
        const found = await get(path)
        return !['queued', 'running'].includes(found.status) && found
      }
      return until(`the end of ${path}`, look, BROWSER_MS)
    }
    expect(await get(`/v1/flows/runs/${walks}`)).toMatchObject({
      status: 'failed',
      error: 'the server stopped during the run',
      attempts: 1,
      finishedAt: expect.any(Number),
    })
    const cutOff = await get(`/v1/audits/${crawls}`)
    expect(cutOff).toMatchObject({ status: 'failed', error: why, summary: { pagesTotal: 3 } })
    expect(cutOff.pages).toEqual(seen)
    expect(await ended(`/v1/flows/runs/${waits}`)).toMatchObject({
      status: 'failed',
      error: null,
      attempts: 1,
      findings: [{ kind: 'missing', event: 'purchase' }],
    })
    expect(await ended(`/v1/audits/${waitsToo}`)).toMatchObject({
      status: 'finished',
      error: null,
      pages: [{ url: open('/two').url, tags: [{ vendor: GA4, event: 'page_view', count: 1 }] }],
    })

    expect((await get('/v1/flows/runs')).runs.map(({ id }: { id: string }) => id).sort()).toEqual([walks, waits].sort())
    expect((await get('/v1/audits')).audits.map(({ id }: { id: string }) => id).sort()).toEqual(
      [crawls, waitsToo].sort(),
    )
    expect((await get('/v1/issues')).issues).toMatchObject([{ alertType: 'flow_test', occurrences: 1, status: 'open' }])
    await until('the webhook message', async () => {
      const { deliveries }: { deliveries: Delivery[] } = await get('/v1/notifications/deliveries')
      return deliveries.length === 1 && deliveries[0]?.status === 'delivered'
    })
    expect(hooks.requests.map(({ body }) => JSON.parse(body).type)).toEqual(['issue.opened'])
    await server.stop()
    expect(server.code()).toBe(0)
    expect(existsSync(join(data, 'browsers')) ? readdirSync(join(data, 'browsers')) : []).toEqual([])
  },
)
