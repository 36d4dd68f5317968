import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { Page } from 'puppeteer-core'
import { recordSightings } from '../../src/compliance/store.ts'
import { PLAIN_PRIVACY } from '../../src/conditions/privacy-settings.ts'
import { createDomain } from '../../src/domains/store.ts'
import { receiver } from '../../src/transport/receiver.fixture.ts'
import { startBrowser, type TestBrowser } from '../browser/chromium.ts'
import { axeFindings } from './axe.ts'
import { layoutFaults } from './layout-faults.ts'
import { waitForPage } from './navigate.ts'
import { openScreen, type Screen } from './screen.ts'
import { create, openAs, startTestServer, type TestServer } from './test-server.ts'

const WIDTHS = [1280, 360]

let browser: TestBrowser
beforeAll(async () => {
  browser = await startBrowser()
})
afterAll(() => browser[Symbol.asyncDispose]())

let server: TestServer
beforeEach(async () => {
  server = await startTestServer({ outboundAllow: '127.0.0.1' })
})

/** Opens a page with an API key, by default the owner's, and runs the steps on it. */
async function onPage(
  path: string,
  steps: (screen: Screen, page: Page) => Promise<void>,
  { key = server.app.owner.apiKey, width = 1280 } = {},
) {
  await using _server = server
  await using screen = await openScreen(server.url, browser.browser)
  await screen.page.setViewport({ width, height: 900 })
  await openAs(screen, key, path)
  await waitForPage(screen.page)
  await steps(screen, screen.page)
}

/** Returns whether the whole text is visible in the window: no ancestor cuts it off. */
const isWhole = (page: Page, text: string) =>
  page.evaluate((text) => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const at = node.textContent?.indexOf(text) ?? -1
      if (at === -1 || node.parentElement?.closest('.heard')) continue
      const range = document.createRange()
      range.setStart(node, at)
      range.setEnd(node, at + text.length)
      const box = range.getBoundingClientRect()
      let inside = box.right <= window.innerWidth
      for (let parent = node.parentElement; parent && parent !== document.body; parent = parent.parentElement) {
        if (getComputedStyle(parent).overflow === 'visible') continue
        const { left, right, top, bottom } = parent.getBoundingClientRect()
        inside &&= box.left >= left - 1 && box.right <= right + 1 && box.top >= top - 1 && box.bottom <= bottom + 1
      }
      if (inside) return true
    }
    return false
  }, text)

const faultsOf = async (page: Page) => [...(await layoutFaults(page)), ...(await axeFindings(page))]

const LONG_NAME = 'Purchases on all shops of the group have a value and a currency'
const ENDS = ['break the rule on shop.example', 'break the rule on outlet.example']

describe('the telling end of a title', () => {
  test.each(WIDTHS)('is seen in the list of issues and on the overview at %i px', async (width) => {
    server.openIssues(
      ENDS.map((end) => ({ title: `${LONG_NAME}: Google Analytics 4 purchase events ${end}`, severity: 'critical' })),
    )
    await create(server.app, '/v1/domains', { name: 'shop.example' })
    await onPage(
      '/issues',
      async (screen, page) => {
        await screen.sees('link', `${LONG_NAME}: Google Analytics 4 purchase events ${ENDS[0]}`)
        for (const end of ENDS) expect({ end, isWhole: await isWhole(page, end) }).toEqual({ end, isWhole: true })
        expect(await faultsOf(page)).toEqual([])
        await screen.open('/')
        await screen.sees('link', `${LONG_NAME}: Google Analytics 4 purchase events ${ENDS[1]}`)
        for (const end of ENDS) expect({ end, isWhole: await isWhole(page, end) }).toEqual({ end, isWhole: true })
        await screen.press('Search')
        await page.waitForSelector('[role=dialog] input')
        await page.keyboard.type('Purchases')
        await page.waitForFunction(() => document.querySelectorAll('[role=option]').length > 1)
        for (const end of ENDS) expect({ end, isWhole: await isWhole(page, end) }).toEqual({ end, isWhole: true })
      },
      { width },
    )
  })
})

