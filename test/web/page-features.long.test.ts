import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { zipOf } from '../../src/browser/zip.fixture.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/core/clock.ts'
import {
  CONTAINER,
  KEY_FILE,
  tagManagerServer,
} from '../../src/google-tag-manager/google-tag-manager-server.fixture.ts'
import { startBrowser, type TestBrowser } from '../browser/chromium.ts'
import { temporaryFolder } from '../run-program.ts'
import { axeFindings } from './axe.ts'
import { openScreen, type Screen } from './screen.ts'
import { openAs, startTestServer, type TestServer } from './test-server.ts'

/* Tests secondary features of individual pages. */

const tagManager = tagManagerServer({ now: Date.now })
// The test's clock does not move, so the quota must be high enough that no call is delayed.
tagManager.behaviour.quota = 10_000
const SETTINGS = { ...tagManager.operator, TAG_MANAGER_CALLS_PER_MINUTE: '1000', outboundAllow: '127.0.0.0/8' }

let server: TestServer
let browser: TestBrowser
let shop: { id: string; token: string }
beforeAll(async () => {
  ;[server, browser] = await Promise.all([startTestServer(SETTINGS), startBrowser()])
  shop = (await server.app.call('POST', '/v1/domains', { body: { name: 'shop.example' } })).body
  const now = server.app.clock.now()
  const send = async (at: number, ...events: [event: string, params: Record<string, string>][]) => {
    server.app.clock.set(at)
    const sent = events.map(([event, params]) => ({ vendor: 'Shop', event, params }))
    expect((await server.app.collect(shop.token, { events: sent })).status).toBe(202)
    server.app.clock.advance(MINUTE_MS)
    await server.app.run('flush')
  }
  await send(now - 3 * DAY_MS, ['purchase', { value: '1', old_id: 'a' }])
  await send(now - HOUR_MS, ['purchase', { value: '2', $new_id: 'b' }])
  const visit = (path: string, events: object[]) =>
    server.app.collect(shop.token, { sessionId: 'visit-1', page: { url: `https://shop.example${path}` }, events })
  await visit('/', [{ vendor: 'Shop', event: 'page_view' }])
  server.app.clock.advance(MINUTE_MS)
  await visit('/cart', [{ vendor: 'Shop', event: 'view_cart' }])
  server.app.clock.advance(MINUTE_MS)
  await server.app.run('flush')
  await Bun.write(HAR, JSON.stringify(har))
  await Bun.write(HAR_ZIP, zippedHar())
  server.app.clock.set(now)
})
afterAll(async () => {
  await browser[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
  await tagManager[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

const folder = temporaryFolder()
const HAR = join(folder.path, 'visit.har')
const har = {
  log: {
    pages: [{ id: 'p1', title: 'https://shop.example/thanks' }],
    entries: [
      {
        pageref: 'p1',
        startedDateTime: '2026-01-05T12:00:01Z',
        request: {
          method: 'GET',
          headers: [{ name: 'Referer', value: 'https://shop.example/' }],
          url: 'https://www.google-analytics.com/g/collect?v=2&tid=G-1&en=purchase&cu=EUR',
        },
      },
    ],
  },
}

const HAR_ZIP = join(folder.path, 'visit.har.zip')
/** Returns an archive that contains the HAR file of the same visit, and a request whose attachment is missing. */
const zippedHar = () => {
  const [first] = har.log.entries
  const request = { ...first?.request, method: 'POST', postData: { mimeType: 'text/plain', text: '', _file: 'a.dat' } }
  return zipOf([
    { name: 'har.har', content: JSON.stringify({ log: { ...har.log, entries: [first, { ...first, request }] } }) },
  ])
}

async function open(path: string, key = server.app.owner.apiKey): Promise<Screen> {
  const screen = await openScreen(server.url, browser.browser)
  await screen.page.setViewport({ width: 1280, height: 900 })
  await openAs(screen, key, path)
  return screen
}

const isSideways = ({ page }: Screen) => page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth)

describe('the dictionary', () => {
  test('lists new and missing keys, and offers a rule for each', async () => {
    await using screen = await open('/explore/dictionary')
    const { page } = screen
    const keys = (text: string) =>
      page.waitForFunction(
        (text) => [...document.querySelectorAll('tbody th code')].map((code) => code.textContent).join() === text,
        {},
        text,
      )
    await screen.press('New')
    await keys('$new_id')
    expect(new URL(page.url()).search).toBe('?seen=new')
    await screen.press('Missing')
    await keys('old_id')
    await page.reload()
    await keys('old_id')
    expect(await axeFindings(page)).toEqual([])
    await page.setViewport({ width: 360, height: 800 })
    expect(await isSideways(screen)).toBe(false)
    await screen.press('New')
    await screen.press('Alert when $new_id is blank', 'link')
    await screen.sees('heading', 'New alert')
    await screen.reads('match')
    expect(await valuesOf(screen, ['Vendor', 'Event', 'Parameter 1'])).toEqual(['Shop', 'purchase', '$$new_id'])
    expect(screen.errors).toEqual([])
  })

  test('is limited to the maximum time range of the server', async () => {
    await using screen = await open('/explore/dictionary?range=30d')
    await screen.reads('(this page covers at most 7')
    expect(await screen.has('button', 'New')).toBe(false)
    expect(screen.errors).toEqual([])
  })

  test('offers no rules to viewers', async () => {
    await using screen = await open('/explore/dictionary?seen=gone', server.keyOf('viewer'))
    await screen.reads('old_id')
    expect(await screen.has('link', 'Alert when old_id is blank')).toBe(false)
  })
})

describe('a new test', () => {
  test('is drafted from a session or a HAR file', async () => {
    await using screen = await open('/explore/sessions/visit-1?range=7d')
    const { page } = screen
    await screen.press('Create test from session', 'link')
    await screen.reads('Draft created with 2 pages and 2 tags.')
    expect(await valuesOf(screen, ['Name', 'Vendor 1', 'Event 1', 'Step 1'])).toEqual([
      'Visit of shop.example',
      'Shop',
      'page_view',
      '0',
    ])
    await screen.type('Session ID', 'nobody')
    await screen.press('Draft from session')
    await screen.reads('no events of this session are stored')
    const [har] = (await page.$$('input[type=file]')).slice(-1)
    await har?.uploadFile(HAR)
    await screen.reads('Draft created with 1 page and 1 tag.')
    expect(await valuesOf(screen, ['Vendor 1', 'Event 1'])).toEqual(['Google Analytics 4', 'purchase'])
    await har?.uploadFile(HAR_ZIP)
    await screen.reads('1 request was left out because the file does not contain its body:')
    await screen.reads('www.google-analytics.com: stored in the attachment "a.dat", which is not in the archive')
    expect(await axeFindings(page)).toEqual([])
    await screen.press('Save test')
    await screen.sees('heading', 'Visit of shop.example')
    const { tests } = (await server.app.call('GET', '/v1/flows/tests')).body
    expect(tests[0].recording.steps).toMatchObject([{ type: 'navigate', url: 'https://shop.example/thanks' }])
    expect(await axeFindings(page)).toEqual([])
  })
})

test('the tag is deployed to a container, and the selected tags are reported by name', async () => {
  const { apiKey } = server.app.owner
  const config = { serviceAccount: KEY_FILE }
  const body = { provider: 'tag_manager', label: 'Tags', config }
  const { id } = (await server.app.call('POST', '/v1/integrations', { body })).body
  tagManager.give('tags', { name: 'Purchase', type: 'gaawe' })
  tagManager.give('variables', { name: 'Order ID', type: 'v' })
  await using screen = await open(`/integrations/${id}`, apiKey)
  const { page } = screen
  await (await page.waitForSelector('aria/Domain'))?.select(shop.id)
  await screen.type('Container URL', `https://tagmanager.google.com/#/container/${CONTAINER}/workspaces/2`)
  await screen.type('Container ID', 'GTM-SHOP')
  await screen.press('Load container tags')
  await screen.press('Purchase', 'checkbox')
  await screen.press('Variables of Purchase', 'combobox')
  await screen.press('Order ID', 'option')
  await page.keyboard.press('Escape')
  expect(await axeFindings(page)).toEqual([])
  await screen.press('Deploy tag')
  await screen.reads('Deployed to workspace Tagwarden')
  await screen.reads('1 tag is reported by name.')
  const [purchase] = tagManager.space('Tagwarden')?.tags.filter(({ name }) => name === 'Purchase') ?? []
  expect(JSON.stringify(purchase)).toContain('{{Order ID}}')
  await page.setViewport({ width: 360, height: 800 })
  expect(await isSideways(screen)).toBe(false)
  await page.reload()
  await screen.type('Container URL', CONTAINER)
  await screen.reads('The most recent deployment to this container succeeded.')
  expect(screen.errors).toEqual([])
})

test('select options are translated, except for names in the data', async () => {
  await server.app.call('POST', '/v1/projects', { body: { name: 'Markets' } })
  await using screen = await open('/')
  await screen.page.evaluateOnNewDocument(() => {
    if (location.protocol === 'http:') localStorage.setItem('tagwarden-preferences', '{"language":"pseudo"}')
  })
  const found: Record<string, string[]> = {}
  for (const path of ['/', '/explore/dictionary', '/tests/new', '/audits/new', '/integrations/new', '/alerts/new']) {
    await screen.open(path)
    await screen.page.waitForFunction(() => document.querySelector('select option[translate=no]'))
    await screen.page.waitForFunction(() => !document.querySelector('[aria-busy=true]'))
    found[path] = await screen.page.$$eval('option:not([translate=no])', (options) =>
      options.map(({ text }) => text).filter((text) => /\p{L}/u.test(text) && !/^\[.*\]$/.test(text)),
    )
  }
  // Clears the preference, because the other tests use the same browser.
  await screen.page.evaluate(() => localStorage.clear())
  expect(Object.entries(found).filter(([, texts]) => texts.length > 0)).toEqual([])
})

test('an issue shows its occurrences by day', async () => {
  const conditions = { logic: 'any', items: [{ parameter: 'value', op: 'is_blank' }] }
  const rule = { name: 'No value', alertType: 'data_validation', severity: 'high', period: '1h', conditions }
  const channels = [{ type: 'email', target: 'owners' }]
  await server.app.call('POST', '/v1/alerts', { body: { ...rule, channels } })
  await server.app.collect(shop.token, { events: [{ vendor: 'Shop', event: 'refund' }] })
  server.app.clock.advance(MINUTE_MS)
  await server.app.run('flush', 'evaluate')
  const [{ id, occurrences }] = (await server.app.call('GET', '/v1/issues')).body.issues
  await using screen = await open(`/issues/${id}`)
  await screen.sees('figure', 'Occurrences by day')
  await screen.reads('Seen on 1 day, most on')
  await screen.press('Show as table')
  await screen.sees('table', 'Occurrences by day')
  const days = await screen.page.$$eval('table[aria-label="Occurrences by day"] tbody tr td:nth-child(2)', (cells) =>
    cells.map(({ textContent }) => textContent),
  )
  expect(days).toEqual([...Array(6).fill('0'), String(occurrences)])
  expect(await axeFindings(screen.page)).toEqual([])
  expect(screen.errors).toEqual([])
})

/** Returns the values of the fields with these labels. */
const valuesOf = ({ page }: Screen, names: readonly string[]) =>
  Promise.all(
    names.map(async (name) => {
      const field = await page.waitForSelector(`aria/${name}`)
      return field?.evaluate((element) => (element as HTMLInputElement).value)
    }),
  )
