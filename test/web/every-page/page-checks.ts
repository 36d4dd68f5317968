import { expect } from 'bun:test'
import type { Browser, Page } from 'puppeteer-core'
import { ask } from '../../run-program.ts'
import { axeFindings } from '../axe.ts'
import { dashboardPaths } from '../dashboard-paths.ts'
import { openScreen, type Screen } from '../screen.ts'
import { phoneFaults } from './phone-checks.ts'

/* Checks that apply to every page. Tests in this folder run them on the demo and on an empty server. */

export const TEST_MS = 600_000

export const HEIGHT = 900

/** Windows narrower than this, in px, are phones. The navigation and filters are behind buttons. */
export const PHONE = 768

/** A width in px and a theme. Axe runs only in some viewports, because most of its findings depend on neither. */
export interface Viewport {
  width: number
  theme: 'light' | 'dark'
  runsAxe: boolean
}

/** The server to check, and an API key for it. */
export interface Target {
  url: string
  key: string
}

/** Waits until the page shows its heading and nothing is loading. */
export async function waitForPage(page: Page): Promise<void> {
  const isLoaded = () => document.querySelector('h1') !== null && document.querySelector('[aria-busy=true]') === null
  await page.waitForFunction(isLoaded, { polling: 50 })
}

/** Opens a tab in which the user is signed in. */
export async function signedIn(browser: Browser, { url, key }: Target, preferences: object = {}): Promise<Screen> {
  const screen = await openScreen(url, browser)
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

/** Returns the defects of the current page in each viewport, one per line; empty if there are none. */
async function faultsOf({ page }: Screen, viewports: readonly Viewport[]): Promise<string[]> {
  const faults: string[] = []
  const { headings, title } = await page.evaluate(() => ({
    headings: document.querySelectorAll('h1').length,
    title: document.title,
  }))
  if (headings !== 1) faults.push(`${headings} h1`)
  if (!title.endsWith(' · Tagwarden')) faults.push(`titled ${title}`)
  for (const { width, theme, runsAxe } of viewports) {
    await page.setViewport({ width, height: HEIGHT })
    // Disables transitions, so that axe checks the final colours.
    const still = { name: 'prefers-reduced-motion', value: 'reduce' }
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }, still])
    await waitForPage(page)
    const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
    if (over > 0) faults.push(`${over} px too wide at ${width}`)
    if (!runsAxe) continue
    if (width < PHONE) for (const fault of await phoneFaults(page)) faults.push(`${width} ${fault}`)
    for (const finding of await axeFindings(page)) faults.push(`${width} ${theme} ${finding}`)
  }
  await page.setViewport({ width: 1280, height: HEIGHT })
  return faults
}

/**
 * Opens every page in the given viewports. Fails with a list of the defects by path, and for any request to another
 * origin.
 */
export async function expectNoFaults(browser: Browser, target: Target, viewports: readonly Viewport[]) {
  const { url, key } = target
  await using screen = await signedIn(browser, target)
  const found: Record<string, string[]> = {}
  for (const address of await dashboardPaths((path) => ask('GET', url + path, key))) {
    await screen.open(address)
    await waitForPage(screen.page)
    const faults = [...(await faultsOf(screen, viewports)), ...screen.errors.splice(0)]
    if (faults.length > 0) found[address] = faults
  }
  expect(found).toEqual({})
  expect(screen.origins).toEqual(new Set([url]))
}
