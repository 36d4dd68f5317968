import { expect, test } from 'bun:test'
import { dashboardPaths } from './dashboard-paths.ts'
import { layoutFaults } from './layout-faults.ts'
import { navigateTo, waitForPage } from './navigate.ts'
import { openScreen } from './screen.ts'
import { sharedHostileServer } from './server-with-hostile-texts.ts'
import { openAs } from './test-server.ts'

/*
 * Every field contains a hostile name. No injected script may run, and nothing may shift, overlap or overflow the
 * window.
 */

const HEIGHT = 900

const here = sharedHostileServer()

test('hostile names run no script and break no layout on any page', async () => {
  await using screen = await openScreen(here.server.url, here.browser.browser)
  const { page } = screen
  page.setDefaultTimeout(300_000)
  await page.setViewport({ width: 1280, height: HEIGHT })
  await openAs(screen, here.server.app.owner.apiKey, '/')
  await waitForPage(page)
  const get = async (path: string) => (await here.server.app.call('GET', path)).body
  const found: Record<string, string[]> = {}
  for (const address of await dashboardPaths(get)) {
    await navigateTo(page, address)
    for (const width of [1280, 360]) {
      await page.setViewport({ width, height: HEIGHT })
      await waitForPage(page)
      const faults = await layoutFaults(page)
      if (faults.length > 0) found[`${address} at ${width}`] = faults
    }
    const errors = screen.errors.splice(0)
    if (errors.length > 0) found[`${address} says`] = errors
  }
  // The title of the dialog contains a hostile name.
  await navigateTo(page, '/explore/labels')
  const opener = 'main button[aria-label^="Add event to"]'
  await page.$eval(opener, (button) => (button as HTMLButtonElement).click())
  await page.waitForSelector('[role=dialog]')
  const faults = await layoutFaults(page)
  if (faults.length > 0) found['a dialog'] = faults
  expect(found).toEqual({})
})

test('kinds and keys of personal data are shown even if they have the names of inherited properties', async () => {
  await using screen = await openScreen(here.server.url, here.browser.browser)
  await openAs(screen, here.server.app.owner.apiKey, '/compliance')
  await screen.reads('Custom pattern constructor in constructor')
})
