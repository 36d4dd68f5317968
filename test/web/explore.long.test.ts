import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { startBrowser, type TestBrowser } from '../browser/chromium.ts'
import { ask, call, initialize, type Server, startServer, temporaryFolder, until } from '../run-program.ts'
import { axeFindings } from './axe.ts'
import { openScreen, type Screen } from './screen.ts'

const folder = temporaryFolder()
let server: Server
let browser: TestBrowser
let apiKey: string
beforeAll(async () => {
  const data = join(folder.path, 'data')
  apiKey = await initialize(data)
  ;[server, browser] = await Promise.all([startServer(data), startBrowser()])
  await visits()
})
afterAll(async () => {
  await browser[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]?.()
  folder[Symbol.dispose]()
})

/**
 * Sends events for ten sessions in a shop. All visit its start page, six of them continue to a page with a long path,
 * and one of the six also sends a purchase.
 */
async function visits(): Promise<void> {
  const { token } = await ask('POST', `${server.url}/v1/domains`, apiKey, { name: 'shop.example' })
  const send = (body: object) => call('POST', `${server.url}/api/v1/events?token=${token}`, { body })
  const event = (name: string, params: Record<string, string>, more: object = {}) => ({
    vendor: 'Google Analytics 4',
    event: name,
    params,
    status: 'ok',
    ...more,
  })
  for (let session = 0; session < 10; session++) {
    const visit = { sessionId: `session-${session}`, page: { url: 'https://shop.example/' } }
    const pageStats = { vendors: [{ host: 'www.google-analytics.com', requests: 2, durMs: [40, 60], bytes: 2000 }] }
    const status = session === 0 ? 'failure' : 'ok'
    await send({ ...visit, events: [event('page_view', { title: HOSTILE }, { status, execMs: 12 })], pageStats })
    if (session >= 6) continue
    const params = { currency: 'EUR', ...(session === 0 && { transaction_id: 'T-1' }) }
    const page = { url: 'https://shop.example/products/electronics/phones' }
    await send({ ...visit, page, events: [event(session === 0 ? 'purchase' : 'view_item', params)] })
  }
  await until('the page views', async () => {
    const { pagesSampled } = await ask('GET', `${server.url}/v1/performance/tags?hours=24`, apiKey)
    return pagesSampled >= 10
  })
}
const HOSTILE = '<img src=x onerror=alert(1)>'

/** Opens this path and signs in with the owner's API key. */
async function openExplore(path: string, width = 1280): Promise<Screen> {
  const screen = await openScreen(server.url, browser.browser)
  await screen.page.setViewport({ width, height: 900 })
  await screen.open(path)
  await screen.press('Sign in with an API key')
  await screen.type('API key', apiKey)
  await screen.press('Sign in')
  return screen
}

const rowsOf = ({ page }: Screen, name: string) =>
  page.$$eval(`table[aria-label=${JSON.stringify(name)}] tbody tr`, (rows) =>
    rows.map((row) => [...row.children].map(({ textContent }) => textContent?.replaceAll('\u00a0', ' ') ?? '')),
  )

