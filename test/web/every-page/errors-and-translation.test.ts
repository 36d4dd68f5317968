import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startBrowser, type TestBrowser } from '../../browser/chromium.ts'
import { dashboardPaths } from '../dashboard-paths.ts'
import { type Demo, startDemo, untilIssues } from '../demo.ts'
import { signedIn, TEST_MS, waitForPage } from './page-checks.ts'

let browser: TestBrowser
let demo: Demo
beforeAll(async () => {
  browser = await startBrowser()
  demo = await startDemo()
  await untilIssues(demo, TEST_MS)
})
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  await demo?.[Symbol.asyncDispose]()
})

const SENTENCE = 'the warehouse is busy with 2 other queries'

/** Pages that need no API data and therefore show no error. */
const SILENT = [
  '/domains/new',
  '/explore/orders',
  '/tests/new',
  '/audits/new',
  '/integrations/new',
  '/settings/preferences',
]

test("every page shows the server's error when all requests fail, and recovers after Retry is clicked", async () => {
  await using screen = await signedIn(browser.browser, demo)
  const { page } = screen
  let isRefusing = true
  const cdp = await page.createCDPSession()
  cdp.on('Fetch.requestPaused', ({ requestId }) => {
    if (!isRefusing) return void cdp.send('Fetch.continueRequest', { requestId }).catch(() => {})
    const body = Buffer.from(JSON.stringify({ error: SENTENCE })).toString('base64')
    const responseHeaders = [
      { name: 'content-type', value: 'application/json' },
      // The delay is longer than any wait in this test, so that no page recovers before Retry is clicked.
      { name: 'retry-after', value: '3600' },
    ]
    return void cdp
      .send('Fetch.fulfillRequest', { requestId, responseCode: 503, responseHeaders, body })
      .catch(() => {})
  })
  // Only API requests are intercepted, because intercepting every request would disable the cache.
  await cdp.send('Fetch.enable', { patterns: [{ urlPattern: '*/v1/*' }] })
  const found: Record<string, string> = {}
  for (const address of await dashboardPaths(demo.get)) {
    isRefusing = true
    await screen.open(address)
    if (SILENT.includes(address)) {
      if (!(await page.waitForSelector('h1').catch(() => null))) found[address] = 'not rendered'
      continue
    }
    const hasText = (text: string) => document.body.textContent?.includes(text)
    const isShown = await page.waitForFunction(hasText, { polling: 50 }, SENTENCE).catch(() => null)
    isRefusing = false
    if (!isShown) {
      found[address] = 'no error shown'
      continue
    }
    const hasRecovered = (text: string) => {
      for (const button of document.querySelectorAll<HTMLElement>('[role=alert] button:not([data-pressed])')) {
        button.dataset.pressed = 'true'
        button.click()
      }
      return !document.body.textContent?.includes(text) && document.querySelector('h1')
    }
    const recovered = await page.waitForFunction(hasRecovered, { polling: 50 }, SENTENCE).catch(() => null)
    if (!recovered) found[address] = 'does not recover'
  }
  expect(found).toEqual({})
})

test('in the pseudo-language, every translatable string is bracketed, and nothing overflows', async () => {
  await using screen = await signedIn(browser.browser, demo, { language: 'pseudo' })
  const found: Record<string, string[]> = {}
  for (const address of await dashboardPaths(demo.get)) {
    await screen.open(address)
    await waitForPage(screen.page)
    const bare = await screen.page.evaluate(() => {
      const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
      const texts: string[] = []
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const text = node.textContent?.trim() ?? ''
        const parent = node.parentElement
        if (
          !/\p{L}/u.test(text) ||
          parent?.closest('style, script, noscript, [translate=no], option, [role=option], svg')
        )
          continue
        if (!/^(?:· )?\[.*\]$/s.test(text)) texts.push(text.slice(0, 60))
      }
      return [...new Set(texts)]
    })
    const over = await screen.page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
    if (bare.length > 0 || over > 0) found[address] = [...bare, ...(over > 0 ? [`${over} px too wide`] : [])]
  }
  expect(found).toEqual({})
})
