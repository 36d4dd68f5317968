import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'puppeteer-core'
import { startBrowser, type TestBrowser } from '../browser/chromium.ts'
import { addressesOf } from './addresses.ts'
import { layoutFaults } from './layout.ts'
import { openOthersWorld } from './others-world.ts'
import { openScreen, type Screen } from './screen.ts'
import { openAs, type World } from './world.ts'

/*
 * What others write, wherever they may write it: no script runs, and nothing moves, overlaps or grows wider than the window.
 */

const TEST_MS = 300_000
const HEIGHT = 900

let world: World
let browser: TestBrowser
beforeAll(async () => {
  ;[world, browser] = await Promise.all([openOthersWorld(), startBrowser()])
}, TEST_MS)
afterAll(async () => {
  await browser[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

/** Goes to the address within the page, as its links do, and waits until it has its heading and nothing of it is loading. */
async function goTo({ page }: Screen, address: string): Promise<void> {
  await page.evaluate((to) => {
    history.pushState({}, '', to)
    dispatchEvent(new PopStateEvent('popstate', { state: {} }))
  }, address)
  await settled(page)
}

async function settled(page: Page): Promise<void> {
  const isThere = () =>
    document.title !== '' &&
    document.querySelector('h1') !== null &&
    document.querySelector('[aria-busy=true], [data-asking]') === null
  await page.waitForFunction(isThere, { polling: 20 })
}

test(
  'names of every kind run nothing and change no layout, on any page',
  async () => {
    await using screen = await openScreen(world.url, browser.browser)
    const { page } = screen
    await page.setViewport({ width: 1280, height: HEIGHT })
    await openAs(screen, world.app.owner.apiKey, '/')
    const get = async (path: string) => (await world.app.call('GET', path)).body
    const found: Record<string, string[]> = {}
    for (const address of await addressesOf(get)) {
      await goTo(screen, address)
      for (const width of [1280, 360]) {
        await page.setViewport({ width, height: HEIGHT })
        await settled(page)
        const faults = await layoutFaults(page)
        if (faults.length > 0) found[`${address} at ${width}`] = faults
      }
      // That no demo answers here is how the page learns it.
      const trouble = screen.trouble.splice(0).filter((one) => !one.endsWith('/demo/inbox'))
      if (trouble.length > 0) found[`${address} says`] = trouble
    }
    expect(found).toEqual({})
  },
  TEST_MS,
)
