import { expect } from 'bun:test'
import type { Browser, Page } from 'puppeteer-core'
import { ask } from '../../run-program.ts'
import { axeFindings } from '../axe.ts'
import { dashboardPaths } from '../dashboard-paths.ts'
import { openScreen, type Screen } from '../screen.ts'

/*
 * What holds for every page, looked at by the tests of this folder: on the demo, and on a server with nothing on it.
 */

export const TEST_MS = 600_000

export const HEIGHT = 900

/** How a page is looked at: in a width (px) and a theme; what is heard is the same in all, so not each is heard. */
export interface Viewport {
  width: number
  theme: 'light' | 'dark'
  isHeard: boolean
}

/** Where pages are looked at, and with which API key. */
export interface Target {
  url: string
  key: string
}

/** Waits until the page has its heading and nothing of it is loading. */
export async function waitForPage(page: Page): Promise<void> {
  const isThere = () => document.querySelector('h1') !== null && document.querySelector('[aria-busy=true]') === null
  await page.waitForFunction(isThere, { polling: 50 })
}

/** Opens a tab that is signed in. */
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

/** Says what is wrong with the page as it stands, in every width and theme; empty when nothing is. */
async function faultsOf({ page }: Screen, looks: readonly Viewport[]): Promise<string[]> {
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
    await waitForPage(page)
    const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
    if (over > 0) faults.push(`${over} px too wide at ${width}`)
    if (!isHeard) continue
    for (const finding of await axeFindings(page)) faults.push(`${width} ${theme} ${finding}`)
  }
  await page.setViewport({ width: 1280, height: HEIGHT })
  return faults
}

/** Opens every page there and fails with what is wrong, by address. `looks` are looked at, and only the server is asked. */
export async function expectNoFaults(browser: Browser, place: Target, looks: readonly Viewport[]) {
  const { url, key } = place
  await using screen = await signedIn(browser, place)
  const found: Record<string, string[]> = {}
  for (const address of await dashboardPaths((path) => ask('GET', url + path, key))) {
    await screen.open(address)
    await waitForPage(screen.page)
    const faults = [...(await faultsOf(screen, looks)), ...screen.errors.splice(0)]
    if (faults.length > 0) found[address] = faults
  }
  expect(found).toEqual({})
  expect(screen.origins).toEqual(new Set([url]))
}
