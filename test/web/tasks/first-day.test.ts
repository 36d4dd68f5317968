import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { startBrowser, type TestBrowser } from '../../browser/chromium.ts'
import { ask, type Server, startServer, temporaryFolder, until } from '../../run-program.ts'
import { openScreen } from '../screen.ts'
import { keyboardOf } from './keyboard.ts'

const folder = temporaryFolder()
let server: Server
let browser: TestBrowser
beforeAll(async () => {
  ;[server, browser] = await Promise.all([startServer(join(folder.path, 'data')), startBrowser()])
})
afterAll(async () => {
  await browser[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

test('onboarding works by keyboard: set-up, first event, alert, issue, resolve, undo', async () => {
  const [link] = await until('the link', () => /\/(?:setup)?#setup=[\w-]+/.exec(server.log()))
  await using screen = await openScreen(server.url, browser.browser)
  const { page } = screen
  await page.setViewport({ width: 1280, height: 800 })
  const { keys, press, type, choose } = keyboardOf(screen)
  const purchase = (token: string, orderId: string) =>
    ask('POST', `${server.url}/api/v1/events`, token, {
      page: { url: 'https://shop.example/thanks' },
      events: [{ vendor: 'Shop', event: 'purchase', params: { order_id: orderId } }],
    })

  await screen.open(link)
  await type('Organization', 'Acme')
  await type('Your name', 'Ann')
  await type('E-mail address', 'ann@example.com')
  await type('Password', 'correct horse battery')
  await keys('Enter')

  await screen.sees('heading', 'Add a domain')
  await type('Name', 'shop.example')
  await keys('Control+Enter')
  await screen.sees('heading', 'shop.example')
  await screen.reads('Waiting for the first event')
  await press('Copy the code')
  await screen.reads('Code copied.')
  const code = await page.$eval('textarea', (field) => field.value)
  const [token = ''] = /pt_[\w-]+/.exec(code) ?? []
  await purchase(token, 'first')
  await screen.reads('First event: purchase from shop.example')

  await keys('c')
  await screen.sees('heading', 'New alert')
  await type('Event', 'purchase')
  await type('Parameter 1', 'order_id')
  await choose('Operator 1', 'is blank')
  await screen.reads('0 of 1 events match')
  await screen.reads('Would not have fired in 14 days')
  await choose('Severity', 'Critical')
  await type('Target 1', 'ann@example.com')
  await keys('Control+Enter')
  await screen.sees('heading', 'Alerts')
  await screen.sees('switch', 'purchase: order_id is blank')

  await keys('g', 'i')
  await screen.sees('heading', 'Issues')
  await screen.reads('Nothing is wrong that Tagwarden knows of.')
  await purchase(token, '')
  await screen.sees('table', 'Issues')
  await keys('j', 'Enter')
  await screen.sees('button', 'Resolve')
  await keys('r')
  await screen.sees('button', 'Undo')
  await screen.reads('1 issue resolved.')
  await screen.sees('button', 'Reopen')
  await keys('z')
  await screen.sees('button', 'Resolve')
  expect(screen.errors).toEqual([])
  expect(screen.origins).toEqual(new Set([server.url]))
})
