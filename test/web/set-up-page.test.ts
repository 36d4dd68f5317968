import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startBrowser, type TestBrowser } from '../browser/chromium.ts'
import { openScreen } from './screen.ts'
import { openAs, openWorld } from './world.ts'

const TEST_MS = 60_000

let browser: TestBrowser
beforeAll(async () => {
  browser = await startBrowser()
}, TEST_MS)
afterAll(() => browser[Symbol.asyncDispose]())

test(
  'the set-up page of a domain lists vendors whose library loads while no event of theirs is captured',
  async () => {
    await using world = await openWorld()
    const { collector } = world.app.app
    const { body: domain } = await world.app.call('POST', '/v1/domains', { body: { name: 'shop.example' } })
    const address = `/domains/${domain.id}/setup`
    const send = async (...urls: string[]) => {
      const batch = { token: domain.token, page: { url: 'https://shop.example/' }, hits: urls.map((url) => ({ url })) }
      await collector.fetch(
        new Request('https://c.example/api/v1/events', { method: 'POST', body: JSON.stringify(batch) }),
      )
    }
    await using screen = await openScreen(world.url, browser.browser)
    await openAs(screen, world.app.owner.apiKey, address)
    await screen.sees('button', 'Copy the code')
    expect(await screen.page.evaluate(() => document.body.textContent)).not.toContain('Libraries without events')

    await send(
      'https://www.shop.example/ingest/static/array.js',
      'https://www.shop.example/matomo.js',
      'https://www.shop.example/matomo.php?idsite=1&rec=1&url=https://shop.example/',
      'https://www.googletagmanager.com/gtm.js?id=GTM-1',
    )
    await screen.page.reload()
    await screen.reads('Libraries without events')
    const vendors = await screen.page.$$eval('table td:first-child, table th[scope=row]', (cells) =>
      cells.map(({ textContent }) => textContent),
    )
    expect(vendors).toEqual(['PostHog'])
  },
  TEST_MS,
)
