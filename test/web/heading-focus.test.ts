import { expect, test } from 'bun:test'
import { openScreen } from './screen.ts'
import { openAs, openWorld } from './world.ts'

const TEST_MS = 300_000

test(
  'the heading of a page that was waited for has the focus, so that screen readers say where one is',
  async () => {
    await using world = await openWorld()
    await using screen = await openScreen(world.url)
    const { page } = screen
    world.open([{ title: 'Purchases have a value' }])
    await world.app.call('POST', '/v1/domains', { body: { name: 'shop.example' } })
    await openAs(screen, world.app.owner.apiKey, '/')
    const follow = async (link: string, heading: string) => {
      // Without a pointer near it nothing of the next page is asked for ahead.
      await page.waitForFunction(
        (name) => [...document.querySelectorAll('a')].some((one) => one.textContent === name),
        {},
        link,
      )
      await page.evaluate(
        (name) => [...document.querySelectorAll('a')].find((one) => one.textContent === name)?.click(),
        link,
      )
      await screen.sees('heading', heading)
      await page.waitForFunction(() => document.querySelector('[aria-busy=true]') === null)
      expect(await page.evaluate(() => document.activeElement?.textContent)).toBe(heading)
    }
    await follow('Domains', 'Domains')
    await follow('shop.example', 'shop.example')
    await screen.press('Issues, 1', 'link')
    await screen.sees('heading', 'Issues')
    await follow('Purchases have a value', 'Purchases have a value')
  },
  TEST_MS,
)
