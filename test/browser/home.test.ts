import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { ask, call, initialize, startServer, temporaryFolder, until } from '../process.ts'
import { startBrowser } from './chromium.ts'
import { watchedShop } from './watched-shop.ts'

const TEST_MS = 60_000

test(
  'whoever enters an API key sees how many issues are open, and the page asks nobody but its server',
  async () => {
    await using shop = await watchedShop()
    const { server, apiKey, token } = shop
    const letter = { vendor: 'Shop', event: 'contact', params: { from: '<img src=//evil.example>jane@example.com' } }
    await ask('POST', `${server.url}/api/v1/events`, token, { events: [letter] })
    await until('the delivery', async () => {
      const { deliveries } = await ask('GET', `${server.url}/v1/notifications/deliveries`, apiKey)
      return deliveries[0]?.status === 'delivered'
    })

    await using chromium = await startBrowser()
    const page = await chromium.browser.newPage()
    const trouble: string[] = []
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).origin))
    page.on('pageerror', (error) => trouble.push(String(error)))
    page.on('console', (message) => {
      if (message.type() === 'error') trouble.push(`${message.text()} ${message.location().url}`)
    })
    const shown = (id: string, text: string) =>
      page.waitForFunction((id, text) => document.getElementById(id)?.textContent === text, {}, id, text)
    await page.goto(server.url)
    await shown('state', 'Not signed in.')

    await page.type('#by-key input', 'ak_nobody-made-this-key')
    await page.click('#by-key button')
    await page.waitForFunction(() => document.getElementById('state')?.textContent !== 'Not signed in.')
    expect(await page.$eval('#board', (board) => board.checkVisibility())).toBe(false)

    await page.type('#by-key input', apiKey)
    await page.click('#by-key button')
    await shown('state', 'Acme, as owner.')
    await shown('open', '1')
    await shown('delivered', '1')
    expect(await page.$eval('#issues', (rows) => rows.textContent)).toContain('Personal data on shop.example')
    expect(await page.$eval('#deliveries', (rows) => rows.textContent)).toContain('webhook')
    for (const cell of ['#issues td:last-child', '#deliveries td:first-child']) {
      expect(await page.$eval(cell, (time) => time.textContent)).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d UTC$/)
    }
    expect(await page.$eval('#per-minute', (rate) => rate.textContent)).toBe('0')
    // Keys are made by people who signed in.
    expect(await page.$eval('#new-key', (form) => form.checkVisibility())).toBe(false)
    // The browser itself reports the refused key as an error, and that there is no inbox of a demo.
    expect(trouble.filter((line) => !line.includes('401') && !line.endsWith('/demo/inbox'))).toEqual([])
    expect(new Set(asked)).toEqual(new Set([server.url]))
  },
  TEST_MS,
)

test(
  'the link of the first start makes the owner, an invitation a member, and both sign in and out',
  async () => {
    using folder = temporaryFolder()
    await using server = await startServer(join(folder.path, 'data'))
    const link = (await until('the link', () => /\/#setup=[\w-]+/.exec(server.log())))[0]
    await using chromium = await startBrowser()
    const page = await chromium.browser.newPage()
    const fill = async (form: string, fields: Record<string, string>) => {
      for (const [name, value] of Object.entries(fields)) await page.type(`${form} [name=${name}]`, value)
      await page.click(`${form} button`)
    }
    const shown = (text: string) =>
      page.waitForFunction((text) => document.getElementById('state')?.textContent === text, {}, text)
    const openAnew = async (path: string) => {
      await page.goto('about:blank')
      await page.goto(server.url + path)
    }
    const visible = (id: string) => page.$eval(id, (form) => form.checkVisibility())
    const credential = () => page.evaluate(() => sessionStorage.getItem('credential') ?? '')

    await page.goto(server.url)
    await shown('Nobody has set up this server yet: open the link in its log.')
    const ann = { email: 'ann@example.com', password: 'correct horse battery' }
    await openAnew('/#setup=su_of-an-earlier-start')
    await page.waitForSelector('#set-up button', { visible: true })
    await fill('#set-up', { orgName: 'Acme', name: 'Ann', ...ann })
    await shown('Nobody has set up this server yet: open the link in its log.')
    expect(await visible('#set-up')).toBe(false)
    await openAnew(link)
    await page.waitForSelector('#set-up button', { visible: true })
    await fill('#set-up', { orgName: 'Acme', name: 'Ann', ...ann })
    await shown('Acme, as owner.')
    // The link is not left for whoever sits down next.
    expect(page.url()).toBe(`${server.url}/`)

    await fill('#new-key', { name: 'Release pipeline' })
    await page.waitForSelector('#made code')
    expect(await page.$eval('#made', (made) => made.textContent)).toContain('shown this once')
    const key = await page.$eval('#made code', (made) => made.textContent ?? '')
    expect(await ask('GET', `${server.url}/v1/whoami`, key)).toMatchObject({ orgName: 'Acme', via: 'key' })

    const token = await credential()
    const invite = { email: 'ben@example.com', role: 'viewer' }
    const { inviteUrl } = await ask('POST', `${server.url}/v1/org/members`, token, invite)
    await page.click('#sign-out')
    await shown('Signed out.')
    expect(await page.content()).not.toContain(key)
    expect((await call('GET', `${server.url}/v1/whoami`, { as: token })).status).toBe(401)
    await fill('#sign-in', { ...ann, password: 'something else' })
    await shown('e-mail address or password is wrong')
    await page.$eval('#sign-in', (form) => (form as HTMLFormElement).reset())
    await fill('#sign-in', ann)
    await shown('Acme, as owner.')

    await openAnew(link)
    await shown('This server is set up already, and the link of its first start is used up: sign in.')
    expect([await visible('#set-up'), await visible('#sign-in')]).toEqual([false, true])

    await openAnew(`/${new URL(inviteUrl).hash}`)
    await page.waitForSelector('#accept button', { visible: true })
    await fill('#accept', { name: 'Ben', password: 'battery staple horse' })
    await shown('Acme, as viewer.')
  },
  TEST_MS,
)

test.each([
  ['signs nobody in', (key: string) => `/#key=${key}&demo`],
  ['puts no words into the page', () => '/#signin-error=Call%20us%20at%20555'],
])(
  'a link from somebody else %s',
  async (_what, pathOf) => {
    using folder = temporaryFolder()
    const data = join(folder.path, 'data')
    const apiKey = await initialize(data)
    await using server = await startServer(data)
    await using chromium = await startBrowser()
    const page = await chromium.browser.newPage()
    await page.goto(server.url + pathOf(apiKey))
    await page.waitForFunction(() => document.getElementById('sign-in')?.checkVisibility())
    await page.waitForNetworkIdle()
    expect(await page.$eval('#state', (state) => state.textContent)).toBe('Not signed in.')
    expect(await page.evaluate(() => sessionStorage.getItem('credential'))).toBeNull()
  },
  TEST_MS,
)
