import { afterAll, expect, test } from 'bun:test'
import { readAudit } from '../../src/audits/audit-input.ts'
import { beginAudit, queueAudit } from '../../src/audits/store.ts'
import { DAY_MS, HOUR_MS } from '../../src/core/clock.ts'
import { installedChromium } from '../browser/installed-chromium.ts'
import { commandOf, descendantsOf, pids } from '../proc-fs.ts'
import { until } from '../run-program.ts'
import { testApp } from '../test-app.ts'
import { storeAudit } from './finished-audit.fixture.ts'

const html = (body: string) =>
  new Response(`<!doctype html><title>Shop</title>${body}`, { headers: { 'content-type': 'text/html' } })
const beacon = (event: string) =>
  `navigator.sendBeacon('https://www.google-analytics.com/g/collect?v=2&tid=G-1&en=${event}&ep.x=1')`
const BANNER = `<button id="yes" onclick="document.cookie='ok=1'; ${beacon('consented').replaceAll('"', '')}">Yes</button>`

/** Whether the site sends purchases. Changed by tests. */
let hasPurchase = true
/** Number of requests for a page that never responds. */
let held = 0

const site = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  idleTimeout: 0,
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
    if (pathname === '/hall') return html('<a href="/thanks">x</a><a href="/held">y</a>')
    if (pathname === '/held') {
      held++
      return new Promise<Response>(() => {})
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

test('an audit reports fired, missing and duplicate events, and the next audit reports the differences', async () => {
  const expect_ = [{ path: '^/thanks$', vendor: 'Google Analytics 4', event: 'purchase' }]
  const input = { name: 'Shop', startUrls: [`${ORIGIN}/`], expect: expect_ }
  const first = await audited(input)
  expect(first).toMatchObject({
    status: 'finished',
    error: null,
    differences: null,
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
})

test('a comparison reports the events before consent and those after it', async () => {
  const consent = { mode: 'compare', selectors: ['#yes'] }
  const { pages } = await audited({ name: 'Consent', startUrls: [`${ORIGIN}/consent`], consent })
  expect(pages).toHaveLength(2)
  for (const { tags, beforeConsent } of pages) {
    expect(beforeConsent.map(({ event }: { event: string }) => event)).toEqual(['early'])
    expect(tags.map(({ event }: { event: string }) => event).sort()).toEqual(['early', 'page_view'])
  }
})

test('an audit repeats on schedule until an audit with the same name is created without a schedule', async () => {
  const input = { name: 'Daily', startUrls: [`${ORIGIN}/thanks`] }
  await audited({ ...input, schedule: '0 6 * * *' })
  const count = async () => (await world.call('GET', '/v1/audits?name=Daily')).body.audits.length
  world.clock.advance(3 * DAY_MS)
  for (let times = 0; times < 3; times++) await world.run('run audits')
  expect(await count()).toBe(2)
  await audited(input)
  world.clock.advance(3 * DAY_MS)
  await world.run('run audits')
  expect(await count()).toBe(3)
})

test.each<[object, RegExp]>([
  [{}, /^startUrls: a start page or a sitemap is required/],
  [{ startUrls: ['https://a.example/'], sitemap: 'https://a.example/s.xml' }, /^sitemap: /],
  [{ startUrls: ['https://a.example/', 'ftp://a.example/'] }, /^startUrls\[1\]: /],
  [{ sitemap: 'x' }, /^sitemap: /],
  [{ startUrls: ['https://a.example/'], include: ['a', '('] }, /^include\[1\]: the pattern/],
  [{ startUrls: ['https://a.example/'], expect: [{ path: '[', event: 'x' }] }, /^expect\[0\]\.path: /],
  [{ startUrls: ['https://a.example/'], expect: [{}] }, /^expect\[0\]: label, vendor, /],
  [{ startUrls: ['https://a.example/'], schedule: 'soon' }, /^schedule: /],
])('%j is rejected', async (input, error) => {
  const { status, body } = await world.call('POST', '/v1/audits', { body: { name: 'x', ...input } })
  expect([status, body.error]).toEqual([400, expect.stringMatching(error)])
})

test('an audit interrupted by a crash fails, and a queued audit runs', async () => {
  const { db } = world.app
  const settings = readAudit({ name: 'Cut off', startUrls: [`${ORIGIN}/thanks`], delayMs: 0, settleMs: 0 }, 0)
  const queued = () =>
    queueAudit(db, world.clock.now(), { orgId: world.owner.orgId, settings, region: 'local' }).audit.id
  const [begun, waits] = [queued(), queued()]
  beginAudit(db, begun, world.clock.now())
  await world.crash()
  await world.run('run audits')
  const shown = async (id: string) => (await world.call('GET', `/v1/audits/${id}`)).body
  expect(await shown(begun)).toMatchObject({ status: 'failed', error: 'the server stopped during the run' })
  expect(await shown(waits)).toMatchObject({ status: 'finished', error: null, summary: { pagesTotal: 1 } })
})

const chromiumOf = () =>
  pids().find((pid) => commandOf(pid).includes(`--user-data-dir=${world.folder}`) && descendantsOf(pid).length > 0) ?? 0
const runnerOf = () =>
  pids().find((pid) => descendantsOf(pid).includes(chromiumOf()) && commandOf(pid).includes('\0browse\0')) ?? 0

test.each<[string, () => number, RegExp]>([
  ['browser', chromiumOf, /^the browser ended \(SIGKILL\)$/],
  ['browser process', runnerOf, /^the browser process ended \(SIGKILL\)$/],
])(
  'a %s killed during a crawl ends the audit with partial results, and the next audit is complete',
  async (what, find, why) => {
    // A separate name for each case, so that the killed audit is the first one with this name.
    const input = { name: `A ${what} is killed`, startUrls: [`${ORIGIN}/hall`], delayMs: 0, settleMs: 0 }
    held = 0
    const { id } = (await world.call('POST', '/v1/audits', { body: input })).body
    const shown = async () => (await world.call('GET', `/v1/audits/${id}`)).body
    await until('a crawl at its last page', async () => held > 0 && (await shown()).pages.length === 2)
    process.kill(find(), 'SIGKILL')
    await world.app.idle()
    const { pages, ...killed } = await shown()
    expect(killed).toMatchObject({ status: 'failed', error: expect.stringMatching(why), summary: { pagesTotal: 2 } })
    expect(pages.map(({ url }: { url: string }) => url.replace(ORIGIN, ''))).toEqual(['/hall', '/thanks'])
    expect(await issuesOf(id)).toEqual([])
    expect(await audited({ ...input, exclude: ['/held'] })).toMatchObject({ status: 'finished', differences: null })
  },
)

test('evidence of an audit issue names the finding, the page and the audit', async () => {
  const expect_ = [{ path: '^/twice$', vendor: 'Google Analytics 4', event: 'purchase', withinMs: 0 }]
  const { id } = await audited({ name: 'Evidence', startUrls: [`${ORIGIN}/twice`], maxDepth: 0, expect: expect_ })
  const { issues } = (await world.call('GET', `/v1/issues?alertId=${id}`)).body
  const evidence = await Promise.all(
    issues.map(async (issue: { id: string }) => (await world.call('GET', `/v1/issues/${issue.id}/evidence`)).body),
  )
  const run = { path: `/v1/audits/${id}`, headline: null, steps: [], sent: [] }
  const said = evidence.map(({ alert, summary, run }) => ({ alert, summary, run }))
  expect(said.toSorted((a, b) => (a.summary < b.summary ? -1 : 1))).toEqual([
    { alert: null, summary: expect.stringContaining(`purchase did not fire on ${ORIGIN}/twice, 1 time at`), run },
    { alert: null, summary: expect.stringContaining(`was sent 2 times with the same data on ${ORIGIN}/twice`), run },
  ])
})

test('an audit without Chromium is rejected with instructions', async () => {
  await using without = await testApp({ chromium: '/nowhere/chromium' })
  const body = { name: 'x', startUrls: ['https://shop.example/'] }
  const answer = await without.call('POST', '/v1/audits', { body })
  expect(answer).toMatchObject({ status: 409, body: { error: expect.stringMatching(/TAGWARDEN_CHROMIUM/) } })
})

test('personal data on a page is masked', async () => {
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
