import { beforeAll, describe, expect, test } from 'bun:test'
import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS } from '../../src/core/clock.ts'
import { requestLimits } from '../../src/store/retention-limits.ts'
import { axeFindings } from './axe.ts'
import { named } from './screen.ts'
import { create, openAs, sharedTestServer } from './test-server.ts'

const here = sharedTestServer()
let domain: { id: string; token: string }
/** A full minute about two hours ago, in which two events arrived. Another one arrived just now. */
let past: Instant

beforeAll(async () => {
  const { app } = here.server
  past = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS - 2 * HOUR_MS
  app.clock.set(past - DAY_MS)
  domain = await create(app, '/v1/domains', { name: 'shop.example' })
  app.clock.set(past + 1000)
  const purchase = (vendor: string, id: string, colour: string) => ({
    vendor,
    event: `purchase ${colour}`,
    params: { transaction_id: id, colour },
  })
  await app.collect(domain.token, { events: [purchase('Shop', 'A-1', 'red'), purchase('Never', 'x', 'blue')] })
  app.clock.set(Date.now())
  await app.collect(domain.token, { events: [{ vendor: 'Late', event: 'view', params: { colour: 'red' } }] })
  await create(app, '/v1/orders', { domainId: domain.id, orders: [{ id: 'A-1', at: past, value: 79 }] })
})

const query = () => new URL(here.screen.page.url()).searchParams
const radios = () =>
  here.screen.page.$$eval('[role=radiogroup] input', (all) => all.filter(({ checked }) => checked).length)

/** Opens a path and returns the URLs of the requests to this route. */
async function requestsOf(route: string, path: string): Promise<URL[]> {
  const { screen } = here
  const found: URL[] = []
  const note = (request: { url(): string }) => {
    const url = new URL(request.url())
    if (url.pathname === route) found.push(url)
  }
  screen.page.on('request', note)
  await openAs(screen, here.server.app.owner.apiKey, path)
  await screen.page.waitForSelector('main h1')
  await screen.page.waitForFunction(() => !document.querySelector('main [aria-busy=true]'))
  screen.page.off('request', note)
  return found
}

/** Sets a `datetime-local` field, whose parts can't be typed independently of the browser's language. */
async function setField(name: string, at: Instant): Promise<void> {
  const { page } = here.screen
  const zone = await page.evaluate(() => Intl.DateTimeFormat().resolvedOptions().timeZone)
  const text = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' }).format(at)
  await page.evaluate(
    (label, value) => {
      const all = [...document.querySelectorAll<HTMLInputElement>('input[type=datetime-local]')]
      const input = all.find(({ labels }) => labels?.[0]?.textContent === label)
      if (!input) throw new Error(`there is no field ${label}`)
      Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')?.set?.call(input, value)
      input.dispatchEvent(new Event('input', { bubbles: true }))
    },
    name,
    text.replace(' ', 'T'),
  )
}

