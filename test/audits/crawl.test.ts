import { afterAll, beforeAll, expect, test } from 'bun:test'
import { crawl } from '../../src/audits/crawl/crawl.ts'
import type { CrawlMessage, CrawlPlan, SeenPage } from '../../src/audits/crawl-plan.ts'
import { browsingOptions } from '../browser/browsing.ts'
import { temporaryFolder } from '../process.ts'

const PRODUCTS = 60
const ga4 = (page: string) =>
  `<script>navigator.sendBeacon('https://www.google-analytics.com/g/collect?v=2&tid=G-1&en=page_view&ep.page=${page}')</script>`
const links = (paths: readonly string[]) => paths.map((path) => `<a href="${path}">${path}</a>`).join(' ')
const html = (title: string, body: string) =>
  new Response(`<!doctype html><title>${title}</title>${body}`, { headers: { 'content-type': 'text/html' } })

/** How often each path was asked for, with its query. */
let asked: Map<string, number>

/** A shop of 60 products with traps: a calendar, filters, sessions in addresses, circles of redirects, and files. */
const site = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch(request) {
    const { pathname, search, origin, searchParams } = new URL(request.url)
    asked.set(pathname + search, (asked.get(pathname + search) ?? 0) + 1)
    const [, first = '', second = ''] = pathname.split('/')
    if (pathname === '/robots.txt') return new Response('User-agent: *\nDisallow: /private')
    if (pathname === '/sitemap.xml')
      return new Response(
        `<urlset><url><loc>${origin}/product/1</loc></url><url><loc>${origin}/product/2</loc></url></urlset>`,
      )
    if (pathname === '/') {
      const products = Array.from({ length: PRODUCTS }, (_, n) => `/product/${n + 1}?PHPSESSID=${crypto.randomUUID()}`)
      const traps = [
        '/calendar/2031/1',
        '/list',
        '/circle/a',
        '/file.pdf',
        '/private',
        '/gone',
        '/old',
        '/big',
        '/loop',
      ]
      return html('Home', ga4('home') + links([...products, ...traps, 'https://other.example/', '/?utm_source=x#top']))
    }
    if (first === 'product')
      return html(
        `Product ${second}`,
        ga4(second) + links(['/', `/product/${Number(second) + 1 > PRODUCTS ? 1 : Number(second) + 1}`]),
      )
    if (first === 'calendar') {
      const [, , year, month] = pathname.split('/').map(Number)
      return html('Calendar', links([`/calendar/${year}/${(month ?? 0) + 1}`, `/calendar/${(year ?? 0) + 1}/1`]))
    }
    if (first === 'list') {
      const more = Array.from({ length: 30 }, (_, n) => `/list?color=${n}&size=${searchParams.get('size') ?? n}`)
      return html('List', links(more))
    }
    if (first === 'circle') return Response.redirect(`/circle/${second === 'a' ? 'b' : 'a'}`)
    if (pathname === '/old') return Response.redirect('/product/3')
    if (pathname === '/file.pdf') return new Response('%PDF', { headers: { 'content-type': 'application/pdf' } })
    if (pathname === '/big') return html('Big', `<!--${'x'.repeat(20 * 1024 * 1024)}-->`)
    if (pathname === '/loop') return html('Loop', '<script>setTimeout(() => { while (true) {} }, 50)</script>')
    return new Response('<title>Not found</title>', { status: 404, headers: { 'content-type': 'text/html' } })
  },
})
const ORIGIN = `http://127.0.0.1:${site.port}`

beforeAll(() => {
  asked = new Map()
})
afterAll(() => site.stop(true))

async function crawled(plan: Partial<CrawlPlan>): Promise<{ pages: SeenPage[]; error: string | null | undefined }> {
  using folder = temporaryFolder()
  const told: CrawlMessage[] = []
  asked = new Map()
  const browsing = await browsingOptions(folder.path, { userAgentSuffix: 'Tagwarden/test' })
  await crawl(
    {
      ...{ browsing, startUrls: [`${ORIGIN}/`], sitemap: null, maxPages: 300, maxDepth: 3, include: [], exclude: [] },
      ...{ respectRobots: true, delayMs: 0, settleMs: 300, consent: { mode: 'none', selectors: [] }, ...plan },
    },
    (message) => void told.push(message),
    new AbortController().signal,
  )
  const last = told.at(-1)
  return {
    pages: told.flatMap((message) => (message.kind === 'page' ? message.page : [])),
    error: last?.kind === 'done' ? last.error : undefined,
  }
}

test('of a site with traps every page is seen once, with its tags', async () => {
  const { pages, error } = await crawled({})
  expect(error).toBeNull()
  const paths = pages.map(({ url }) => url.replace(ORIGIN, ''))
  expect(new Set(paths).size).toBe(paths.length)
  const products = pages.filter(({ url }) => url.includes('/product/'))
  expect(products.map(({ url }) => url).sort()).toEqual(
    Array.from({ length: PRODUCTS }, (_, n) => `${ORIGIN}/product/${n + 1}`).sort(),
  )
  for (const { url, events } of products) {
    expect([url, events.map(({ event, params }) => [event, params['ep.page']])]).toEqual([
      url,
      [['page_view', url.split('/').at(-1)]],
    ])
  }
  expect(paths.filter((path) => path.startsWith('/calendar/')).length).toBeLessThanOrEqual(24)
  expect(paths.filter((path) => path.startsWith('/list?')).length).toBeLessThanOrEqual(20)
  const others = pages.filter(({ url }) => !/\/(?:product|calendar|list)/.test(url))
  expect(
    Object.fromEntries(others.map(({ url, status, error }) => [url.replace(ORIGIN, ''), [status, error !== null]])),
  ).toEqual({
    '/': [200, false],
    '/circle/a': [null, true],
    '/gone': [404, false],
    '/big': [200, false],
    '/loop': [200, true],
  })
  expect(asked.has('/private')).toBe(false)
}, 240_000)

test('a sitemap stands in place of start pages, and what is private is refused', async () => {
  const { pages } = await crawled({ startUrls: [], sitemap: `${ORIGIN}/sitemap.xml`, maxDepth: 0 })
  expect(pages.map(({ url }) => url.replace(ORIGIN, '')).sort()).toEqual(['/product/1', '/product/2'])
  const refused = await crawled({ startUrls: ['http://127.0.0.2/', 'http://169.254.169.254/'] })
  expect(refused.pages.map(({ status, error }) => [status, error])).toEqual([
    [null, expect.stringMatching(/127\.0\.0\.2/)],
    [null, expect.stringMatching(/169\.254/)],
  ])
}, 120_000)
