import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startBrowser, type TestBrowser } from '../../browser/chromium.ts'
import { until } from '../../run-program.ts'
import { axeFindings } from '../axe.ts'
import { named, openScreen, type Screen } from '../screen.ts'
import { openAs, startTestServer, type TestServer } from '../test-server.ts'

/*
 * plugin-forms.long.test.ts runs this file in a separate process, with an additional alert type, provider and insight.
 */

let server: TestServer
let browser: TestBrowser
beforeAll(async () => {
  ;[server, browser] = await Promise.all([startTestServer(), startBrowser()])
})
afterAll(async () => {
  await browser[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
})

async function open(path: string): Promise<Screen> {
  const screen = await openScreen(server.url, browser.browser)
  await screen.page.setViewport({ width: 1280, height: 900 })
  await openAs(screen, server.app.owner.apiKey, path)
  return screen
}

const get = async (path: string) => (await server.app.call('GET', path)).body

/**
 * Focuses an element. The tests use the keyboard, because a click could miss an element that moves when a response is
 * received.
 */
async function focus({ page }: Screen, role: string, name: string): Promise<void> {
  const selector = named(role, name)
  await page.waitForSelector(selector)
  // The focus is lost if the element re-renders at the same time.
  await until(`the focus on ${name}`, () =>
    page.$eval(selector, (element) => {
      ;(element as HTMLElement).focus()
      return document.activeElement === element
    }),
  )
}

async function press(screen: Screen, name: string, role = 'button'): Promise<void> {
  await focus(screen, role, name)
  await screen.page.keyboard.press('Space')
}

/** Replaces the value of a field and moves the focus to another element. */
async function fill(screen: Screen, name: string, text: string): Promise<void> {
  const { keyboard } = screen.page
  await focus(screen, await screen.roleOfField(name), name)
  await keyboard.down('Control')
  await keyboard.press('a')
  await keyboard.up('Control')
  await keyboard.press('Backspace')
  await keyboard.type(text)
  await keyboard.press('Tab')
}

async function choose({ page }: Screen, name: string, value: string): Promise<void> {
  const field = await page.waitForSelector(`aria/[name=${JSON.stringify(name)}][role="combobox"]`)
  await field?.select(value)
}

/** Returns the distance from the top of the window to the button, in px. */
async function topOf({ page }: Screen, name: string): Promise<number> {
  const button = await page.waitForSelector(named('button', name))
  return (await button?.boundingBox())?.y ?? Number.NaN
}

/** Waits until the field that caused the error shows it. */
const showsError = ({ page }: Screen, sentence: string) =>
  page.waitForFunction(
    (expected) =>
      [...document.querySelectorAll('[aria-invalid=true]')].some(
        (field) =>
          document
            .getElementById(field.getAttribute('aria-describedby')?.split(' ').at(-1) ?? '')
            ?.parentElement?.textContent?.includes(expected) ||
          field.closest('.mantine-InputWrapper-root')?.textContent?.includes(expected),
      ),
    {},
    sentence,
  )

test('an unknown provider can be connected and changed, with errors at its fields', async () => {
  await using screen = await open('/integrations')
  await screen.reads('Rings pagers.')
  await screen.open('/integrations/new')
  await choose(screen, 'Provider', 'pager')
  await fill(screen, 'Name', 'On call')
  await fill(screen, 'Team', 'nobody')
  await fill(screen, 'Ring for', '20')
  await fill(screen, 'Pass phrase', 'open sesame')
  await choose(screen, 'Urgency', 'loud')
  await press(screen, 'At night too', 'checkbox')
  await focus(screen, await screen.roleOfField('Words to say'), 'Words to say')
  await screen.page.keyboard.type('wake up')
  await screen.page.keyboard.press('Enter')
  expect(await axeFindings(screen.page)).toEqual([])
  await press(screen, 'Connect')
  await showsError(screen, 'has no pagers')
  await fill(screen, 'Team', 'shop')
  await press(screen, 'Connect')
  await screen.sees('heading', 'On call')
  const [{ id }] = (await get('/v1/integrations')).integrations
  const config = { team: 'shop', ringSeconds: 20, urgency: 'loud', isNightly: true, words: ['wake up'] }
  expect((await get(`/v1/integrations/${id}`)).config).toEqual(config)
  // The form indicates that a secret is stored. The secret is kept unless a new one is entered.
  await screen.sees('button', 'Replace Pass phrase')
  await fill(screen, 'Ring for', '30')
  await press(screen, 'Save')
  await until('the change', async () => (await get(`/v1/integrations/${id}`)).config.ringSeconds === 30)
  expect((await get(`/v1/integrations/${id}`)).config).toEqual({ ...config, ringSeconds: 30 })
  await press(screen, 'Send a test')
  await screen.reads('Test sent')
  expect(screen.errors.filter((one) => !one.includes('400'))).toEqual([])
})

test('an alert with an unknown type and channel can be saved', async () => {
  await using screen = await open('/alerts/new')
  const before = await topOf(screen, 'Save and enable')
  await fill(screen, 'Name', 'Large orders')
  await choose(screen, 'Type', 'order_limit')
  await screen.reads('Fires for orders above a limit.')
  await fill(screen, 'Parameter', 'value')
  await fill(screen, 'Most', '100')
  await choose(screen, 'Channel 1', 'pager')
  // The user can select a matching integration or enter an address.
  await screen.sees('combobox', 'Integration 1')
  await fill(screen, 'Target 1', 'ann')
  await press(screen, 'Save and enable')
  await showsError(screen, 'must have four digits')
  // The button stays in place although the form is shorter and the preview appears.
  expect(Math.abs((await topOf(screen, 'Save and enable')) - before)).toBeLessThan(2)
  await fill(screen, 'Target 1', '1234')
  await press(screen, 'Save and enable')
  await screen.sees('heading', 'Alerts')
  await screen.reads('Large orders')
  const [alert] = (await get('/v1/alerts')).alerts
  expect(alert).toMatchObject({
    name: 'Large orders',
    alertType: 'order_limit',
    limit: { parameter: 'value', most: 100 },
    channels: [{ type: 'pager', target: '1234' }],
  })
  await screen.open(`/alerts/${alert.id}`)
  await screen.sees('heading', 'Large orders')
  await fill(screen, 'Most', '200')
  await press(screen, 'Save and enable')
  await screen.sees('heading', 'Alerts')
  expect((await get(`/v1/alerts/${alert.id}`)).limit).toEqual({ parameter: 'value', most: 200 })
})

test('an additional insight has a form and an endpoint', async () => {
  const { insights } = await get('/v1/forms')
  const form = insights.find(({ kind }: { kind: string }) => kind === 'countRings')
  expect(form).toMatchObject({ schema: { properties: { team: { title: 'Team' } } } })
  expect(await get('/v1/rings?team=shop')).toEqual({ rings: 3 })
})
