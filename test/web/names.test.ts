import { expect, test } from 'bun:test'
import { addressesOf } from './addresses.ts'
import { goTo, settled } from './going.ts'
import { layoutFaults } from './layout.ts'
import { amongOthers } from './others-world.ts'
import { openScreen } from './screen.ts'
import { openAs } from './world.ts'

/*
 * What others write, wherever they may write it: no script runs, and nothing moves, overlaps or grows wider than the window.
 */

const TEST_MS = 300_000
const HEIGHT = 900

const here = amongOthers(TEST_MS)

test(
  'names of every kind run nothing and change no layout, on any page',
  async () => {
    await using screen = await openScreen(here.world.url, here.browser.browser)
    const { page } = screen
    page.setDefaultTimeout(TEST_MS)
    await page.setViewport({ width: 1280, height: HEIGHT })
    await openAs(screen, here.world.app.owner.apiKey, '/')
    await settled(page)
    const get = async (path: string) => (await here.world.app.call('GET', path)).body
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
    await using screen = await openScreen(here.world.url, here.browser.browser)
    await openAs(screen, here.world.app.owner.apiKey, '/compliance')
    await screen.reads('Own pattern constructor in constructor')
  },
  TEST_MS,
)
