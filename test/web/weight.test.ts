import { expect, test } from 'bun:test'
import { openScreen } from './screen.ts'
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
    const sent = { scripts: 0, other: 0 }
    const cdp = await page.createCDPSession()
    await cdp.send('Network.enable')
    const answers = new Map<string, { kind: string; headerBytes: number }>()
    cdp.on('Network.responseReceived', ({ requestId, type, response }) => {
      const kind = new URL(response.url).pathname.startsWith('/v1/') ? 'data' : type
      answers.set(requestId, { kind, headerBytes: response.encodedDataLength })
    })
    cdp.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
      const { kind = 'data', headerBytes = 0 } = answers.get(requestId) ?? {}
      const bytes = Math.max(0, encodedDataLength - headerBytes)
      if (kind === 'Script') sent.scripts += bytes
      else if (kind !== 'data') sent.other += bytes
    })
    await page.setExtraHTTPHeaders({ 'accept-encoding': 'gzip' })
    const { body: domain } = await app.call('POST', '/v1/domains', { body: { name: 'shop.example' } })
    await app.collect(domain.token, { events: [{ vendor: 'Shop', event: 'view', params: {} }] })
    await app.run('flush')
    await openAs(screen, app.owner.apiKey, '/')
    await screen.sees('region', 'Verdict')
    await page.waitForSelector('figure svg, [role=figure] svg')
    expect(sent.scripts).toBeGreaterThan(100_000)
    expect(sent.scripts).toBeLessThan(MOST_SCRIPT_BYTES)

    Object.assign(sent, { scripts: 0, other: 0 })
    await page.goto(`${world.url}/`)
    await screen.sees('region', 'Verdict')
    expect(sent.scripts + sent.other).toBeLessThan(MOST_AGAIN_BYTES)
  },
  TEST_MS,
)
