import { afterAll, beforeAll, expect, test } from 'bun:test'
import { DASHBOARD } from '../../../src/http/pages.ts'
import { startBrowser, type TestBrowser } from '../../browser/chromium.ts'
import { dashboardPaths } from '../dashboard-paths.ts'
import { type Demo, startDemo, untilIssues } from '../demo.ts'
import { expectAccessibleNames } from './accessible-names.ts'
import { expectNoFaults, TEST_MS, type Viewport } from './page-checks.ts'

/** Every width and both themes. What is heard is the same in all; colours are in one width of each theme. */
const LOOKS: Viewport[] = [
  { width: 360, theme: 'light', isHeard: true },
  { width: 360, theme: 'dark', isHeard: false },
  { width: 1280, theme: 'dark', isHeard: true },
  { width: 1280, theme: 'light', isHeard: false },
  { width: 1920, theme: 'light', isHeard: false },
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

test('on the demo every page is whole in all widths and themes, and asks nobody but its server', () =>
  expectNoFaults(browser.browser, demo, LOOKS))

test.each([1280, 360])('everything has the role and the name that were promised, at %d px', (width) =>
  expectAccessibleNames(browser.browser, demo, width),
)

test('the list of addresses leaves none out', async () => {
  const addresses = await dashboardPaths(async () => null, 'everything')
  for (const address of DASHBOARD) {
    if (/^\/(?:setup|login|reset|invite)$/.test(address)) continue
    const start = address.replace(/\{.*/, '')
    expect(addresses.some((one) => one.startsWith(start))).toBe(true)
  }
})
