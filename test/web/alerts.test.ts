import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { startBrowser, type TestBrowser } from '../browser/chromium.ts'
import { temporaryFolder } from '../run-program.ts'
import { axeFindings } from './axe.ts'
import { openScreen, type Screen } from './screen.ts'
import { openAs, startTestServer, type TestServer } from './test-server.ts'

let server: TestServer
let browser: TestBrowser
beforeAll(async () => {
  ;[server, browser] = await Promise.all([startTestServer(), startBrowser()])
  const { body: shop } = await server.app.call('POST', '/v1/domains', { body: { name: 'shop.example' } })
  const order = (id: string) => ({ vendor: 'Shop', event: 'purchase', params: { order_id: id, currency: 'EUR' } })
  await server.app.collect(shop.token, { events: ['a', 'b', '', 'd', ''].map(order) })
  server.app.clock.advance(MINUTE_MS)
  await server.app.run('flush')
})
afterAll(async () => {
  await browser[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})
const MINUTE_MS = 60_000

const folder = temporaryFolder()
const IMPORTED = join(folder.path, 'alerts.json')

async function open(path: string, key = server.app.owner.apiKey): Promise<Screen> {
  const screen = await openScreen(server.url, browser.browser)
  await screen.page.setViewport({ width: 1280, height: 900 })
  await openAs(screen, key, path)
  return screen
}

const alerts = async () => (await server.app.call('GET', '/v1/alerts')).body.alerts

/** Types into a field and moves the focus to another element. */
async function fill(screen: Screen, name: string, text: string): Promise<void> {
  await screen.type(name, text)
  await screen.page.keyboard.press('Tab')
}

const choose = async ({ page }: Screen, name: string, value: string) => {
  const field = await page.waitForSelector(`aria/[name=${JSON.stringify(name)}][role="combobox"]`)
  await field?.select(value)
}

describe('the alert editor', () => {
  test('previews a rule while it is edited and saves it by keyboard', async () => {
    await using screen = await open('/alerts/new')
    await screen.sees('heading', 'New alert')
    await screen.reads('Complete the rule to preview this alert: Parameter 1')
    // An incomplete rule is not sent for a preview.
    expect(screen.errors).toEqual([])
    await fill(screen, 'Event', 'purchase')
    await fill(screen, 'Parameter 1', 'order_id')
    await screen.reads('2 of 5 events match')
    await screen.reads('in 14 days')
    await choose(screen, 'Operator 1', 'equals')
    await screen.reads('Complete the rule to preview this alert: Values 1')
    await fill(screen, 'Values 1', 'a')
    await screen.reads('1 of 5 events match')
    await screen.press('Remove channel 1')
    await screen.reads('1 of 5 events match')
    // Results are dimmed while a request is pending.
    await screen.page.waitForFunction(() => !document.querySelector('[aria-busy=true]'))
    expect(await axeFindings(screen.page)).toEqual([])

    await screen.press('Add a channel')
    await fill(screen, 'Target 1', 'nobody')
    await screen.page.keyboard.down('Control')
    await screen.page.keyboard.press('Enter')
    await screen.page.keyboard.up('Control')
    await screen.page.waitForSelector('[aria-invalid=true]')
    expect(await alerts()).toEqual([])
    await fill(screen, 'Target 1', 'ann@example.com')
    await screen.press('Save and enable')
    await screen.sees('heading', 'Alerts')
    await screen.reads('“purchase: order_id equals a” was saved and enabled.')
    expect(await alerts()).toMatchObject([
      {
        name: 'purchase: order_id equals a',
        enabled: true,
        alertType: 'data_validation',
        period: '1h',
        filters: [{ parameter: '$event', op: 'equals', values: ['purchase'] }],
        conditions: { logic: 'any', items: [{ parameter: 'order_id', op: 'equals', values: ['a'] }] },
        channels: [{ type: 'email', target: 'ann@example.com' }],
      },
    ])
  })

  test('toggles an alert with undo, and asks for confirmation before discarding changes', async () => {
    const [{ id, name }] = await alerts()
    await using screen = await open('/alerts')
    await screen.press(name, 'switch')
    await screen.reads(`${name} disabled.`)
    expect((await alerts())[0].enabled).toBe(false)
    await screen.press('Undo')
    await screen.reads(`${name} enabled.`)
    expect((await alerts())[0].enabled).toBe(true)

    await screen.open(`/alerts/${id}`)
    await screen.sees('heading', name)
    await fill(screen, 'Name', 'Orders')
    await screen.press('Cancel')
    await screen.sees('dialog', 'Leave without saving?')
    await screen.press('Stay')
    await screen.page.waitForFunction(() => !document.querySelector('[role=dialog]'))
    await screen.press('Save as disabled')
    await screen.sees('heading', 'Alerts')
    expect(await alerts()).toMatchObject([{ id, name: 'Orders', enabled: false }])
  })

  test("shows the fields of a template's alert type", async () => {
    await using screen = await open('/alerts/new')
    await choose(screen, 'Start from', 'stopped')
    await screen.sees('textbox', 'Count')
    await choose(screen, 'Type', 'volume_anomaly')
    await screen.reads('Complete the rule to preview this alert: Vendor')
    await fill(screen, 'Vendor', 'Shop')
    await screen.sees('table', 'Alerts per week by sensitivity')
    await fill(screen, 'Maximum alerts per week', '3')
    expect(screen.errors).toEqual([])
  })

  test('is read-only for viewers and hides channel targets from them', async () => {
    const [{ id }] = await alerts()
    await using screen = await open(`/alerts/${id}`, server.keyOf('viewer'))
    await screen.reads('Read-only.')
    await screen.reads('Target 1')
    const values = await screen.page.$$eval('input', (inputs) => inputs.map(({ value }) => value))
    expect(values.filter((value) => /[a-z]@[a-z]/.test(value))).toEqual([])
    expect(await screen.has('button', 'Save and enable')).toBe(false)
    expect(await screen.page.$eval('fieldset', (fields) => fields.disabled)).toBe(true)
    await screen.open('/alerts/alr_none')
    await screen.reads('There is no such alert')
  })
})

test('alerts from a file are imported one by one, and each rejected alert is listed', async () => {
  await using screen = await open('/alerts')
  await screen.press('Import')
  await screen.sees('dialog', 'Import')
  const [existing] = await alerts()
  const { id: _, orgId, createdAt, updatedAt, ...input } = existing
  const file = JSON.stringify([
    { ...input, name: 'Copy' },
    { ...input, name: 'Broken', period: 'often' },
  ])
  const field = await screen.page.$('input[type=file]')
  await Bun.write(IMPORTED, file)
  await field?.uploadFile(IMPORTED)
  await screen.press('Import alerts')
  await screen.reads('1 alert imported.')
  await screen.reads('alerts[1].period')
  expect((await alerts()).map(({ name }: { name: string }) => name)).toContain('Copy')
})
