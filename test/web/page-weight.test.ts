import { expect, test } from 'bun:test'
import type { Page } from 'puppeteer-core'
import { overviewPreloadUrls } from '../../src/web/pages/overview/preload-urls.ts'
import { openScreen } from './screen.ts'
import { openAs, startTestServer } from './test-server.ts'
import { measureTransfers } from './transfer-size.ts'

/** Maximum transfer size of all scripts that load before the Overview shows its charts, compressed with gzip. */
const MAX_SCRIPT_BYTES = 280_000
/** Maximum transfer size of the next visit, excluding API responses. */
const MAX_REVISIT_BYTES = 40_000

test('the Overview has a small transfer size, which is smaller on the next visit, and preloads its data', async () => {
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
  expect(first.scriptBytes).toBeLessThan(MAX_SCRIPT_BYTES)

  const initiators = requestInitiators(page, server.url)
  await page.goto(`${server.url}/`)
  await screen.sees('region', 'Verdict')
  const again = sent.take()
  expect(again.scriptBytes + again.otherBytes).toBeLessThan(MAX_REVISIT_BYTES)
  for (const address of ['/v1/whoami', ...overviewPreloadUrls]) {
    const [first, ...others] = initiators.get(address) ?? []
    expect([address, first]).toEqual([address, expect.stringMatching(/\/before-render-/)])
    // The stream reloads issues, because it may have missed changes to them.
    if (!address.startsWith('/v1/issues')) expect([address, others]).toEqual([address, []])
  }
})

/** Records, by URL, which scripts send each request from now on. */
function requestInitiators(page: Page, url: string): Map<string, string[]> {
  const scripts = new Map<string, string[]>()
  page.on('request', (request) => {
    const address = request.url().replace(url, '')
    const script = request.initiator()?.stack?.callFrames[0]?.url ?? ''
    scripts.set(address, [...(scripts.get(address) ?? []), script])
  })
  return scripts
}
