import { afterAll, expect, test } from 'bun:test'
import { readAudit } from '../../src/audits/input.ts'
import { beginAudit, queueAudit } from '../../src/audits/store.ts'
import { DAY_MS, HOUR_MS } from '../../src/core/clock.ts'
import { testApp } from '../app.ts'
import { installedChromium } from '../browser/installed-chromium.ts'
import { storeAudit } from '../finished-audit.ts'

const html = (body: string) =>
  new Response(`<!doctype html><title>Shop</title>${body}`, { headers: { 'content-type': 'text/html' } })
const beacon = (event: string) =>
  `navigator.sendBeacon('https://www.google-analytics.com/g/collect?v=2&tid=G-1&en=${event}&ep.x=1')`
const BANNER = `<button id="yes" onclick="document.cookie='ok=1'; ${beacon('consented').replaceAll('"', '')}">Yes</button>`

/** What the site is like: changed by tests. */
let hasPurchase = true

const site = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch(request) {
    const { pathname } = new URL(request.url)
    const consented = request.headers.get('cookie')?.includes('ok=1') ?? false
    if (pathname === '/')
      return html(`<script>${beacon('page_view')}</script><a href="/thanks">x</a><a href="/twice">y</a>`)
    if (pathname === '/thanks') return html(hasPurchase ? `<script>${beacon('purchase')}</script>` : '')
    if (pathname === '/twice') return html(`<script>${beacon('view')};${beacon('view')}</script>`)
    if (pathname.startsWith('/consent')) {
      const tag = consented ? `<script>${beacon('page_view')}</script>` : BANNER
      return html(`<script>${beacon('early')}</script>${tag}<a href="/consent/2">x</a>`)
    }
    return new Response('', { status: 404 })
  },
})
afterAll(() => site.stop(true))
const ORIGIN = `http://127.0.0.1:${site.port}`

const world = await testApp({ chromium: await installedChromium(), outboundAllow: '127.0.0.1' })
afterAll(() => world[Symbol.asyncDispose]())

async function audited(input: object) {
  const made = await world.call('POST', '/v1/audits', { body: { delayMs: 0, settleMs: 100, ...input } })
  expect(made).toMatchObject({ status: 201, body: { pages: [], differences: null } })
  await world.app.idle()
  return (await world.call('GET', `/v1/audits/${made.body.id}`)).body
}

const issuesOf = async (alertId: string) =>
  (await world.call('GET', `/v1/issues?alertId=${alertId}`)).body.issues.map(
    ({ alertType, status, title }: Record<string, string>) => ({ alertType, status, title }),
  )

test('an audit says what fired, what is missing and what came twice; the next one, what is different', async () => {
  const expect_ = [{ path: '^/thanks$', vendor: 'Google Analytics 4', event: 'purchase' }]
  const input = { name: 'Shop', startUrls: [`${ORIGIN}/`], expect: expect_ }
  const first = await audited(input)
  expect(first).toMatchObject({
    ...{ status: 'finished', error: null, differences: null },
    summary: { pagesTotal: 3, pagesFailed: 0, vendors: 1, missing: 0, duplicates: 1, beforeConsent: 0 },
  })
  expect(await issuesOf(first.id)).toMatchObject([{ alertType: 'audit', status: 'open' }])

  hasPurchase = false
  world.clock.advance(HOUR_MS)
  const second = await audited(input)
  const event = { vendor: 'Google Analytics 4', event: 'purchase' }
  expect(second).toMatchObject({
    summary: { pagesTotal: 3, missing: 1 },
    differences: { since: first.id, pages: [{ url: `${ORIGIN}/thanks`, change: 'tag_gone', ...event }] },
  })
  expect(await issuesOf(first.id)).toHaveLength(2)

  hasPurchase = true
  world.clock.advance(HOUR_MS)
  await audited(input)
  const issues: { title: string; status: string }[] = await issuesOf(first.id)
  expect(issues.find(({ title }) => title.includes('purchase'))?.status).toBe('resolved')
  const pages = await world.call('GET', `/v1/audits/${first.id}/pages?limit=2`)
  expect(pages.body.pages).toHaveLength(2)
  const rest = await world.call('GET', `/v1/audits/${first.id}/pages?limit=2&cursor=${pages.body.nextCursor}`)
  expect(rest.body).toMatchObject({ pages: [{}], nextCursor: null })
}, 120_000)

