import { afterAll, expect, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { buildDigest } from '../../src/digest/build-digest.ts'
import { aDay, aQuietDay } from '../../src/digest/digest.fixture.ts'
import type { DigestFacts } from '../../src/digest/digest-facts.ts'
import { subscribe, subscriptionOf } from '../../src/digest/store.ts'
import { UNSUBSCRIBE_PATH, unsubscribeRoutes, unsubscribeToken } from '../../src/digest/unsubscribe.ts'
import { performer } from '../../src/http/perform-call.ts'
import { router } from '../../src/http/router.ts'
import { LOGO_DATA_URL } from '../../src/mail/mail-logo.ts'
import { renderMailHtml } from '../../src/mail/render-mail-html.ts'
import { cast, memoryDb, testBox, testClock } from '../fixtures.ts'
import { startBrowser } from './chromium.ts'
import { FAULTS } from './page-defects.ts'

const chromium = await startBrowser()
afterAll(() => chromium[Symbol.asyncDispose]())
const publicUrl = 'https://watch.example'

/** Digest data with long names that can't be broken into lines. */
function longNames(): DigestFacts {
  const long = 'x'.repeat(190)
  const day = aDay({ orgName: long })
  const issues = day.issues.opened.map((issue) => ({
    ...issue,
    title: long,
    sample: [[long, long]] as [string, string][],
  }))
  const names = day.traffic.names.map((name) => ({
    ...name,
    vendor: `${long}${name.vendor}`.slice(0, 200),
    now: name.now * 1e6,
  }))
  return { ...day, traffic: { ...day.traffic, names, fresh: names }, issues: { ...day.issues, opened: issues } }
}

const DAYS: [name: string, facts: DigestFacts, context: string][] = [
  ['everybody', aDay(), ''],
  ['executive', aDay(), 'executive'],
  ['marketing', aDay(), 'marketing, Meta Pixel, purchase and checkout'],
  ['developer', aDay(), 'developer'],
  ['privacy', aDay(), 'privacy'],
  ['quiet', aQuietDay(), ''],
  ['long', longNames(), 'developer'],
]

/** Folder to which screenshots are saved for visual checks; none by default. */
const PICTURES = process.env.DIGEST_PICTURES

test('a digest is readable on phones and desktops, in light and dark mode, and loads no resources', async () => {
  const page = await chromium.browser.newPage()
  const requests: string[] = []
  page.on('request', (request) => requests.push(request.url()))
  for (const [name, facts, context] of DAYS) {
    const html = renderMailHtml(
      buildDigest(facts, { context, publicUrl, unsubscribeUrl: `${publicUrl}/u`, because: 'Daily.' }),
      LOGO_DATA_URL,
    )
    for (const width of [320, 800]) {
      for (const scheme of ['light', 'dark'] as const) {
        await page.setViewport({ width, height: 900 })
        await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }])
        await page.setContent(html)
        expect(await page.evaluate(FAULTS)).toEqual([])
        const background = await page.$eval('body', (body) => getComputedStyle(body).backgroundColor)
        expect(background).toBe(scheme === 'light' ? 'rgb(243, 244, 246)' : 'rgb(15, 17, 19)')
        if (!PICTURES) continue
        mkdirSync(PICTURES, { recursive: true })
        await page.screenshot({ path: join(PICTURES, `${name}-${width}-${scheme}.png`), fullPage: true })
      }
    }
  }
  expect(requests.filter((url) => !/^(?:about|data):/.test(url))).toEqual([])
})

test('the unsubscribe link of a digest opens a page with an unsubscribe button', async () => {
  const db = memoryDb()
  const clock = testClock()
  const { alice } = cast(db, clock)
  subscribe(db, alice, { subscribed: true })
  const routes = router(unsubscribeRoutes({ db, clock, box: testBox }), {
    authenticate: () => Promise.reject(new Error('authentication is not expected')) as never,
    perform: performer({ db, audit: () => {} }),
  })
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: (request) => routes.handle(request) })
  try {
    const page = await chromium.browser.newPage()
    const errors: string[] = []
    page.on('console', (message) => void errors.push(message.text()))
    await page.setViewport({ width: 320, height: 600 })
    const { orgId, userId } = alice
    const token = unsubscribeToken(testBox, { kind: 'digest', orgId, userId })
    await page.goto(`http://127.0.0.1:${server.port}${UNSUBSCRIBE_PATH}?t=${token}`)
    expect(await page.evaluate(FAULTS)).toEqual([])
    expect(await page.$eval('body', (body) => body.textContent)).toContain(
      'You will no longer receive the digest for Acme',
    )
    expect(subscriptionOf(db, alice).subscribed).toBe(true)
    await Promise.all([page.waitForNavigation(), page.locator('button').click()])
    expect(await page.$eval('body', (body) => body.textContent)).toContain(
      'You will no longer receive the digest for Acme',
    )
    expect(await page.evaluate(FAULTS)).toEqual([])
    expect(subscriptionOf(db, alice).subscribed).toBe(false)
    expect(errors.filter((text) => !text.includes('favicon'))).toEqual([])
  } finally {
    await server.stop(true)
  }
})
