import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startBrowser, type TestBrowser } from '../../browser/chromium.ts'
import { type Demo, startDemo, untilIssues } from '../demo.ts'
import { expectAccessibleNames } from './expect-accessible-names.ts'
import { expectNoFaults, signedIn, TEST_MS, type Viewport, waitForPage } from './page-checks.ts'

/**
 * Covers every width in at least one theme. Axe checks each theme once, which covers all colours. Its other findings
 * depend on neither width nor theme.
 */
const VIEWPORTS: Viewport[] = [
  { width: 360, theme: 'light', runsAxe: true },
  { width: 360, theme: 'dark', runsAxe: false },
  { width: 1280, theme: 'dark', runsAxe: true },
  { width: 1280, theme: 'light', runsAxe: false },
  { width: 1920, theme: 'light', runsAxe: false },
]

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

test('every page of the demo has no defects in any width and theme, and sends requests only to its server', () =>
  expectNoFaults(browser.browser, demo, VIEWPORTS))

test.each([1280, 360])('elements have the expected roles and names at %d px', (width) =>
  expectAccessibleNames(browser.browser, demo, width),
)

test('on a phone, signals show their current and expected values', async () => {
  await using screen = await signedIn(browser.browser, demo)
  await screen.page.setViewport({ width: 360, height: 640 })
  await screen.open('/signals')
  await waitForPage(screen.page)
  const rows = await screen.page.$$eval('main tbody tr[data-id]', (all) =>
    // biome-ignore lint/performance/useDomNodeTextContent: only the visible text counts
    all.map((row) => (row as HTMLElement).innerText.replaceAll(/\s+/g, ' ')),
  )
  expect(rows.length).toBeGreaterThan(0)
  expect(rows.filter((text) => !/Last hour (?:\d|–).*Expected (?:\d|–)/.test(text))).toEqual([])
})