test('compare shows what fires without consent beside what fires with it', async () => {
  const consent = { mode: 'compare', selectors: ['#yes'] }
  const { pages } = await audited({ name: 'Consent', startUrls: [`${ORIGIN}/consent`], consent })
  expect(pages).toHaveLength(2)
  for (const { tags, beforeConsent } of pages) {
    expect(beforeConsent.map(({ event }: { event: string }) => event)).toEqual(['early'])
    expect(tags.map(({ event }: { event: string }) => event).sort()).toEqual(['early', 'page_view'])
  }
}, 120_000)

test('an audit goes on by its schedule, until one of its name is made without', async () => {
  const input = { name: 'Daily', startUrls: [`${ORIGIN}/thanks`] }
  await audited({ ...input, schedule: '0 6 * * *' })
  const count = async () => (await world.call('GET', '/v1/audits?name=Daily')).body.audits.length
  world.clock.advance(3 * DAY_MS)
  for (let times = 0; times < 3; times++) await world.run('carry out audits')
  expect(await count()).toBe(2)
  await audited(input)
  world.clock.advance(3 * DAY_MS)
  await world.run('carry out audits')
  expect(await count()).toBe(3)
}, 120_000)

test.each<[object, RegExp]>([
  [{}, /^startUrls: name a start page/],
  [{ startUrls: ['https://a.example/'], sitemap: 'https://a.example/s.xml' }, /^sitemap: /],
  [{ startUrls: ['https://a.example/', 'ftp://a.example/'] }, /^startUrls\[1\]: /],
  [{ sitemap: 'x' }, /^sitemap: /],
  [{ startUrls: ['https://a.example/'], include: ['a', '('] }, /^include\[1\]: the pattern/],
  [{ startUrls: ['https://a.example/'], expect: [{ path: '[', event: 'x' }] }, /^expect\[0\]\.path: /],
  [{ startUrls: ['https://a.example/'], expect: [{}] }, /^expect\[0\]: needs/],
  [{ startUrls: ['https://a.example/'], schedule: 'soon' }, /^schedule: /],
])('%j is refused', async (input, error) => {
  const { status, body } = await world.call('POST', '/v1/audits', { body: { name: 'x', ...input } })
  expect([status, body.error]).toEqual([400, expect.stringMatching(error)])
})

test('an audit that a kill cut off is failed with what it saw, and one that waited is carried out', async () => {
  const { db } = world.app
  const settings = readAudit({ name: 'Cut off', startUrls: [`${ORIGIN}/thanks`], delayMs: 0, settleMs: 0 }, 0)
  const queued = () =>
    queueAudit(db, world.clock.now(), { orgId: world.owner.orgId, settings, region: 'local' }).audit.id
  const [begun, waits] = [queued(), queued()]
  beginAudit(db, begun, world.clock.now())
  await world.crash()
  await world.run('carry out audits')
  const shown = async (id: string) => (await world.call('GET', `/v1/audits/${id}`)).body
  expect(await shown(begun)).toMatchObject({ status: 'failed', error: 'the server stopped while it ran' })
  expect(await shown(waits)).toMatchObject({ status: 'finished', error: null, summary: { pagesTotal: 1 } })
}, 60_000)

test('without Chromium an audit is refused with what to do', async () => {
  await using without = await testApp({ chromium: '/nowhere/chromium' })
  const body = { name: 'x', startUrls: ['https://shop.example/'] }
  const answer = await without.call('POST', '/v1/audits', { body })
  expect(answer).toMatchObject({ status: 409, body: { error: expect.stringMatching(/TAGWARDEN_CHROMIUM/) } })
})

test('nothing personal of a page is shown', async () => {
  const id = storeAudit(world.app.db, world.clock.now(), {
    orgId: world.owner.orgId,
    name: 'P',
    text: 'jane@mail.example',
  })
  for (const path of [`/v1/audits/${id}`, `/v1/audits/${id}/pages`]) {
    const { status, body } = await world.call('GET', path)
    expect([status, JSON.stringify(body).includes('jane')]).toEqual([200, false])
  }
})
