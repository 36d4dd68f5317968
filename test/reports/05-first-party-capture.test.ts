import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type CaptureSite, captureSite } from '../browser/capture-site.ts'
import { startBrowser, type TestBrowser } from '../browser/chromium.ts'
import { until } from '../run-program.ts'
import { describeReport, reportText } from './bug-report.ts'

/** Expected vendors by the event that the page sends to a host of the shop. */
const EXPECTED = {
  sub_adobe_websdk: 'Adobe Experience Platform Web SDK',
  third_adobe_websdk: 'Adobe Experience Platform Web SDK',
  pageView: 'Adobe Analytics',
  sub_rudder: 'RudderStack',
  sub_segment: 'Segment',
  sub_posthog: 'PostHog',
  sub_amplitude: 'Amplitude',
  sub_mixpanel: 'Mixpanel',
  struct: 'Snowplow',
  sub_plausible: 'Plausible',
  sub_umami: 'Umami',
  pageview: 'Matomo',
  sub_piano: 'Piano Analytics',
  sub_ga4: 'Google Analytics 4',
  conversion: 'Google Ads',
  sub_tealium: 'Tealium EventStream',
}

describeReport('first-party collectors and the browser script', () => {
  let site: CaptureSite
  let chromium: TestBrowser

  beforeAll(async () => {
    site = await captureSite()
    chromium = await startBrowser(['--host-resolver-rules=MAP * 127.0.0.1'])
  })
  afterAll(async () => {
    await chromium[Symbol.asyncDispose]()
    await site[Symbol.asyncDispose]()
  })

  test('every request that `decode` reads is captured', async () => {
    const script = reportText('05-first-party-capture.page.js')
      .replaceAll('shop.example', 'shop.test')
      .replaceAll(/https:\/\/([\w.]+)(?=\/[\w])/g, (_, host) => site.url(host, ''))
    const page = await chromium.browser.newPage()
    await page.goto(site.page('first-party', `<!doctype html><html><head>HEAD<script>${script}</script></head></html>`))
    const events = await until('all events', async () => {
      const stored = (await site.events()).filter(({ kind }) => kind === 'event')
      return stored.length >= Object.keys(EXPECTED).length + 1 && stored
    })
    await page.close()
    const found = events.filter(({ vendor }) => vendor !== 'Tagwarden').map(({ event, vendor }) => [event, vendor])
    expect(Object.fromEntries(found)).toEqual(EXPECTED)
  })
})