describe('the interval', () => {
  test('is chosen by keyboard; reversed and future ones are refused; the chip removes it', async () => {
    const { screen } = here
    await openAs(screen, here.server.app.owner.apiKey, '/explore/events')
    await screen.reads('view')
    expect(await radios()).toBe(1)
    await (await screen.page.waitForSelector(named('button', 'Choose interval')))?.focus()
    await screen.page.keyboard.press('Enter')
    await screen.sees('dialog', 'Choose interval')
    await screen.reads('Times in')
    await screen.page.waitForFunction(() => document.activeElement?.getAttribute('type') === 'datetime-local')
    expect(await axeFindings(screen.page)).toEqual([])

    await setField('From', past + MINUTE_MS)
    await setField('To', past)
    await screen.press('Apply')
    await screen.reads('The end must be after the start.')
    await setField('To', Date.now() + HOUR_MS)
    await screen.reads('The end is in the future.')
    await setField('From', Date.now() + DAY_MS)
    await screen.reads('The start is in the future.')
    expect(query().get('from')).toBeNull()

    await setField('From', past)
    await setField('To', past + 5 * MINUTE_MS)
    await screen.page.keyboard.press('Enter')
    await screen.sees('button', 'Remove interval')
    expect([query().get('from'), query().get('to')]).toEqual([String(past), String(past + 5 * MINUTE_MS)])
    expect(await radios()).toBe(0)
    await screen.reads('purchase red')
    await screen.page.waitForFunction(() => !document.body.textContent?.includes('Late'))

    await screen.press('Remove interval')
    await screen.reads('Late')
    expect([query().get('from'), query().get('to'), await radios()]).toEqual([null, null, 1])
    expect(await screen.page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('Choose interval')
    expect(screen.errors).toEqual([])
  })
})

test("the chart of the events has the list's filters and period", async () => {
  const interval = `from=${past}&to=${past + 5 * MINUTE_MS}`
  const [url] = await requestsOf('/v1/insights/volume', `/explore/events?${interval}&param=colour%3Dred`)
  expect(url?.search).toContain(interval)
  expect(url?.searchParams.get('param')).toBe('colour=red')
  const { screen } = here
  await screen.reads('purchase red')
  await screen.page.waitForSelector('figure svg rect')
  expect(await screen.page.$$eval('figure svg rect', (bars) => bars.length)).toBe(1)
  await openAs(screen, here.server.app.owner.apiKey, `/explore/events?${interval}&param=colour%3Dgreen`)
  await screen.reads('No events in this time range.')
  await screen.page.waitForSelector('figure svg')
  expect(await screen.page.$$eval('figure svg rect', (bars) => bars.length)).toBe(0)
})

test('pages name the period of their data, which is that of the header', async () => {
  const { screen } = here
  const vendors = `/domains/${domain.id}/vendors`
  const [preset] = await requestsOf('/v1/events/dictionary', vendors)
  expect(preset?.searchParams.get('hours')).toBe('24')
  await screen.reads('Last 24')
  await screen.reads('Late')
  const [interval] = await requestsOf('/v1/events/dictionary', `${vendors}?from=${past}&to=${past + HOUR_MS}`)
  expect([interval?.searchParams.get('from'), interval?.searchParams.get('to')]).toEqual([
    String(past),
    String(past + HOUR_MS),
  ])
  await screen.reads('Never')
  expect(await screen.page.$eval('main', (main) => main.textContent)).not.toContain('Late')
  const [longest] = await requestsOf('/v1/events/dictionary', `${vendors}?range=30d`)
  expect(longest?.searchParams.get('hours')).toBe('168')
  await screen.reads('(this page covers at most 7')
})

test('orders are those of the days of the time range, with a column for each connected vendor', async () => {
  const { screen } = here
  const [url] = await requestsOf('/v1/insights/reconcile', `/explore/orders?domainId=${domain.id}`)
  expect(url?.searchParams.get('days')).toBe('2')
  await screen.reads('(days in UTC)')
  await screen.sees('columnheader', 'Shop')
  expect(await screen.has('columnheader', 'Never')).toBe(false)
  await screen.reads('Not connected')
  await screen.reads('1 (100')
  expect(await axeFindings(screen.page)).toEqual([])
})

test('usage has a chart and the total of each domain', async () => {
  const { screen } = here
  await here.server.app.run('flush')
  await openAs(screen, here.server.app.owner.apiKey, '/settings/usage')
  await screen.sees('figure', 'Events per day, all domains')
  await screen.sees('table', 'Events by domain, last 30 days')
  await screen.reads('100')
  expect(await axeFindings(screen.page)).toEqual([])
})

test('usage shows owners the shorter limits that will delete data', async () => {
  const { screen, server } = here
  const { db } = server.app.app
  const limits = { retentionDays: 90, runRetentionDays: 30, diskBudget: 0 }
  requestLimits(db, { retentionDays: 30, runRetentionDays: 7, diskBudget: 10_000_000 }, server.app.clock.now())
  await openAs(screen, server.app.owner.apiKey, '/settings/usage')
  await screen.sees('alert', 'Data will be deleted')
  await screen.reads('TAGWARDEN_RETENTION_DAYS was shortened from 90 days to 30 days. So far, this deletes nothing.')
  await screen.reads('This deletes screenshots and HARs of runs from before')
  await screen.reads('TAGWARDEN_DISK_BUDGET was shortened from no limit to 10\u00a0MB.')
  expect(await axeFindings(screen.page)).toEqual([])
  requestLimits(db, limits, server.app.clock.now())
  await openAs(screen, server.app.owner.apiKey, '/settings/usage')
  await screen.sees('table', 'Events by domain, last 30 days')
  expect(await screen.has('alert', 'Data will be deleted')).toBe(false)
})

test('a matching event names the period in which it was counted', async () => {
  const { screen, server } = here
  const alert = await create(server.app, '/v1/alerts', {
    name: 'Colour',
    alertType: 'data_validation',
    severity: 'high',
    channels: [{ type: 'email', target: 'a@example.com' }],
    period: '1d',
    vendors: ['Shop'],
    conditions: { logic: 'all', items: [{ parameter: 'colour', op: 'equals', values: ['red'] }] },
  })
  await openAs(screen, server.app.owner.apiKey, `/alerts/${alert.id}`)
  await screen.reads('events match in the last 7 days')
  await screen.reads('in 14 days')
})
