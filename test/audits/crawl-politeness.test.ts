import { afterAll, afterEach, expect, test } from 'bun:test'
import { crawlIn } from '../../src/audits/crawl/crawl.ts'
import type { CrawlMessage, CrawlPlan, SeenPage } from '../../src/audits/crawl-plan.ts'
import type { Browsing } from '../../src/browser/browsing.ts'
import { browse, browsingOptions } from '../browser/browse.ts'

type Answer = (origin: string, nth: number) => Response
const html = (body = '') =>
  new Response(`<!doctype html><title>Shop</title>${body}`, { headers: { 'content-type': 'text/html' } })
const busy = (status: number, retryAfter: string) =>
  new Response('', { status, headers: { 'retry-after': retryAfter } })
const links = (...paths: string[]) => html(paths.map((path) => `<a href="${path}">x</a>`).join(''))
const locs = (kind: 'sitemapindex' | 'urlset', ...urls: string[]) =>
  new Response(`<${kind}>${urls.map((url) => `<loc>${url}</loc>`).join('')}</${kind}>`)

/** Responses of the site by path, set by each test. Other paths return 404. */
let site: Record<string, Answer> = {}
/** Request times by path. */
let asked: Record<string, number[]> = {}
const shop = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch(request) {
    const { pathname, origin } = new URL(request.url)
    const times = [...(asked[pathname] ?? []), performance.now()]
    asked[pathname] = times
    return site[pathname]?.(origin, times.length) ?? new Response('', { status: 404 })
  },
})
/** Requests that reached a private address on the same port. There must be none. */
const reached: string[] = []
const inner = Bun.serve({
  hostname: '127.0.0.2',
  port: shop.port ?? 0,
  fetch(request) {
    reached.push(request.url)
    return html('private')
  },
})

/** IP addresses to which `turning.test` resolves, one per lookup. The last address is repeated. */
let turns: string[] = []
let browsing: Promise<Browsing> | null = null
const shared = () => {
  browsing ??= browse({}, { resolve: async () => [(turns.length > 1 ? turns.shift() : turns[0]) ?? '127.0.0.1'] })
  return browsing
}
afterEach(() => {
  expect(reached).toEqual([])
  site = {}
  asked = {}
  turns = []
})
afterAll(async () => {
  await (await browsing)?.[Symbol.asyncDispose]()
  await shop.stop(true)
  await inner.stop(true)
})

const at = (path: string, host = '127.0.0.1') => `http://${host}:${shop.port}${path}`

async function crawled(plan: Partial<CrawlPlan>) {
  const told: CrawlMessage[] = []
  await crawlIn(
    await shared(),
    {
      browsing: await browsingOptions('', { userAgentSuffix: 'Tagwarden/test' }),
      startUrls: [],
      sitemap: null,
      maxPages: 50,
      maxDepth: 1,
      include: [],
      exclude: [],
      respectRobots: true,
      delayMs: 0,
      settleMs: 0,
      expect: [],
      labels: {},
      consent: { mode: 'none', selectors: [] },
      ...plan,
    },
    (message) => void told.push(message),
    new AbortController().signal,
  )
  const pages = told.flatMap((message): SeenPage[] => (message.kind === 'page' ? [message.page] : []))
  const last = told.at(-1)
  return {
    pages: pages.map(({ url, status, error }) => [new URL(url).pathname, status, error]),
    events: pages.flatMap(({ events }) => events.map(({ event }) => event)),
    error: last?.kind === 'done' ? last.error : undefined,
  }
}

const gaps = (path: string) => (asked[path] ?? []).slice(1).map((time, n) => time - (asked[path]?.[n] ?? 0))

test('a busy page is requested again after the delay that its host specifies, and reported once', async () => {
  site = {
    '/': () => links('/a'),
    '/a': (_, nth) => (nth === 1 ? busy(429, '1') : nth === 2 ? busy(503, '1') : html()),
  }
  const { pages, error } = await crawled({ startUrls: [at('/')] })
  expect({ pages, error }).toEqual({
    pages: [
      ['/', 200, null],
      ['/a', 200, null],
    ],
    error: null,
  })
  expect(gaps('/a').length).toBe(2)
  for (const ms of gaps('/a')) expect(ms).toBeGreaterThan(950)
})

test('a page that remains busy is reported with its status, and other pages are visited', async () => {
  site = { '/': () => links('/a', '/b', '/c'), '/a': () => busy(503, '0'), '/b': () => html(), '/c': () => html() }
  const { pages, error } = await crawled({ startUrls: [at('/')] })
  expect(pages.sort()).toEqual([
    ['/', 200, null],
    ['/a', 503, null],
    ['/b', 200, null],
    ['/c', 200, null],
  ])
  expect([asked['/a']?.length, error]).toEqual([3, null])
})