/** Delivers a notification of an issue to a webhook that answers 400 with a long text. */
async function failedDelivery(url: string): Promise<{ delivery: string; integration: string; issue: string }> {
  const { app } = server
  const { id: integration } = await create(app, '/v1/integrations', {
    provider: 'webhook',
    label: 'On call',
    config: { url },
  })
  const domain = await create(app, '/v1/domains', { name: 'shop.example' })
  await create(app, '/v1/alerts', {
    name: 'Purchases have a value',
    alertType: 'data_validation',
    conditions: { logic: 'any', items: [{ parameter: 'value', op: 'is_blank' }] },
    period: '1h',
    domainId: domain.id,
    channels: [{ type: 'webhook', target: integration }],
  })
  await app.collect(domain.token, {
    page: { url: 'https://shop.example/' },
    events: [{ vendor: 'Shop', event: 'buy', params: { to: 'x' } }],
  })
  app.clock.advance(1)
  await app.run('evaluate', 'deliver')
  const { body } = await app.call('GET', '/v1/notifications/deliveries')
  return { delivery: body.deliveries[0].id, integration, issue: body.deliveries[0].issueId }
}

const REASON =
  'connection refused by the mail server of the receiver: 550 5.7.1 the sender is not on the list of addresses that may ' +
  'write to this group, and the message was returned to the administrator of the group for review, who has to allow it'

describe('deliveries', () => {
  test.each(WIDTHS)('show the whole reason of a failure, and open their attempts, at %i px', async (width) => {
    await using receiving = receiver(() => new Response('{"error":"unknown hook"}', { status: 400 }))
    const { delivery } = await failedDelivery(receiving.url)
    server.app.app.db.prepare('UPDATE delivery SET lastError = ?').run(REASON)
    await onPage(
      '/deliveries',
      async (screen, page) => {
        await screen.sees('table', 'Deliveries')
        expect(await isWhole(page, REASON)).toBe(true)
        expect(await faultsOf(page)).toEqual([])
        await (await page.waitForSelector('tbody a[data-row-link]'))?.click()
        await screen.sees('heading', 'Issue opened: Purchases have a value')
        expect(new URL(page.url()).pathname).toBe(`/deliveries/${delivery}`)
        await screen.reads('answered 400')
        await screen.reads('"error": "unknown hook"')
        await screen.reads(`webhook-id: ${delivery}`)
        await screen.reads('"type": "issue.opened"')
        await screen.reads(`POST ${new URL(receiving.url).origin}/***`)
        expect(await faultsOf(page)).toEqual([])
      },
      { width },
    )
  })

  test('are filtered by status, channel and time in the URL, which integrations and issues link to', async () => {
    await using receiving = receiver(() => new Response('no', { status: 400 }))
    const { integration, issue, delivery } = await failedDelivery(receiving.url)
    await onPage('/integrations', async (screen, page) => {
      await page.waitForSelector(`main a[href="/deliveries?channel=${integration}"]`)
      await page.click(`main a[href="/deliveries?channel=${integration}"]`)
      await screen.sees('link', 'Issue opened: Purchases have a value')
      await screen.sees('button', 'Remove filter Channel')
      await screen.reads('On call')
      await screen.open(`/deliveries?channel=${integration}&status=delivered`)
      await screen.reads('No deliveries match these filters in this time range.')
      await screen.press('Clear filters')
      await screen.sees('link', 'Issue opened: Purchases have a value')
      await screen.open('/deliveries?to=1000')
      await screen.reads('No deliveries match these filters in this time range.')
      await screen.open(`/issues/${issue}`)
      await page.waitForSelector(`main a[href="/deliveries/${delivery}"]`)
      await screen.press('0 sent, show deliveries', 'link')
      await screen.sees('link', 'Issue opened: Purchases have a value')
      expect(new URL(page.url()).search).toContain(`issueId=${issue}`)
    })
  })

  test('show viewers neither targets nor requests', async () => {
    await using receiving = receiver(() => new Response('private answer', { status: 400 }))
    const { delivery } = await failedDelivery(receiving.url)
    const key = server.keyOf('viewer')
    await onPage(
      `/deliveries/${delivery}`,
      async (screen, page) => {
        await screen.reads('HTTP 400')
        const text = await page.evaluate(() => document.body.textContent)
        for (const secret of ['private answer', '127.0.0.1', 'On call', 'Replay']) expect(text).not.toContain(secret)
        await screen.open('/deliveries')
        await screen.sees('table', 'Deliveries')
        expect(await page.$('input[aria-label="Channel"]')).toBeNull()
      },
      { key },
    )
  })
})

