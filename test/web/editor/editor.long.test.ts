import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startBrowser, type TestBrowser } from '../../browser/chromium.ts'
import { until } from '../../run-program.ts'
import { axeFindings } from '../axe.ts'
import { openScreen, type Screen } from '../screen.ts'
import { openAs, startTestServer, type TestServer } from '../test-server.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const PHONE = { width: 360, height: 740 }
const DESK = { width: 1280, height: 900 }

let server: TestServer
let browser: TestBrowser
let shop: { id: string; token: string }
let blog: { id: string }

/** Creates a shop that has received orders for six hours. */
beforeAll(async () => {
  ;[server, browser] = await Promise.all([startTestServer(), startBrowser()])
  const { app } = server
  const add = async (name: string) => (await app.call('POST', '/v1/domains', { body: { name } })).body
  app.clock.advance(-6 * HOUR_MS)
  ;[shop, blog] = [await add('shop.example'), await add('blog.example')]
  for (let hour = 0; hour < 6; hour++) {
    const order = { vendor: 'Shop', event: 'purchase', params: { order_id: `o${hour}`, currency: 'EUR' } }
    await app.collect(shop.token, { events: [order, order] })
    app.clock.advance(HOUR_MS)
  }
  const view = (n: number) => ({ vendor: 'Shop', event: 'view', params: { sku: `S${n}x` } })
  await app.collect(shop.token, { events: Array.from({ length: 250 }, (_, n) => view(n)) })
  app.clock.advance(MINUTE_MS)
  await app.run('flush')
})
afterAll(async () => {
  await browser[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
})

async function open(path: string, size = DESK): Promise<Screen> {
  const screen = await openScreen(server.url, browser.browser)
  await screen.page.setViewport(size)
  await openAs(screen, server.app.owner.apiKey, path)
  return screen
}

const save = async (body: object) => (await server.app.call('POST', '/v1/alerts', { body })).body
const saved = async (id: string) => {
  const { updatedAt: _, ...alert } = (await server.app.call('GET', `/v1/alerts/${id}`)).body
  return alert
}
const choose = async ({ page }: Screen, name: string, value: string) => {
  const field = await page.waitForSelector(`aria/[name=${JSON.stringify(name)}][role="combobox"]`)
  await field?.select(value)
}
const ctrlEnter = async ({ page }: Screen) => {
  await page.keyboard.down('Control')
  await page.keyboard.press('Enter')
  await page.keyboard.up('Control')
}

const validation = {
  name: 'Orders',
  alertType: 'data_validation',
  period: '1h',
  conditions: { logic: 'any', items: [{ parameter: 'order_id', op: 'is_blank' }] },
  channels: [{ type: 'email', target: 'owners' }],
}
const everything = () => ({
  ...validation,
  name: 'Everything',
  severity: 'high',
  domainId: shop.id,
  domainIds: [blog.id],
  vendors: ['Shop', 'Blog'],
  filters: [
    { parameter: '$host', op: 'ends_with', values: ['example'] },
    { parameter: '$event', op: 'equals', values: ['purchase'] },
  ],
  conditions: {
    logic: 'all',
    items: [
      { parameter: 'order_id', op: 'is_blank', values: ['kept'] },
      { parameter: 'currency', op: 'not_equals', values: ['EUR', 'CHF'] },
    ],
  },
  conditionGroups: [{ op: 'any', items: [{ parameter: 'valeu', op: 'gt', values: ['10'] }] }],
  timezone: 'Europe/Berlin',
  runWindows: { hours: [22, 6], days: [1, 2, 3, 4, 5] },
  throttle: { count: 2, per: 4, unit: 'hours' },
  impactValue: 900,
  enabled: false,
})

test('an alert that uses every feature is shown completely, even on a phone, and saved unchanged', async () => {
  const { id } = await save(everything())
  const before = await saved(id)
  await using screen = await open(`/alerts/${id}`, PHONE)
  await screen.sees('heading', 'Everything')
  for (const name of [
    'Domain',
    'Operator 2',
    'Match',
    'Match in group 1',
    'Operator 1 in group 1',
    'Filter operator 1',
    'From',
    'Until',
    'Severity',
    'Notification limit',
    'Channel 1',
    'Event',
    'Parameter 1 in group 1',
    'Filter parameter 1',
    'Time zone',
  ]) {
    await screen.sees('combobox', name)
  }
  for (const name of ['Value', 'Maximum notifications']) await screen.sees('textbox', name)
  await screen.sees('button', 'Active hours Mon–Fri, 22:00–06:00 Europe/Berlin')
  await screen.sees('checkbox', 'Friday')
  await screen.reads('Not seen in the last 7 days. Check the spelling.')
  // The result is visible below the fields, and its details can be expanded.
  await screen.reads('Would not have fired in 14 days')
  const isVisible = (name: string) =>
    screen.page.$eval(
      `section[aria-labelledby] h2`,
      (_, name) => {
        const region = [...document.querySelectorAll('section')].find(
          (one) => one.querySelector('h2')?.textContent === name,
        )
        const box = region?.getBoundingClientRect()
        return box !== undefined && box.bottom <= innerHeight + 1 && box.top < innerHeight
      },
      name,
    )
  expect(await isVisible('What would have happened')).toBe(true)
  expect(await screen.has('radiogroup', 'Number of days')).toBe(false)
  await screen.press('Details')
  await screen.sees('radiogroup', 'Number of days')
  expect(await screen.page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0)
  await screen.page.waitForFunction(() => !document.querySelector('[aria-busy=true]'))
  expect(await axeFindings(screen.page)).toEqual([])
  // Nothing was changed, so leaving requires no confirmation.
  await screen.press('Cancel')
  await screen.sees('heading', 'Alerts')
  await screen.page.goBack()
  await screen.sees('heading', 'Everything')
  await screen.sees('button', 'Save and enable')
  await ctrlEnter(screen)
  await screen.reads('“Everything” was saved as disabled.')
  expect(await saved(id)).toEqual(before)
  expect(screen.errors).toEqual([])
})

test('hours, groups, filters and a limit can be edited, and leaving with unsaved changes requires confirmation', async () => {
  const { id } = await save(validation)
  await using screen = await open(`/alerts/${id}`)
  await screen.sees('heading', 'Orders')
  await screen.press('Active hours always, UTC')
  await screen.press('Saturday', 'checkbox')
  await choose(screen, 'From', '20')
  await choose(screen, 'Until', '4')
  await screen.type('Time zone', 'Asia/Tokyo')
  await screen.page.keyboard.press('Tab')
  await screen.press('Condition groups none')
  await screen.press('Add a group')
  await screen.type('Parameter 1 in group 1', 'currency')
  await screen.page.keyboard.press('Tab')
  await screen.press('Filters none')
  await screen.press('Add a filter')
  await screen.type('Filter parameter 1', '$host')
  await screen.page.keyboard.press('Tab')
  await choose(screen, 'Filter operator 1', 'not_blank')
  await screen.press('Notification limit No limit')
  await choose(screen, 'Notification limit', 'minutes')
  await screen.press('Alerts', 'link')
  await screen.sees('dialog', 'Leave without saving?')
  await screen.press('Stay')
  await screen.page.waitForFunction(() => !document.querySelector('[role=dialog]'))
  await ctrlEnter(screen)
  await screen.reads('“Orders” was saved and enabled.')
  expect(await saved(id)).toMatchObject({
    timezone: 'Asia/Tokyo',
    runWindows: { hours: [20, 4], days: [6] },
    conditions: validation.conditions,
    conditionGroups: [{ op: 'any', items: [{ parameter: 'currency', op: 'is_blank' }] }],
    filters: [{ parameter: '$host', op: 'not_blank' }],
    throttle: { count: 1, per: 1, unit: 'minutes' },
  })
})

test('an error in a collapsed section expands it; invalid JSON is not saved', async () => {
  await using screen = await open('/alerts/new')
  await screen.type('Parameter 1', 'order_id')
  await screen.page.keyboard.press('Tab')
  await screen.press('Active hours always, UTC')
  await screen.type('Time zone', 'Atlantis')
  await screen.page.keyboard.press('Tab')
  await screen.press('Active hours always, Atlantis')
  await screen.press('Save as disabled')
  await screen.reads('Atlantis is not a known time zone')
  await screen.sees('combobox', 'Time zone')
  await (await screen.page.$('input[type=radio][value=fields]'))?.focus()
  await screen.page.keyboard.press('ArrowRight')
  await screen.type('JSON', '{')
  await screen.press('Save as disabled')
  await screen.page.waitForSelector('textarea[aria-invalid=true]:focus')
  expect((await server.app.call('GET', '/v1/alerts?q=order_id')).body.alerts).toEqual([])
})

test('an anomaly rule shows counts against expected ranges; other types have labels for their fields', async () => {
  await using screen = await open(`/alerts/new?template=unusual&domainId=${shop.id}`)
  await screen.sees('textbox', 'Sensitivity')
  await screen.sees('figure', 'Matches over time')
  await screen.type('Vendor', 'Shop')
  await screen.page.keyboard.press('Tab')
  await screen.sees('figure', 'Observed and expected events')
  await screen.reads('events per hour')
  await screen.type('Maximum alerts per week', '0')
  await screen.page.waitForFunction(() =>
    [...document.querySelectorAll('input')].some(({ value }) => value === '2 deviations'),
  )
  await choose(screen, 'Type', 'volume_threshold')
  await screen.sees('combobox', 'Fires at')
  await choose(screen, 'Type', 'tag_volume_change')
  await screen.sees('combobox', 'Fires for')
  await screen.sees('textbox', 'By at least')
  await choose(screen, 'Type', 'journey')
  await screen.sees('group', 'Step 1')
  expect(screen.errors).toEqual([])
})

test('a suggested rule opens in the editor with its backtest; an alert without events can be disabled', async () => {
  const idle = { ...validation, name: 'Refunds', vendors: ['Nobody'] }
  const { id } = await save(idle)
  await using screen = await open('/alerts')
  await screen.sees('table', 'Alerts without events')
  await screen.press('Disable Refunds')
  await screen.reads('Refunds disabled.')
  expect((await saved(id)).enabled).toBe(false)
  // A click would miss the link if it moved up at the same moment.
  await until('the removal of the alert', async () => !(await screen.has('button', 'Disable Refunds')))
  await screen.press('Use this rule: Shop view: sku is present', 'link')
  await screen.sees('heading', 'New alert')
  await screen.reads('Would not have fired in 14 days')
  await screen.reads('0 of 262 events match')
  await screen.press('Save and enable')
  await screen.reads('“Shop view: sku is present” was saved and enabled.')
})
