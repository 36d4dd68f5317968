import { afterAll, expect, test } from 'bun:test'
import { crawl } from '../../src/audits/crawl/crawl.ts'
import type { CrawlMessage, CrawlPlan, SeenPage } from '../../src/audits/crawl-plan.ts'
import { FIXED_SLOT } from '../../src/browser/browser-task.ts'
import { browsingOptions } from '../browser/browse.ts'
import { temporaryFolder } from '../run-program.ts'
import { OTHER_PAGES, trapSite } from './trap-site.ts'

const PRODUCTS = 60
const site = trapSite(PRODUCTS)
const { origin: ORIGIN, asked } = site

afterAll(() => site[Symbol.asyncDispose]())

async function crawled(plan: Partial<CrawlPlan>): Promise<{ pages: SeenPage[]; error: string | null | undefined }> {
  using folder = temporaryFolder()
  const told: CrawlMessage[] = []
  asked.clear()
  const browsing = await browsingOptions(folder.path, { userAgentSuffix: 'Tagwarden/test' })
  await crawl(
    {
      browsing,
      startUrls: [`${ORIGIN}/`],
      sitemap: null,
      maxPages: 300,
      maxDepth: 3,
      include: [],
      exclude: [],
      respectRobots: true,
      delayMs: 0,
      settleMs: 300,
      expect: [],
      labels: {},
      consent: { mode: 'none', selectors: [] },
      ...plan,
    },
    (message) => void told.push(message),
    new AbortController().signal,
    FIXED_SLOT,
  )
  const last = told.at(-1)
  return {
    pages: told.flatMap((message) => (message.kind === 'page' ? message.page : [])),
    error: last?.kind === 'done' ? last.error : undefined,
  }
}

test('every page of a site with crawler traps is visited once, and its tags are recorded', async () => {
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
  ).toEqual(OTHER_PAGES)
  expect(asked.has('/private')).toBe(false)
})

test('a sitemap replaces start pages, and private network URLs are rejected', async () => {
  const { pages } = await crawled({ startUrls: [], sitemap: `${ORIGIN}/sitemap.xml`, maxDepth: 0 })
  expect(pages.map(({ url }) => url.replace(ORIGIN, '')).sort()).toEqual(['/product/1', '/product/2'])
  const refused = await crawled({ startUrls: ['http://127.0.0.2/', 'http://169.254.169.254/'] })
  expect(refused.pages.map(({ status, error }) => [status, error])).toEqual([
    [null, expect.stringMatching(/127\.0\.0\.2/)],
    [null, expect.stringMatching(/169\.254/)],
  ])
})
