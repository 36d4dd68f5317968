import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startBrowser, type TestBrowser } from '../browser/chromium.ts'
import { addressesOf } from './addresses.ts'
import { goTo, settled } from './going.ts'
import { layoutFaults } from './layout.ts'
import { openOthersWorld } from './others-world.ts'
import { openScreen } from './screen.ts'
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

test(
  'names of every kind run nothing and change no layout, on any page',
  async () => {
    await using screen = await openScreen(world.url, browser.browser)
    const { page } = screen
    page.setDefaultTimeout(TEST_MS)
    await page.setViewport({ width: 1280, height: HEIGHT })
    await openAs(screen, world.app.owner.apiKey, '/')
    await settled(page)
    const get = async (path: string) => (await world.app.call('GET', path)).body
    const found: Record<string, string[]> = {}
    for (const address of await addressesOf(get)) {
      await goTo(page, address)
      for (const width of [1280, 360]) {
        await page.setViewport({ width, height: HEIGHT })
        await settled(page)
        const faults = await layoutFaults(page)
        if (faults.length > 0) found[`${address} at ${width}`] = faults
      }
      const trouble = screen.trouble.splice(0)
      if (trouble.length > 0) found[`${address} says`] = trouble
    }
    // A dialog is named after what it is about.
    await goTo(page, '/explore/labels')
    const opener = 'main button[aria-label^="Add an event to"]'
    await page.$eval(opener, (button) => (button as HTMLButtonElement).click())
    await page.waitForSelector('[role=dialog]')
    const faults = await layoutFaults(page)
    if (faults.length > 0) found['a dialog'] = faults
    expect(found).toEqual({})
  },
  TEST_MS,
)

test(
  'a kind and a key of personal data are said whatever they are called',
  async () => {
    await using screen = await openScreen(world.url, browser.browser)
    await openAs(screen, world.app.owner.apiKey, '/compliance')
    await screen.reads('Own pattern constructor in constructor')
  },
  TEST_MS,
)
