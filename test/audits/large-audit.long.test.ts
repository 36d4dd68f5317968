import { afterAll, expect, test } from 'bun:test'
import type { AuditPage } from '../../src/audits/audit.ts'
import { memoryOf } from '../../src/browser/process-memory.ts'
import { installedChromium } from '../browser/installed-chromium.ts'
import { commandOf, descendantsOf } from '../proc-fs.ts'
import { testApp } from '../test-app.ts'
import { OTHER_PAGES, trapSite } from './trap-site.ts'

const PRODUCTS = 280
const MIB = 2 ** 20
/**
 * Memory limit. The first 100 pages need 430 MB. If the browser never released memory, 300 pages would need more than
 * 600 MB.
 */
const MOST_MIB = 520

const site = trapSite(PRODUCTS)
const world = await testApp({ chromium: await installedChromium(), outboundAllow: '127.0.0.1' })
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await site[Symbol.asyncDispose]()
})

/** Returns the id of the process that drives the browser and leads its process group. */
const runnerOf = () => descendantsOf(process.pid).find((pid) => commandOf(pid).includes('\0browse\0')) ?? 0

async function pagesOf(id: string): Promise<AuditPage[]> {
  const pages: AuditPage[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const { body } = await world.call('GET', `/v1/audits/${id}/pages?limit=200${cursor && `&cursor=${cursor}`}`)
    pages.push(...body.pages)
    cursor = body.nextCursor
  }
  return pages
}

test('each of 300 pages with crawler traps is visited once, and memory use does not grow with the number of pages', async () => {
  const input = { name: 'Large', startUrls: [`${site.origin}/`], maxPages: 400, delayMs: 0, settleMs: 50 }
  const { id } = (await world.call('POST', '/v1/audits', { body: input })).body
  let runner = 0
  let mostMib = 0
  const timer = setInterval(() => {
    runner ||= runnerOf()
    if (runner > 0) mostMib = Math.max(mostMib, Math.round(memoryOf(runner) / MIB))
  }, 500)
  await world.app.idle()
  clearInterval(timer)
  console.log(`at most ${mostMib} MiB`)
  expect(mostMib).toBeWithin(1, MOST_MIB)

  const audit = (await world.call('GET', `/v1/audits/${id}`)).body
  expect(audit).toMatchObject({ status: 'finished', error: null })
  const pages = (await pagesOf(id)).map((page) => ({ ...page, path: page.url.replace(site.origin, '') }))
  expect(new Set(pages.map(({ path }) => path)).size).toBe(pages.length)
  const products = pages.filter(({ path }) => path.startsWith('/product/'))
  expect(products).toHaveLength(PRODUCTS)
  const tag = { vendor: 'Google Analytics 4', event: 'page_view', account: 'G-1', count: 1 }
  expect(products.filter(({ tags }) => !Bun.deepEquals(tags, [tag]))).toEqual([])
  const others = pages.filter(({ path }) => !/^\/(?:product\/|calendar|list)/.test(path))
  expect(Object.fromEntries(others.map(({ path, status, error }) => [path, [status, error !== null]]))).toEqual(
    OTHER_PAGES,
  )
})
