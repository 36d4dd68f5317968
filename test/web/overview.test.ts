import { afterAll, beforeAll, expect, test } from 'bun:test'
import { HOUR_MS } from '../../src/core/clock.ts'
import { startBrowser, type TestBrowser } from '../browser/chromium.ts'
import { axeFindings } from './axe.ts'
import { openScreen, type Screen } from './screen.ts'
import { openAs, startTestServer, type TestServer } from './test-server.ts'

/*
 * Tests the Overview on a server that is set up step by step. Each test continues from the state that the previous one
 * left.
 */
const HOURS = 48
const TEMPLATES = ['A conversion stopped', 'A parameter is blank', 'Personal data is sent']

let server: TestServer
let browser: TestBrowser
let viewer: string
let shop: { id: string; token: string }
beforeAll(async () => {
  ;[server, browser] = await Promise.all([startTestServer(), startBrowser()])
  // The clock starts in the past, so that hours of events can be sent without waiting.
  server.app.clock.set(Date.now() - HOURS * HOUR_MS)
  viewer = server.keyOf('viewer')
})
afterAll(async () => {
  await browser[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
})

async function open(path = '/', key = server.app.owner.apiKey): Promise<Screen> {
  const screen = await openScreen(server.url, browser.browser)
  await screen.page.setViewport({ width: 1280, height: 900 })
  await openAs(screen, key, path)
  return screen
}

/** Expects no axe findings, no errors and no horizontal scrolling, even at phone width. */
async function expectNoFaults({ page, errors }: Screen): Promise<void> {
  await page.waitForFunction(() => !document.querySelector('[aria-busy=true]'))
  expect(await axeFindings(page)).toEqual([])
  await page.setViewport({ width: 360, height: 800 })
  expect(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)).toBeLessThanOrEqual(0)
  expect(errors).toEqual([])
}

test('without a domain, the page offers to add one to users with permission', async () => {
  await using asViewer = await open('/', viewer)
  await asViewer.reads('requires the Admin role or higher')
  expect(await asViewer.has('link', 'Add a domain')).toBe(false)
  await using screen = await open()
  await screen.reads('Monitor your first website')
  await expectNoFaults(screen)
  await screen.press('Add a domain', 'link')
  await screen.sees('heading', 'Add a domain')
})

test('the page waits for the first event of a domain, and reports a project without domains', async () => {
  shop = (await server.app.call('POST', '/v1/domains', { body: { name: 'shop.example' } })).body
  await using screen = await open()
  await screen.reads('Waiting for the first event')
  await expectNoFaults(screen)
  const { id } = (await server.app.call('POST', '/v1/projects', { body: { name: 'Empty' } })).body
  await screen.open(`/?project=${id}`)
  await screen.reads('This project has no domains.')
  await screen.sees('link', 'Edit projects')
  expect(await screen.page.evaluate(() => document.body.textContent)).not.toContain('All good')
  await screen.open('/')
  await screen.press('Open domain', 'link')
  await screen.sees('heading', 'shop.example')
})

test('without an alert, the page offers three templates to users who may create alerts', async () => {
  for (let hour = 0; hour < HOURS; hour++) {
    const events = Array.from({ length: 40 }, () => ({ vendor: 'Shop', event: 'purchase' }))
    await server.app.collect(shop.token, { events })
    server.app.clock.advance(HOUR_MS)
    await server.app.run('flush')
  }
  await using asViewer = await open('/', viewer)
  await asViewer.reads('No alerts yet.')
  await using screen = await open()
  for (const name of TEMPLATES) {
    await screen.sees('link', name)
    expect(await asViewer.has('link', name)).toBe(false)
  }
  await expectNoFaults(screen)
  server.openIssues([{ title: 'The whole traffic fell', severity: 'low' }])
  await screen.sees('link', 'The whole traffic fell')
  await screen.press('A parameter is blank', 'link')
  await screen.sees('heading', 'New alert')
  await screen.sees('combobox', 'Parameter 1')
  await server.app.call('PATCH', '/v1/issues/iss_0', { body: { status: 'resolved' } })
})

test('the page shows when signals will finish learning', async () => {
  const { signals } = (await server.app.call('GET', '/v1/auto/signals')).body
  expect(signals).toMatchObject([{ event: 'purchase', state: 'learning', learningUntil: expect.any(Number) }])
  await using screen = await open()
  await screen.reads('Signals are still learning. Alerts are active.')
  await screen.reads('Ready by')
  await expectNoFaults(screen)
})
