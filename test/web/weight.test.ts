import { expect, test } from 'bun:test'
import { openScreen } from './screen.ts'
import { countSent } from './sent.ts'
import { openAs, openWorld } from './world.ts'

const TEST_MS = 120_000
/** Of scripts as sent, gzip, until the Overview is complete with its charts. */
const MOST_SCRIPT_BYTES = 280_000
/** At the next visit, data aside. */
const MOST_AGAIN_BYTES = 40_000

test(
  'the Overview with its charts is light, and lighter at the next visit',
  async () => {
    await using world = await openWorld()
    const { app } = world
    await using screen = await openScreen(world.url)
    const { page } = screen
    const sent = await countSent(page)
    const { body: domain } = await app.call('POST', '/v1/domains', { body: { name: 'shop.example' } })
    await app.collect(domain.token, { events: [{ vendor: 'Shop', event: 'view', params: {} }] })
    await app.run('flush')
    await openAs(screen, app.owner.apiKey, '/')
    await screen.sees('region', 'Verdict')
    await page.waitForSelector('figure svg, [role=figure] svg')
    const first = sent.take()
    expect(first.scriptBytes).toBeGreaterThan(100_000)
    expect(first.scriptBytes).toBeLessThan(MOST_SCRIPT_BYTES)

    await page.goto(`${world.url}/`)
    await screen.sees('region', 'Verdict')
    const again = sent.take()
    expect(again.scriptBytes + again.otherBytes).toBeLessThan(MOST_AGAIN_BYTES)
  },
  TEST_MS,
)