test('a host that remains busy ends the crawl, and the pages visited so far are kept', async () => {
  const paths = Array.from({ length: 20 }, (_, n) => `/p/${n}`)
  site = { '/': () => links(...paths), ...Object.fromEntries(paths.map((path) => [path, () => busy(429, '0')])) }
  const { pages, error } = await crawled({ startUrls: [at('/')] })
  expect(pages[0]).toEqual(['/', 200, null])
  expect(error).toMatch(/^127\.0\.0\.1:\d+ responded with status 429 for 3 URLs in a row/)
  expect(Object.keys(asked).length).toBeLessThan(10)
})

test('a host that requires a delay of an hour is abandoned quickly', async () => {
  const paths = Array.from({ length: 20 }, (_, n) => `/p/${n}`)
  site = { '/': () => links(...paths), ...Object.fromEntries(paths.map((path) => [path, () => busy(503, '3600')])) }
  const { error } = await crawled({ startUrls: [at('/')] })
  expect(error).toMatch(/ responded with status 503 for 3 URLs in a row, and requests a delay of 3600 s$/)
  expect(Object.values(asked).every(({ length }) => length === 1)).toBe(true)
  expect(Object.keys(asked).length).toBeLessThan(10)
})

test('robots.txt and sitemaps are also retried', async () => {
  site = {
    '/robots.txt': (_, nth) => (nth === 1 ? busy(503, '0') : new Response('User-agent: *\nDisallow: /b')),
    '/map.xml': (origin, nth) => (nth === 1 ? busy(429, '0') : locs('urlset', `${origin}/a`, `${origin}/b`)),
    '/a': () => html(),
  }
  const { pages, error } = await crawled({ sitemap: at('/map.xml') })
  expect({ pages, error }).toEqual({ pages: [['/a', 200, null]], error: null })
})

const CANT = "robots.txt can't be read: host turning.test resolves to a loopback address"

test.each<[string, string[], Partial<CrawlPlan>, object]>([
  [
    'a sitemap',
    ['127.0.0.2'],
    { sitemap: at('/map.xml', 'turning.test') },
    { pages: [], error: expect.stringMatching(/map\.xml can't be read: host turning\.test resolves to a loopback/) },
  ],
  [
    'a sitemap listed in a sitemap index',
    ['127.0.0.1', '127.0.0.2'],
    { sitemap: at('/index.xml', 'turning.test') },
    { pages: [], error: expect.stringMatching(/index\.xml contains no page that can be visited/) },
  ],
  [
    'robots.txt',
    ['127.0.0.2'],
    { startUrls: [at('/', 'turning.test')] },
    { pages: [['/', null, expect.stringContaining(CANT)]], error: null },
  ],
  [
    'robots.txt after a sitemap',
    ['127.0.0.1', '127.0.0.2'],
    { sitemap: at('/map.xml', 'turning.test') },
    { pages: [], error: expect.stringContaining(`No page could be visited: ${CANT}`) },
  ],
  [
    'a page after robots.txt',
    ['127.0.0.1', '127.0.0.2'],
    { startUrls: [at('/', 'turning.test')] },
    { pages: [['/', null, expect.stringContaining('host turning.test resolves to a loopback address')]], error: null },
  ],
])('%s is not read when its host name resolves to a loopback address', async (_name, addresses, plan, outcome) => {
  turns = addresses
  site = {
    '/index.xml': (origin) => locs('sitemapindex', `${origin}/map.xml`),
    '/map.xml': (origin) => locs('urlset', `${origin}/a`),
    '/': () => html(),
    '/a': () => html(),
  }
  const { pages, error } = await crawled(plan)
  expect({ pages, error } as object).toEqual(outcome)
})

test("the crawler waits for a page's expected events until the time limit", async () => {
  const late = `<script>setTimeout(() => navigator.sendBeacon('https://www.google-analytics.com/g/collect?v=2&tid=G-1&en=late'), 1500)</script>`
  site = { '/late': () => html(late) }
  const expected = { vendor: 'Google Analytics 4', event: 'late' }
  const seen = async (expect: CrawlPlan['expect']) => (await crawled({ startUrls: [at('/late')], expect })).events
  expect(await seen([expected])).toEqual(['late'])
  expect(await seen([{ ...expected, withinMs: 0 }])).toEqual([])
  expect(await seen([{ ...expected, path: '^/other' }])).toEqual([])
  expect(await seen([{ ...expected, max: 0 }])).toEqual([])
})
