import { afterAll, beforeAll, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import type { Page } from 'puppeteer-core'
import { HOUR_MS, MINUTE_MS } from '../../src/core/clock.ts'
import { createKey } from '../../src/org/api-key-store.ts'
import { addMember, createUser } from '../../src/org/store.ts'
import { tx } from '../../src/store/database.ts'
import { storeAudit } from '../audits/finished-audit.fixture.ts'
import { startBrowser, type TestBrowser } from '../browser/chromium.ts'
import { aRun, storeRun } from '../flows/finished-run.fixture.ts'
import { layoutFaults } from './layout-faults.ts'
import { navigateTo, waitForPage } from './navigate.ts'
import { openScreen, type Screen } from './screen.ts'
import { create, openAs, startTestServer, type TestServer } from './test-server.ts'

/* Tests lists with 0, 1 and 10,000 items. The document must stay small, and the layout must have no defects. */

const MANY = 10_000
/** Number of events. It is lower than `MANY`, because queries of events are not tested here. */
const MANY_EVENTS = 1000
/** Number of events per request. */
const BATCH = 100
/** Maximum number of rows in the document, regardless of the length of the list. */
const MAX_ROWS = 120

let server: TestServer
let browser: TestBrowser
beforeAll(async () => {
  ;[server, browser] = await Promise.all([startTestServer(), startBrowser()])
  // The browser uses the current time, so everything must have been created and evaluated before it.
  server.app.clock.set(Date.now() - HOUR_MS)
})
afterAll(async () => {
  await browser[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
})

/** Paths of the lists, with the number of rows that each has on a server with only an owner and an API key. */
const LISTS: Record<string, number> = {
  '/issues': 0,
  '/alerts': 0,
  '/domains': 0,
  '/changes': 0,
  '/tests': 0,
  '/audits': 0,
  '/integrations': 0,
  '/deliveries': 0,
  '/explore/labels': 0,
  '/explore/events': 0,
  '/explore/dictionary': 0,
  '/settings/projects': 0,
  '/settings/members': 1,
  '/settings/keys': 1,
  '/settings/audit-log': 0,
}

/** Paths of the lists that contain events. */
const EVENT_LISTS = ['/explore/events', '/explore/dictionary']

const rowsOf = (page: Page) =>
  page.$$eval('main tbody tr:not([aria-hidden]), main :is(ol, ul)[aria-label] > li', (rows) => rows.length)

/** Reloads the dashboard and visits the given lists. Returns the number of rows and the layout defects of each list. */
async function visitLists(
  screen: Screen,
  paths: readonly string[],
): Promise<Record<string, { rows: number; faults: string[] }>> {
  const seen: Record<string, { rows: number; faults: string[] }> = {}
  await screen.open('/settings/preferences')
  await waitForPage(screen.page)
  for (const path of paths) {
    await navigateTo(screen.page, path)
    seen[path] = { rows: await rowsOf(screen.page), faults: await layoutFaults(screen.page) }
  }
  return seen
}

/** Creates one item of each kind. */
async function makeOne({ app }: TestServer): Promise<void> {
  const make = (path: string, body: object) => create(app, path, body)
  const { id: domainId, token } = await make('/v1/domains', { name: 'shop.example' })
  const channels = [{ type: 'email', target: 'ann@example.com' }]
  const conditions = { logic: 'any', items: [{ parameter: 'order_id', op: 'is_blank' }] }
  await make('/v1/alerts', { name: 'Orders', alertType: 'data_validation', period: '15m', channels, conditions })
  const change = { domainId, source: 'ci', ref: 'v1', title: 'Release 1', occurredAt: app.clock.now() - MINUTE_MS }
  await make('/v1/changes', change)
  await make('/v1/integrations', { provider: 'webhook', label: 'Pager', config: { url: 'https://hooks.example/a' } })
  await make('/v1/insights/labels/assign', { label: 'Buying', members: [{ vendor: 'Shop', event: 'purchase' }] })
  await make('/v1/projects', { name: 'Shops', domainIds: [domainId] })
  storeAudit(app.app.db, app.clock.now(), { orgId: app.owner.orgId, name: 'All pages' })
  storeRun(app, { ...aRun(), findings: [] })
  const page = { url: 'https://shop.example/' }
  await app.collect(token, {
    page,
    events: [{ vendor: 'Shop', event: 'purchase', params: { order_id: '', value: 1 } }],
  })
  await app.at(app.clock.now() + 20 * MINUTE_MS)
}

/**
 * Copies the only row of a table until the table has 10,000 rows. `valuesOf` returns the values that differ in each
 * copy.
 */
function copyRows({ app }: TestServer, table: string, valuesOf: (n: number) => object): void {
  const { db } = app.app
  const row = db.prepare(`SELECT * FROM "${table}" LIMIT 1`).get() as object
  // `pragma_table_info` omits generated columns.
  const columns = db.prepare(`SELECT name FROM pragma_table_info('${table}')`).pluck().all() as string[]
  const [names, placeholders] = [columns.map((name) => `"${name}"`), columns.map((name) => `@${name}`)]
  const insert = db.prepare(`INSERT INTO "${table}" (${names}) VALUES (${placeholders})`)
  for (let n = 1; n < MANY; n++) insert.run({ ...row, ...valuesOf(n) })
}

function makeMany({ app }: TestServer): void {
  const { db } = app.app
  const { orgId, userId } = app.owner
  const copies: Record<string, (n: number) => object> = {
    issue: (n) => ({ id: `iss_${n}`, alertId: `alr_${n}`, title: `Issue ${n}` }),
    alert: (n) => ({ id: `alr_${n}` }),
    change: (n) => ({ id: `chg_${n}`, ref: `v2.${n}`, title: `Release ${n}` }),
    integration: (n) => ({ id: `int_${n}`, label: `Pager ${n}`, inboundHash: null }),
    label: (n) => ({ id: `lbl_${n}`, name: `Label ${n}`, nameKey: `label ${n}` }),
    project: (n) => ({ id: `prj_${n}`, name: `Project ${n}` }),
    domain: (n) => ({ id: `dom_${n}`, name: `shop-${n}.example`, token: `pt_${n}` }),
    flowTest: (n) => ({ id: `tst_${n}` }),
    audit: (n) => ({ id: `aud_${n}`, seriesId: `aud_${n}` }),
    delivery: (n) => ({ seq: n + MANY, id: `dlv_${n}`, noticeKey: `key ${n}`, transitionKey: `key ${n}` }),
    auditEntry: (n) => ({ seq: n + MANY }),
  }
  tx(db, () => {
    for (const [table, valuesOf] of Object.entries(copies)) copyRows(server, table, valuesOf)
    const { id } = createUser(db, app.clock, { email: 'a@people.example', name: 'Ann' })
    addMember(db, app.clock, { orgId, userId: id, role: 'member' })
    createKey(db, app.clock, { userId, orgId, name: 'ci', expiresInDays: null })
    copyRows(server, 'user', (n) => ({ id: `usr_${n}`, email: `${n}@people.example` }))
    copyRows(server, 'member', (n) => ({ userId: `usr_${n}`, role: 'member', inviteHash: null }))
    copyRows(server, 'apiKey', (n) => ({ id: `key_${n}`, name: `ci ${n}`, secretHash: randomBytes(32) }))
  })
}

/** Sends events that all have different names. */
async function sendEvents({ app }: TestServer): Promise<void> {
  const { domains } = (await app.call('GET', '/v1/domains')).body
  const { token } = (await app.call('GET', `/v1/domains/${domains[0].id}`)).body
  for (let sent = 0; sent < MANY_EVENTS; sent += BATCH) {
    const eventOf = (_: unknown, n: number) => ({
      vendor: 'Shop',
      event: `event ${sent + n}`,
      params: { order_id: 'A-1' },
    })
    await app.collect(token, { events: Array.from({ length: BATCH }, eventOf) })
  }
  app.clock.advance(MINUTE_MS)
  await app.run('flush')
}

/** Expects that scrolling and paging load more rows and remove others from the document. */
async function expectMoreRows({ page, ...screen }: Screen): Promise<void> {
  await navigateTo(page, '/issues')
  await page.waitForFunction(() => {
    window.scrollTo(0, document.body.scrollHeight)
    const last = [...document.querySelectorAll('tr[aria-rowindex]')].at(-1)
    return Number(last?.getAttribute('aria-rowindex')) > 300
  })
  expect(await rowsOf(page)).toBeLessThanOrEqual(MAX_ROWS)
  await navigateTo(page, '/changes')
  await screen.press('Next')
  await screen.reads('101 to 200 of ')
  expect(await rowsOf(page)).toBeLessThanOrEqual(MAX_ROWS)
}

test('lists with 0, 1 and 10,000 items have an intact layout and a limited number of DOM elements', async () => {
  await using screen = await openScreen(server.url, browser.browser)
  const { page } = screen
  page.setDefaultTimeout(300_000)
  await page.setViewport({ width: 360, height: 900 })
  await openAs(screen, server.app.owner.apiKey, '/settings/preferences')
  const all = Object.keys(LISTS)
  const faultless = (rows: Record<string, number>) =>
    Object.fromEntries(Object.entries(rows).map(([path, count]) => [path, { rows: count, faults: [] }]))
  expect(await visitLists(screen, all)).toEqual(faultless(LISTS))

  await makeOne(server)
  const one = await visitLists(screen, all)
  const ones = Object.fromEntries(all.map((path) => [path, 1]))
  const several = { '/settings/audit-log': one['/settings/audit-log']?.rows ?? 0, '/explore/dictionary': 2 }
  expect(one).toEqual(faultless({ ...ones, ...several }))

  await sendEvents(server)
  const many = await visitLists(screen, EVENT_LISTS)
  makeMany(server)
  Object.assign(
    many,
    await visitLists(
      screen,
      all.filter((path) => !EVENT_LISTS.includes(path)),
    ),
  )
  for (const [path, { rows, faults }] of Object.entries(many)) {
    const count = rows >= 20 && rows <= MAX_ROWS ? 'some' : rows
    expect({ path, faults, count }).toEqual({ path, faults: [], count: 'some' })
  }
  await expectMoreRows(screen)
  expect(screen.errors.filter((line) => !line.endsWith('/demo/inbox'))).toEqual([])
})
