import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startBrowser, type TestBrowser } from '../browser/chromium.ts'
import { axeFindings } from './axe.ts'
import { openScreen, type Screen } from './screen.ts'
import { openAs, startTestServer, type TestServer } from './test-server.ts'

const MINUTE_MS = 60_000
const mail = (target: string) => ({ type: 'email', target })
const rule = {
  name: 'Purchase without id',
  alertType: 'data_validation',
  conditions: { logic: 'any', items: [{ parameter: 'order_id', op: 'is_blank' }] },
  period: '1h',
  channels: [mail('owners')],
}

let server: TestServer
let browser: TestBrowser
/** API key of a viewer. */
let viewer: string
beforeAll(async () => {
  ;[server, browser] = await Promise.all([startTestServer(), startBrowser()])
  viewer = server.keyOf('viewer')
})
afterAll(async () => {
  await browser[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
})

async function open(path: string, key = server.app.owner.apiKey): Promise<Screen> {
  const screen = await openScreen(server.url, browser.browser)
  await screen.page.setViewport({ width: 1280, height: 900 })
  await openAs(screen, key, path)
  return screen
}

const read = async (path: string) => (await server.app.call('GET', path)).body
/** Waits until the value at this path of the API is the expected one. */
async function untilRead(path: string, expected: unknown, part = (body: Record<string, unknown>): unknown => body) {
  while (!Bun.deepEquals(part(await read(path)), expected)) await Bun.sleep(20)
}

/** Replaces the text of a field and moves the focus to another element. */
async function fill(screen: Screen, name: string, text: string): Promise<void> {
  await screen.type(name, text)
  await screen.page.keyboard.press('Tab')
}

test('an admin edits the steps of the organization, and an error appears at its field', async () => {
  await using screen = await open('/settings/escalation')
  await screen.sees('heading', 'Escalation')
  await screen.reads('Issues are not escalated.')
  await screen.press('Add a step')
  await screen.press('Add a step')
  await fill(screen, 'Target 1 (step 2)', 'boss@example.com')
  await fill(screen, 'Minutes until step 2', '30')
  await screen.press('Save')
  await screen.reads('must be greater than 30, the value of the previous step')
  expect(await screen.page.evaluate(() => document.activeElement?.getAttribute('aria-invalid'))).toBe('true')
  expect(await axeFindings(screen.page)).toEqual([])
  await fill(screen, 'Minutes until step 2', '90')
  await screen.press('Save')
  await screen.reads('Escalation saved.')
  expect(await read('/v1/org/escalation')).toEqual({
    steps: [
      { afterMinutes: 30, channels: [mail('owners')] },
      { afterMinutes: 90, channels: [mail('boss@example.com')] },
    ],
  })
  await screen.press('Remove step 1')
  await screen.press('Save')
  await untilRead('/v1/org/escalation', { steps: [{ afterMinutes: 90, channels: [mail('boss@example.com')] }] })
})

test('a viewer sees the steps with masked targets and cannot change them', async () => {
  await server.app.call('PUT', '/v1/org/escalation', {
    body: { steps: [{ afterMinutes: 45, channels: [mail('boss@example.com')] }] },
  })
  await using screen = await open('/settings/escalation', viewer)
  await screen.sees('group', 'Step 1')
  const page = await screen.page.evaluate(() => ({
    values: [...document.querySelectorAll('main input')].map((input) => (input as HTMLInputElement).value),
    isLocked: document.querySelector('main fieldset')?.matches(':disabled'),
    buttons: [...document.querySelectorAll('main button:enabled')].map(({ textContent }) => textContent),
  }))
  expect(page).toMatchObject({ values: ['45', 'b***@e***.com'], isLocked: true })
  expect(page.buttons).not.toContain('Save')
})

test("an alert's own steps are edited next to its channels", async () => {
  const { body: alert } = await server.app.call('POST', '/v1/alerts', { body: rule })
  const path = `/v1/alerts/${alert.id}`
  const escalationOf = ({ escalation }: Record<string, unknown>) => escalation
  await using screen = await open(`/alerts/${alert.id}`)
  await screen.press('Escalation Steps of the organization')
  const choose = async (value: string) => {
    const field = await screen.page.waitForSelector('aria/[name="Steps"][role="combobox"]')
    await field?.select(value)
  }
  await choose('own')
  await fill(screen, 'Minutes until step 1', '15')
  await fill(screen, 'Target 1 (step 1)', 'nobody')
  await screen.press('Save and enable')
  await screen.reads('"nobody" is not an e-mail address')
  await fill(screen, 'Target 1 (step 1)', 'oncall@example.com')
  await screen.press('Save and enable')
  const steps = [{ afterMinutes: 15, channels: [mail('oncall@example.com')] }]
  await untilRead(path, { steps }, escalationOf)
  await openAs(screen, server.app.owner.apiKey, `/alerts/${alert.id}`)
  await screen.sees('button', 'Escalation 1 step')
  await choose('never')
  await screen.press('Save and enable')
  await untilRead(path, { steps: [] }, escalationOf)
})

test('the page of an issue says which step follows, and the history which steps were sent', async () => {
  const { app } = server
  const { body: shop } = await app.call('POST', '/v1/domains', { body: { name: 'shop.example' } })
  const steps = [15, 60].map((afterMinutes) => ({
    afterMinutes,
    channels: [mail(`after-${afterMinutes}@example.com`)],
  }))
  const { body: alert } = await app.call('POST', '/v1/alerts', {
    body: { ...rule, name: 'Order without id', domainId: shop.id, escalation: { steps } },
  })
  await app.collect(shop.token, { events: [{ vendor: 'Shop', event: 'purchase', params: { order_id: '' } }] })
  app.clock.advance(MINUTE_MS)
  await app.run('flush', 'evaluate', 'deliver')
  const openedAt = app.clock.now()
  const { issues } = await read(`/v1/issues?alertId=${alert.id}`)
  const path = `/issues/${issues[0].id}`
  await using screen = await open(path)
  await screen.reads('Escalates to E-mail after-15@example.com at')
  await screen.reads('unless acknowledged.')
  expect((await read(`/v1${path}`)).nextEscalation).toEqual({
    step: 1,
    at: openedAt + 15 * MINUTE_MS,
    channels: steps[0]?.channels,
  })
  app.clock.advance(15 * MINUTE_MS)
  await app.run('escalate issues')
  await openAs(screen, app.owner.apiKey, path)
  await screen.reads('Escalates to E-mail after-60@example.com at')
  await screen.reads('Escalated: step 1')
  await screen.reads('to E-mail after-15@example.com')
  expect(await axeFindings(screen.page)).toEqual([])
  await openAs(screen, app.owner.apiKey, '/deliveries')
  await screen.reads('Escalation, step 1')

  await using other = await open(path, viewer)
  await other.reads('unless acknowledged.')
  await other.reads('Escalated: step 1')
  expect(await other.page.evaluate(() => document.body.textContent)).not.toContain('@example.com')

  await openAs(screen, app.owner.apiKey, path)
  await screen.press('Acknowledge')
  await screen.page.waitForFunction(() => !document.body.textContent?.includes('unless acknowledged.'))
})
