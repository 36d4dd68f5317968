import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Page } from 'puppeteer-core'
import { DASHBOARD } from '../../src/http/pages.ts'
import { startBrowser, type TestBrowser } from '../browser/chromium.ts'
import { ask, initialize, type Server, startServer, temporaryFolder, until } from '../process.ts'
import { addressesOf } from './addresses.ts'
import { axeFindings } from './axe.ts'
import { type Demo, startDemo } from './demo.ts'
import { openScreen, type Screen } from './screen.ts'

/*
 * What holds for every page: on the demo, and on a server with nothing on it.
 */

const TEST_MS = 600_000
const HEIGHT = 900
/** Every width and both themes. What is heard is the same in all; colours are in one width of each theme. */
const LOOKS = [
  { width: 360, theme: 'light', isHeard: true },
  { width: 360, theme: 'dark', isHeard: false },
  { width: 1280, theme: 'dark', isHeard: true },
  { width: 1280, theme: 'light', isHeard: false },
  { width: 1920, theme: 'light', isHeard: false },
]

const folder = temporaryFolder()
let browser: TestBrowser
let demo: Demo
let empty: Server
let emptyKey: string
beforeAll(async () => {
  const data = join(folder.path, 'data')
  emptyKey = await initialize(data)
  ;[browser, demo, empty] = await Promise.all([startBrowser(), startDemo(), startServer(data)])
  await until('an issue of the demo', async () => (await demo.get('/v1/issues'))?.issues.length > 0, TEST_MS)
}, TEST_MS)
afterAll(async () => {
  await browser[Symbol.asyncDispose]()
  await demo[Symbol.asyncDispose]()
  await empty[Symbol.asyncDispose]?.()
  folder[Symbol.dispose]()
})

/** Waits until the page has its heading and nothing of it is loading. */
async function settled(page: Page): Promise<void> {
  const isThere = () => document.querySelector('h1') !== null && document.querySelector('[aria-busy=true]') === null
  await page.waitForFunction(isThere, { polling: 50 })
}

/** Opens a tab that is signed in. */
async function signedIn(url: string, key: string, preferences: object = {}): Promise<Screen> {
  const screen = await openScreen(url, browser.browser)
  await screen.page.setViewport({ width: 1280, height: HEIGHT })
  await screen.page.evaluateOnNewDocument(
    (session, chosen) => {
      if (location.protocol !== 'http:') return
      sessionStorage.setItem('tagwarden-session', session)
      localStorage.setItem('tagwarden-preferences', chosen)
    },
    JSON.stringify({ credential: key, orgId: null }),
    JSON.stringify(preferences),
  )
  return screen
}

/** Says what is wrong with the page as it stands, in every width and theme; empty when nothing is. */
async function faultsOf({ page }: Screen, looks: typeof LOOKS): Promise<string[]> {
  const faults: string[] = []
  const { headings, title } = await page.evaluate(() => ({
    headings: document.querySelectorAll('h1').length,
    title: document.title,
  }))
  if (headings !== 1) faults.push(`${headings} h1`)
  if (!title.endsWith(' · Tagwarden')) faults.push(`titled ${title}`)
  for (const { width, theme, isHeard } of looks) {
    await page.setViewport({ width, height: HEIGHT })
    // Colours that change slowly would be looked at half-way.
    const still = { name: 'prefers-reduced-motion', value: 'reduce' }
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }, still])
    await settled(page)
    const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
    if (over > 0) faults.push(`${over} px too wide at ${width}`)
    if (!isHeard) continue
    for (const finding of await axeFindings(page)) faults.push(`${width} ${theme} ${finding}`)
  }
  await page.setViewport({ width: 1280, height: HEIGHT })
  return faults
}

const get = (url: string, key: string) => (path: string) => ask('GET', url + path, key)

describe.each([
  ['the demo', () => [demo.url, demo.key] as const],
  ['a server with nothing on it', () => [empty.url, emptyKey] as const],
])('on %s', (where, place) => {
  test(
    'every page is whole in all widths and themes, and asks nobody but its server',
    async () => {
      const [url, key] = place()
      await using screen = await signedIn(url, key)
      const found: Record<string, string[]> = {}
      for (const address of await addressesOf(get(url, key))) {
        await screen.open(address)
        await settled(screen.page)
        const faults = [
          ...(await faultsOf(screen, where === 'the demo' ? LOOKS : LOOKS.slice(0, 1))),
          ...screen.trouble.splice(0),
        ]
        // The browser reports that no demo answers here, which is how the page learns it.
        const real = faults.filter((fault) => !(where !== 'the demo' && fault.endsWith('/demo/inbox')))
        if (real.length > 0) found[address] = real
      }
      expect(found).toEqual({})
      expect(screen.asked).toEqual(new Set([url]))
    },
    TEST_MS,
  )
})

test('the list of addresses leaves none out', async () => {
  const addresses = await addressesOf(async () => null, 'everything')
  for (const address of DASHBOARD) {
    if (/^\/(?:setup|login|reset|invite)$/.test(address)) continue
    const start = address.replace(/\{.*/, '')
    expect(addresses.some((one) => one.startsWith(start))).toBe(true)
  }
})

const SENTENCE = 'the warehouse is busy with 2 other questions'

test(
  'a page whose every question is refused shows the sentence of the server, and recovers',
  async () => {
    await using screen = await signedIn(demo.url, demo.key)
    const { page } = screen
    let isRefusing = true
    const cdp = await page.createCDPSession()
    cdp.on('Fetch.requestPaused', ({ requestId }) => {
      if (!isRefusing) return void cdp.send('Fetch.continueRequest', { requestId }).catch(() => {})
      const body = Buffer.from(JSON.stringify({ error: SENTENCE })).toString('base64')
      const responseHeaders = [{ name: 'content-type', value: 'application/json' }]
      return void cdp
        .send('Fetch.fulfillRequest', { requestId, responseCode: 503, responseHeaders, body })
        .catch(() => {})
    })
    // Only questions: to look at every file would take the browser its cache.
    await cdp.send('Fetch.enable', { patterns: [{ urlPattern: '*/v1/*' }] })
    const found: Record<string, string> = {}
    for (const address of await addressesOf(demo.get)) {
      isRefusing = true
      await screen.open(address)
      const says = await page
        .waitForFunction((text) => document.body.textContent?.includes(text), { polling: 50 }, SENTENCE)
        .catch(() => null)
      isRefusing = false
      if (!says) {
        // A page that asks nothing to be drawn has nothing to show of it.
        if (!(await page.$('h1'))) found[address] = 'no sentence'
        continue
      }
      const isWell = (text: string) => {
        for (const button of document.querySelectorAll<HTMLElement>('[role=alert] button:not([data-pressed])')) {
          button.dataset.pressed = 'true'
          button.click()
        }
        return !document.body.textContent?.includes(text) && document.querySelector('h1')
      }
      const recovered = await page.waitForFunction(isWell, { polling: 50 }, SENTENCE).catch(() => null)
      if (!recovered) found[address] = 'does not recover'
    }
    expect(found).toEqual({})
  },
  TEST_MS,
)

test(
  'in the pseudo-language every text that is ours is bracketed, and nothing is cut',
  async () => {
    await using screen = await signedIn(demo.url, demo.key, { language: 'pseudo' })
    const found: Record<string, string[]> = {}
    for (const address of await addressesOf(demo.get)) {
      await screen.open(address)
      await settled(screen.page)
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
  },
  TEST_MS,
)