describe('Explore', () => {
  test.each([
    ['/explore/dictionary', 'Dictionary', 1280],
    ['/explore/journeys', 'Journeys', 360],
    ['/explore/journeys', 'Journeys', 1280],
    ['/explore/performance', 'Tag performance', 360],
    ['/explore/execution', 'Execution', 360],
  ])(
    '%s shows the table %s without axe findings, errors or horizontal scrolling at %d px',
    async (path, name, width) => {
      await using screen = await openExplore(path, width)
      await screen.sees('table', name)
      const { page } = screen
      expect(await page.title()).toBe(`${name} · Tagwarden`)
      expect(await page.$$eval('h1', (all) => all.map(({ textContent }) => textContent))).toEqual([name])
      expect(await axeFindings(page)).toEqual([])
      expect(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)).toBeLessThanOrEqual(0)
      expect(screen.errors).toEqual([])
    },
  )

  test('the dictionary expands from vendor to event to key, and its search finds values', async () => {
    await using screen = await openExplore('/explore/dictionary')
    await screen.press('purchase')
    await screen.reads('transaction_id')
    const rows = await rowsOf(screen, 'Dictionary')
    const row = rows.find(([key]) => key?.startsWith('transaction_id'))
    expect(row?.[0]).toContain('ID of the order')
    expect(row?.slice(1, 5)).toEqual(['100 %', 'Identifier', '1', 'T-1'])
    expect(await screen.page.$eval('a[aria-label="Reference for transaction_id"]', ({ href }) => href)).toStartWith(
      'https://developers.google.com/analytics/',
    )
    await screen.type('Search', 'onerror')
    await screen.reads('Google Analytics 4 · page_view · shop.example')
    expect((await rowsOf(screen, 'Dictionary')).map(([, events, , , values]) => [events, values])).toEqual([
      ['10 events', HOSTILE],
    ])
    expect(new URL(screen.page.url()).search).toBe('?q=onerror')
    await screen.type('Search', 'nowhere to be found')
    await screen.reads('No vendor, event, key or value contains “nowhere to be found”.')
    expect(screen.errors).toEqual([])
  })

  test('selecting a page in the flow shows its tags, and the URL preserves the selection', async () => {
    await using screen = await openExplore('/explore/journeys')
    const { page } = screen
    await screen.sees('figure', 'Where sessions go')
    await screen.press('/products/electronics/phones, step 2, 6 sessions, 60\u00a0%')
    await screen.reads('Tags on this page at step 2')
    expect(new URL(page.url()).search).toBe('?step=1&path=%2Fproducts%2Felectronics%2Fphones')
    await page.reload()
    await screen.sees('table', 'Tags on this page at step 2')
    expect(await rowsOf(screen, 'Tags on this page at step 2')).toEqual([
      ['Google Analytics 4 · view_item', '5', '0.83'],
      ['Google Analytics 4 · purchase', '1', '0.17'],
    ])
    expect(await rowsOf(screen, 'Journeys')).toEqual([
      ['/', '/products/electronics/phones', '1', '6', '60 %'],
      ['/', 'left the site', '1', '4', '40 %'],
    ])
    await screen.press('Show as table')
    await screen.sees('table', 'Where sessions go')
    await screen.press('Close')
    await page.waitForFunction(() => location.search === '?show=table')
    expect(screen.errors).toEqual([])
  })

  test('values that were not reported are shown as unknown, not as 0', async () => {
    await using screen = await openExplore('/explore/performance')
    await screen.sees('table', 'Tag performance')
    const [performance] = await rowsOf(screen, 'Tag performance')
    expect(performance?.slice(1)).toEqual(['–unknown', '–unknown', '10', '2', '40 ms', '60 ms', '60 ms', '2 kB'])
    await screen.press('Execution', 'link')
    await screen.sees('table', 'Execution')
    expect(await rowsOf(screen, 'Execution')).toEqual([['Google Analytics 4', '16', '12 ms', '12 ms', '1', '6.3 %']])
    expect(screen.errors).toEqual([])
  })

  test('a page without data offers a longer time range', async () => {
    const { id } = await ask('POST', `${server.url}/v1/domains`, apiKey, { name: 'empty.example' })
    await using screen = await openExplore(`/explore/execution?domainId=${id}`)
    await screen.reads('No events in this time range.')
    await screen.press('Show 30 days')
    await screen.page.waitForFunction(() => location.search.includes('range=30d'))
    expect(await screen.has('button', 'Show 30 days')).toBe(false)
    await screen.press('Journeys', 'link')
    await screen.sees('heading', 'Journeys')
    // The selected domain and time range are preserved on the next page.
    expect(new URL(screen.page.url()).searchParams.get('domainId')).toBe(id)
    expect(new URL(screen.page.url()).searchParams.get('range')).toBe('30d')
  })
})
