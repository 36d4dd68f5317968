import { expect, test } from 'bun:test'
import type { Page } from 'puppeteer-core'
import { overviewPreloadUrls } from '../../src/web/pages/overview/preload-urls.ts'
import { openScreen } from './screen.ts'
import { openAs, startTestServer } from './test-server.ts'
import { measureTransfers } from './transfer-size.ts'

/** Of scripts as sent, gzip, until the Overview is complete with its charts. */
const MOST_SCRIPT_BYTES = 280_000
/** At the next visit, data aside. */
const MOST_AGAIN_BYTES = 40_000

test('the Overview with its charts is light, lighter at the next visit, and asks ahead what it shows first', async () => {
  await using server = await startTestServer()
  const { app } = server
  await using screen = await openScreen(server.url)
  const { page } = screen
  const sent = await measureTransfers(page)
  const { body: domain } = await app.call('POST', '/v1/domains', { body: { name: 'shop.example' } })
  await app.collect(domain.token, { events: [{ vendor: 'Shop', event: 'view', params: {} }] })
  await app.run('flush')
  await openAs(screen, app.owner.apiKey, '/')
  await screen.sees('region', 'Verdict')
  await page.waitForSelector('figure svg, [role=figure] svg')
  const first = sent.take()
  expect(first.scriptBytes).toBeGreaterThan(100_000)
  expect(first.scriptBytes).toBeLessThan(MOST_SCRIPT_BYTES)

  const asked = askersOf(page, server.url)
  await page.goto(`${server.url}/`)
  await screen.sees('region', 'Verdict')
  const again = sent.take()
  expect(again.scriptBytes + again.otherBytes).toBeLessThan(MOST_AGAIN_BYTES)
  for (const address of ['/v1/whoami', ...overviewPreloadUrls]) {
    const [first, ...others] = asked.get(address) ?? []
    expect([address, first]).toEqual([address, expect.stringMatching(/\/first-/)])
    // The stream asks for issues once more, since it may have missed some.
    if (!address.startsWith('/v1/issues')) expect([address, others]).toEqual([address, []])
  }
})

/** Which script asked the server for what from now on: addresses of scripts, by that of the question. */
function askersOf(page: Page, url: string): Map<string, string[]> {
  const askers = new Map<string, string[]>()
  page.on('request', (request) => {
    const address = request.url().replace(url, '')
    const script = request.initiator()?.stack?.callFrames[0]?.url ?? ''
    askers.set(address, [...(askers.get(address) ?? []), script])
  })
  return askers
}
