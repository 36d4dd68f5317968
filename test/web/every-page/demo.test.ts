import { afterAll, beforeAll, test } from 'bun:test'
import { startBrowser, type TestBrowser } from '../../browser/chromium.ts'
import { type Demo, startDemo, untilIssues } from '../demo.ts'
import { expectAccessibleNames } from './expect-accessible-names.ts'
import { expectNoFaults, TEST_MS, type Viewport } from './page-checks.ts'

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