/** Records findings for one domain. */
function seeFindings(findings: readonly { vendor: string; key: string; kind?: string; paths?: string[] }[]): string {
  const { app } = server
  const { orgId } = app.owner
  const domainId = createDomain(app.app.db, app.clock, orgId, { name: 'shop.example' })
  const at = app.clock.now()
  recordSightings(
    app.app.db,
    findings.map(({ kind = 'email', ...rest }) => ({
      orgId,
      domainId,
      kind,
      count: 1,
      example: 'jane@example.com',
      firstSeenAt: at - 1000,
      lastSeenAt: at,
      ...rest,
    })),
    { privacyOf: () => PLAIN_PRIVACY },
  )
  return domainId
}

const actionsOf = async (query = '') =>
  (await server.app.call('GET', `/v1/compliance/findings?limit=200${query}`)).body.findings

describe('compliance', () => {
  test('groups findings by vendor and page, filters them, and links to their events', async () => {
    const domainId = seeFindings([
      { vendor: 'GA4', key: 'ep.user', paths: ['/checkout'] },
      { vendor: 'GA4', key: 'ep.mail', paths: ['/checkout', '/account'] },
      { vendor: 'Meta', key: 'em' },
    ])
    await onPage('/compliance', async (screen, page) => {
      const headings = () => page.$$eval('main h2', (all) => all.map((one) => one.textContent))
      await screen.reads('ep.user')
      expect(await headings()).toEqual(['GA4', 'Meta'])
      expect(await faultsOf(page)).toEqual([])
      const events = await page.$$eval('main li a', (all) => all.map((one) => one.getAttribute('href') ?? ''))
      expect(events.find((one) => one.includes('ep.user'))).toMatch(
        new RegExp(`^/explore/events\\?vendor=GA4&domainId=${domainId}&param=ep.user&from=\\d+&to=\\d+$`),
      )
      await screen.open('/compliance?by=page')
      await screen.reads('em')
      expect(await headings()).toEqual(['/checkout', '/account', 'Page unknown'])
      await screen.open('/compliance?q=meta')
      await screen.reads('em')
      expect(await headings()).toEqual(['Meta'])
      await screen.open('/compliance?page=/account')
      await screen.sees('button', 'Remove filter Page')
      await screen.reads('ep.mail')
      expect(await page.$$eval('main li h3', (all) => all.length)).toBe(1)
    })
  })

  test('decides selected findings of several groups at once, and undoes it', async () => {
    seeFindings([
      { vendor: 'GA4', key: 'ep.user' },
      { vendor: 'GA4', key: 'ep.mail' },
      { vendor: 'Meta', key: 'em' },
    ])
    await onPage('/compliance', async (screen, page) => {
      await screen.press('Select E-mail address in ep.user, GA4', 'checkbox')
      await screen.press('Select E-mail address in em, Meta', 'checkbox')
      await screen.sees('toolbar', 'Selected findings')
      await screen.reads('2 selected')
      await screen.press('Ignore selected')
      await screen.reads('2 findings ignored.')
      while ((await actionsOf('&action=ignore')).length !== 2) await Bun.sleep(20)
      await screen.press('Undo')
      while ((await actionsOf('&action=watch')).length !== 3) await Bun.sleep(20)
      await screen.press('Select E-mail address in ep.mail, GA4', 'checkbox')
      await screen.press('File issues')
      await screen.reads('Issue filed.')
      expect((await actionsOf('&action=file')).length).toBe(1)
      expect(await page.$('[role=toolbar]')).toBeNull()
    })
  })

  test('shows 2,000 findings of 40 vendors, of which it loads only the first', async () => {
    seeFindings(
      Array.from({ length: 2000 }, (_, n) => ({
        vendor: `Vendor ${String(n % 40).padStart(2, '0')}`,
        key: `key ${n}`,
      })),
    )
    await onPage(
      '/compliance',
      async (screen, page) => {
        await screen.reads('key 0')
        expect(await page.$$eval('main h2', (all) => all.length)).toBe(40)
        expect(await page.$$eval('main li h3', (all) => all.length)).toBe(50)
        expect(await faultsOf(page)).toEqual([])
        await screen.press('Vendor 07')
        await screen.reads('key 7')
        expect(await page.$$eval('main li h3', (all) => all.length)).toBe(100)
      },
      { width: 360 },
    )
  })

  test('offers viewers no decision', async () => {
    seeFindings([{ vendor: 'GA4', key: 'ep.user' }])
    const key = server.keyOf('viewer')
    await onPage(
      '/compliance',
      async (screen, page) => {
        await screen.sees('list', 'Findings')
        await screen.sees('link', 'Show events')
        expect(await page.$('main input[type=checkbox]')).toBeNull()
        expect(await screen.has('button', 'Ignore')).toBe(false)
      },
      { key },
    )
  })
})
