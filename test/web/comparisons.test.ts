import { beforeAll, expect, test } from 'bun:test'
import { create, openAs, sharedTestServer } from './test-server.ts'

const here = sharedTestServer()

const SESSIONS = 40
const MINUTE_MS = 60_000
let change: string

/** Two releases of a shop: the second one loses the currency of purchases. Another domain has no traffic. */
beforeAll(async () => {
  const { app } = here.server
  // The clock of the browser must not be behind.
  app.clock.set(Date.now() - 10 * MINUTE_MS)
  await create(app, '/v1/domains', { name: 'blog.example' })
  const { id, token } = await create(app, '/v1/domains', { name: 'shop.example' })
  for (const version of [1, 2]) {
    const params = { 'ep.value': '5', ...(version === 1 && { 'ep.currency': 'EUR' }) }
    for (let session = 0; session < SESSIONS; session++) {
      await app.collect(token, {
        version,
        sessionId: `s${version}-${session}`,
        page: { url: 'https://shop.example/thanks' },
        events: [
          { vendor: 'Google Analytics 4', event: 'purchase', params },
          { vendor: 'Meta Pixel', event: 'PageView' },
        ],
      })
    }
    app.clock.advance(MINUTE_MS)
  }
  await app.run('flush', 'detect releases')
  change = (await create(app, '/v1/changes', { domainId: id, source: 'by_hand', ref: 'r2', title: 'Release 2' })).id
})

async function open(path: string): Promise<void> {
  const { screen, server } = here
  await screen.page.setViewport({ width: 1280, height: 900 })
  await openAs(screen, server.app.owner.apiKey, path)
}

test('Compare opens with the last two releases of the domain that changed last, and names what was lost', async () => {
  const { screen } = here
  await open('/compare')
  await screen.sees('table', 'Compared events')
  const domain = await screen.page.$eval(
    'select:has(option[translate=no])',
    ({ selectedOptions }) => selectedOptions[0]?.text,
  )
  expect(domain).toBe('shop.example')
  for (const text of ['Release 1', 'Release 2', 'Google Analytics 4 purchase: ep.currency']) await screen.reads(text)
  // From a share to its events.
  const share = await screen.page.waitForSelector('a[aria-label$="purchase: ep.currency, Release 1"]')
  expect(await share?.evaluate(({ textContent }) => textContent)).toMatch(/^100\s%$/)
  await share?.click()
  await screen.sees('heading', 'Events')
  const { searchParams } = new URL(screen.page.url())
  expect(searchParams.get('version')).toBe('1')
})

test('Before consent lists the vendors of a domain with their counts', async () => {
  const { screen } = here
  await open('/compliance/before-consent')
  await screen.press('Domain', 'combobox')
  const field = await screen.page.$('search select')
  const shop = await field?.evaluate((select) => {
    const { options } = select as HTMLSelectElement
    return [...options].find(({ text }) => text === 'shop.example')?.value
  })
  await field?.select(shop ?? '')
  await screen.sees('table', 'Before consent')
  const row = await screen.page.$$eval('table[aria-label="Before consent"] tbody tr', (rows) =>
    rows.map(({ textContent }) => textContent).find((text) => text?.includes('Meta Pixel')),
  )
  expect(row).toContain(String(2 * SESSIONS))
})

test('a change without a verdict says when it is due, and leads to the comparison of its window', async () => {
  const { screen } = here
  await open(`/changes/${change}`)
  await screen.sees('heading', 'Release 2')
  await screen.reads('No verdict yet.')
  await screen.press('Compare before and after', 'link')
  await screen.sees('heading', 'Compare')
  expect(new URL(screen.page.url()).searchParams.get('by')).toBe('periods')
})
