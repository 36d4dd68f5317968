import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'puppeteer-core'
import { ask } from '../run-program.ts'
import { type CaptureSite, captureSite, SITE_HOSTS } from './capture-site.ts'
import { startBrowser, type TestBrowser } from './chromium.ts'

let site: CaptureSite
let chromium: TestBrowser

beforeAll(async () => {
  site = await captureSite()
  chromium = await startBrowser([SITE_HOSTS])
})
afterAll(async () => {
  await chromium[Symbol.asyncDispose]()
  await site[Symbol.asyncDispose]()
})

const configure = (settings: object) =>
  ask('PUT', `${site.programUrl}/v1/domains/${site.domainId}/capture`, site.apiKey, settings)
afterEach(() => configure({ enabled: true, sampleRate: { prod: 1, dev: 1 }, sessionMode: 'memory' }))

/** Sends `count` vendor requests; 20 fill a batch, which is sent immediately. */
const send = (page: Page, name: string, count = 1) => {
  const url = site.url('metrics.vendor.test', `/g/collect?v=2&tid=G-TEST&en=ping&ep.case=${name}`)
  return page.evaluate(`Promise.all(Array.from({ length: ${count} }, () => fetch('${url}'))).then(() => {})`)
}

/** Opens a page whose clock can be advanced. */
async function open(name: string): Promise<Page> {
  const page = await chromium.browser.newPage()
  // Otherwise, the browser would cache the configuration for five minutes.
  await page.setCacheEnabled(false)
  await page.evaluateOnNewDocument(`{
    const real = performance.now.bind(performance)
    const steps = []
    const shifted = (at) => steps.reduce((sum, step) => (step.at <= at ? sum + step.ms : sum), at)
    performance.now = () => shifted(real())
    const { get } = Object.getOwnPropertyDescriptor(PerformanceEntry.prototype, 'startTime')
    Object.defineProperty(PerformanceEntry.prototype, 'startTime', { get() { return shifted(get.call(this)) } })
    window.putForward = (ms) => { steps.push({ at: real(), ms }) }
  }`)
  await page.goto(site.page(name, '<!doctype html><html><head>HEAD<title>Shop</title></head><body></body></html>'))
  await page.waitForFunction(`Symbol.for('tagwarden.installed') in window`)
  return page
}

/** Advances the clock by an hour. The next request then makes the page reload its configuration. */
async function hourLater(page: Page): Promise<void> {
  const configuration = page.waitForResponse((response) => response.url().endsWith('.json'))
  await page.evaluate(`putForward(${60 * 60_000 + 1})`)
  await send(page, 'an-hour-later', 20)
  const answer = await configuration
  // Lets the script process the response first: a later request is answered later.
  await page.evaluate(`fetch('${answer.url()}').then((later) => later.json()).then(() => {})`)
}

const everSent = () => JSON.stringify(site.sent)

test('disabling capture stops it on open pages, and enabling it takes effect on the next page', async () => {
  const page = await open('switched-off')
  await send(page, 'before', 20)
  await site.stored('before', 20)
  await configure({ enabled: false })
  await hourLater(page)
  await send(page, 'after-the-end', 20)
  await page.close()
  const none = await open('off-from-the-start')
  await send(none, 'on-no-page', 20)
  await none.close()
  await configure({ enabled: true })
  const next = await open('switched-on')
  await send(next, 'again', 20)
  await site.stored('again', 20)
  await next.close()
  expect(everSent()).toContain('an-hour-later')
  expect(everSent()).not.toMatch(/after-the-end|on-no-page/)
})

test('a changed session rate takes effect on open pages', async () => {
  const page = await open('thinned')
  await configure({ sampleRate: { prod: 0 } })
  await hourLater(page)
  await send(page, 'of-a-session-left-out', 20)
  await page.evaluate(`tagwarden('configure', { env: 'dev' })`)
  await send(page, 'of-dev', 20)
  expect((await site.stored('of-dev', 20))[0]).toMatchObject({ env: 'dev', weight: 1 })
  await page.close()
  expect(everSent()).not.toContain('of-a-session-left-out')
})

test('a changed session mode takes effect on open pages, and stored data is deleted', async () => {
  const page = await open('modes')
  await page.evaluate(`tagwarden('consent', 'granted')`)
  const stored = () => page.evaluate(`Object.keys(sessionStorage).join()`)
  await send(page, 'in-memory')
  expect(await stored()).toBe('')
  await configure({ sessionMode: 'sessionStorage' })
  await hourLater(page)
  await send(page, 'kept')
  expect(await stored()).toBe('tagwarden.session')
  await configure({ sessionMode: 'memory' })
  await hourLater(page)
  await send(page, 'in-memory-again')
  expect(await stored()).toBe('')
  // The page's own configuration overrides the settings.
  await page.evaluate(`tagwarden('configure', { sessionMode: 'sessionStorage' })`)
  await hourLater(page)
  await send(page, 'as-the-page-says')
  expect(await stored()).toBe('tagwarden.session')
  await page.close()
})
