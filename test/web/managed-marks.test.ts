import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startBrowser, type TestBrowser } from '../browser/chromium.ts'
import { axeFindings } from './axe.ts'
import { openScreen } from './screen.ts'
import { openAs, startTestServer, type TestServer } from './test-server.ts'

const FILE = 'tags/shop.yaml'
const ALERT = {
  name: 'Purchase without an id',
  alertType: 'data_validation',
  period: '1h',
  conditions: { logic: 'any', items: [{ parameter: 'ep.transaction_id', op: 'is_blank' }] },
  channels: [{ type: 'email', target: 'owners' }],
}

let browser: TestBrowser
let server: TestServer
/** Paths of the managed items. */
let items: string[]
beforeAll(async () => {
  browser = await startBrowser()
  server = await startTestServer()
  const { call } = server.app
  const make = async (path: string, body: object) => (await call('POST', path, { body })).body.id as string
  const domain = await make('/v1/domains', { name: 'shop.example' })
  await make('/v1/domains', { name: 'By hand' })
  const recording = { title: 'Buy', steps: [{ type: 'navigate', url: 'https://shop.example/' }] }
  const flow = await make('/v1/flows/tests', { name: 'Buy a shirt', domainId: domain, recording, expectations: [] })
  const alert = await make('/v1/alerts', ALERT)
  const managed = [domain, flow, alert].map((id) => ({ id, key: 'main', file: FILE }))
  const { status, body } = await call('POST', '/v1/org/managed', { body: { items: managed } })
  if (status >= 300) throw new Error(JSON.stringify(body))
  items = [`/domains/${domain}`, `/tests/${flow}`, `/alerts/${alert}`]
})
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  await server?.[Symbol.asyncDispose]()
})

const THEMES = ['light', 'dark'] as const
const WIDTHS = [360, 768, 1280]

test.each(THEMES.flatMap((theme) => WIDTHS.map((width) => [theme, width] as const)))(
  'items that a file manages name it in lists and on their pages, in the %s theme at %d px',
  async (theme, width) => {
    await using screen = await openScreen(server.url, browser.browser)
    const { page } = screen
    await page.setViewport({ width, height: 900 })
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }])
    const marks = () =>
      page.$$eval(
        'main tbody tr[data-id]',
        (rows, file) => rows.filter((row) => row.textContent?.includes(file)).length,
        FILE,
      )
    for (const list of ['/domains', '/tests', '/alerts']) {
      await openAs(screen, server.app.owner.apiKey, list)
      await screen.reads(`Managed by file ${FILE}`)
      expect([list, await marks()]).toEqual([list, 1])
      expect([list, await axeFindings(page)]).toEqual([list, []])
    }
    for (const item of items) {
      await page.goto(server.url + item)
      await screen.reads('Changes made here are overwritten')
      await screen.reads(FILE)
      expect([item, await axeFindings(page)]).toEqual([item, []])
    }
  },
)
