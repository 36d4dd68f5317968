import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { ElementHandle } from 'puppeteer-core'
import { SMTPServer } from 'smtp-server'
import { startBrowser, type TestBrowser } from '../../browser/chromium.ts'
import { installedChromium } from '../../browser/installed-chromium.ts'
import { ask, temporaryFolder, until } from '../../run-program.ts'
import { type Demo, startDemo, untilIssues } from '../demo.ts'
import { named, openScreen, type Screen } from '../screen.ts'
import { keyboardOf } from './keyboard.ts'
import { startEnvironment, type TestEnvironment } from './test-environment.ts'

/*
 * The tasks of an analyst's day, each from the Overview to its result, in a wide window and on a phone. Every click of
 * the mouse counts, and those that open the menu of a phone too. Fields are reached with Tab and filled by typing, which
 * doesn't count. The clicks are bounds, and docs/develop/dashboard.md lists them.
 */

const START_MS = 600_000
const WAIT_MS = 30_000
const MAX_CLICKS = 8
const MAX_MEDIAN_CLICKS = 3
const WIDE = 1280
const PHONE = 360

const folder = temporaryFolder()
let browser: TestBrowser
let demo: Demo
/** A server whose mail server accepts no message. */
let withoutMail: TestEnvironment
let mail: SMTPServer
/** Receives what is sent to Slack. */
let slack: Bun.Server<undefined>
let posts = 0

beforeAll(async () => {
  mail = await refusingMailServer()
  slack = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response(`ok ${++posts}`) })
  const { port } = mail.server.address() as { port: number }
  const env = { TAGWARDEN_SMTP_URL: `smtp://127.0.0.1:${port}` }
  ;[browser, demo, withoutMail] = await Promise.all([
    startBrowser(),
    startDemo({ TAGWARDEN_CHROMIUM: await installedChromium() }),
    startEnvironment({ env }),
  ])
  const shop = await withoutMail.createShop()
  await withoutMail.createAlert('Purchases have an order', 'purchase')
  await shop.send('purchase', { order_id: '' })
  const hasFailed = async () => (await withoutMail.call('GET', '/v1/notifications/deliveries')).deliveries[0]?.lastError
  await until('the failed delivery', hasFailed, START_MS)
  await untilIssues(demo, START_MS)
  const isPurchaseKnown = async () => (await demo.get('/v1/issues?status=open&severity=high'))?.issues.length > 0
  await until('the issue about purchases', isPurchaseKnown, START_MS)
  const isRun = async () => (await demo.get('/v1/flows/runs'))?.runs.some(({ status }: Run) => status === 'failed')
  await until('a failed run', isRun, START_MS)
}, START_MS)
type Run = { status: string }
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  await demo?.[Symbol.asyncDispose]()
  await withoutMail?.[Symbol.asyncDispose]()
  await slack?.stop(true)
  await new Promise<void>((done) => mail.close(() => done()))
  folder[Symbol.dispose]()
})

async function refusingMailServer(): Promise<SMTPServer> {
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    disableReverseLookup: true,
    onRcptTo: (_to, _session, done) => done(Object.assign(new Error('mailbox is full'), { responseCode: 552 })),
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return server
}

/** An analyst at the Overview. */
interface Analyst {
  screen: Screen
  width: number
  clicks: number
  /** Clicks the element with this name that is visible, by default a button. */
  click(name: string, role?: string): Promise<void>
  /** Clicks the first visible link, button or menu item that contains this text. */
  clickText(text: string): Promise<void>
  /** Clicks the element that this CSS selector selects. */
  clickAt(selector: string): Promise<void>
  /** Opens a page of the navigation, which is behind a button on a phone. */
  goTo(name: string): Promise<void>
  /** Moves the focus to a field by Tab and replaces its value. */
  type(name: string, text: string): Promise<void>
}

const CLICKABLE = 'main a, main button, [role=menuitem], [role=dialog] button'

function analystAt(screen: Screen, width: number): Analyst {
  const { page } = screen
  const keyboard = keyboardOf(screen)
  const analyst: Analyst = {
    screen,
    width,
    clicks: 0,
    async click(name, role = 'button') {
      await page.waitForSelector(named(role, name), { visible: true })
      await screen.press(name, role)
      analyst.clicks++
    },
    async clickText(text) {
      const find = (text: string, clickable: string) =>
        [...document.querySelectorAll<HTMLElement>(clickable)].find(
          (one) => one.textContent?.includes(text) && one.checkVisibility({ visibilityProperty: true }),
        )
      const found = await page.waitForFunction(find, {}, text, CLICKABLE)
      await (found.asElement() as ElementHandle<Element> | null)?.click()
      analyst.clicks++
    },
    async clickAt(selector) {
      await (await page.waitForSelector(selector, { visible: true }))?.click()
      analyst.clicks++
    },
    async goTo(name) {
      if (width === PHONE) await analyst.click('Menu')
      // A count may follow the name.
      await analyst.clickAt(`nav[aria-label=Main] a[aria-label^=${name}]`)
      await page.waitForFunction(() => !['Overview', undefined].includes(document.querySelector('h1')?.textContent))
    },
    async type(name, text) {
      await keyboard.type(name, text)
      // Closes the suggestions.
      await page.keyboard.press('Tab')
    },
  }
  return analyst
}

/** A task, and its clicks in a wide window and on a phone. */
interface Task {
  name: string
  clicks: readonly [wide: number, phone: number]
  /** Throws if the result is not visible. */
  run(analyst: Analyst): Promise<void>
  /** The server. Default: the demo. */
  hasNoMail?: true
}

const TASKS: readonly Task[] = [
  {
    name: 'Find out what broke purchases, and when',
    clicks: [1, 1],
    async run({ screen, clickText }) {
      await clickText('purchase events had no')
      await screen.reads('Likely cause:')
      await screen.reads('Version 42')
      await screen.sees('table', 'Violating vs. valid event')
    },
  },
  {
    name: 'Create an alert for a missing value, tested on past events',
    clicks: [3, 4],
    async run({ screen, goTo, click, type, width }) {
      await goTo('Alerts')
      await click('New alert', 'link')
      await type('Name', `Purchases have a coupon ${width}`)
      await type('Event', 'purchase')
      await type('Parameter 1', 'ep.coupon')
      await screen.reads('events match')
      await screen.reads('in 14 days')
      await type('Target 1', 'ann@example.com')
      await click('Save and enable')
      await screen.sees('switch', `Purchases have a coupon ${width}`)
    },
  },
  {
    name: 'Mute an issue until Monday',
    clicks: [3, 3],
    async run({ screen, click, clickText }) {
      await click('Open the issue', 'link')
      await click('Mute')
      await clickText('Until Monday 9:00')
      await screen.sees('button', 'Reopen')
      const id = new URL(screen.page.url()).pathname.split('/').at(-1)
      const { mutedUntil } = await demo.get(`/v1/issues/${id}`)
      expect(new Date(mutedUntil).getUTCDay()).toBe(1)
    },
  },
  {
    name: 'Invite a colleague',
    clicks: [3, 3],
    async run({ screen, click, type, width }) {
      await click('Account')
      await click('Invite a member', 'menuitem')
      await type('E-mail address', `ben${width}@example.com`)
      await click('Send invitation')
      await screen.sees('textbox', 'Invitation link')
    },
  },
  {
    name: 'Add a domain and see its first event',
    clicks: [4, 5],
    async run({ screen, goTo, click, type, width }) {
      await goTo('Domains')
      await click('Add a domain', 'link')
      await type('Name', `shop${width}.example`)
      await click('Add')
      await click('Copy the code')
      const code = await screen.page.$eval('textarea', (field) => field.value)
      const [token = ''] = /pt_[\w-]+/.exec(code) ?? []
      const page = { url: `https://shop${width}.example/` }
      await ask('POST', `${demo.url}/api/v1/events`, token, { page, events: [{ vendor: 'Shop', event: 'look' }] })
      await screen.reads(`First event: look from shop${width}.example`)
    },
  },
  {
    name: 'See which vendors receive data before consent',
    clicks: [2, 2],
    async run({ screen, click }) {
      await click('Compliance', 'link')
      await click('Before consent', 'link')
      await screen.sees('table', 'Before consent')
    },
  },
  {
    name: 'See the parameters of the GA4 purchase',
    clicks: [2, 3],
    async run({ screen, goTo, click }) {
      await goTo('Explore')
      await click('purchase')
      await screen.reads('ep.transaction_id')
    },
  },
  {
    name: 'Share a test run',
    clicks: [6, 7],
    async run({ screen, goTo, click, clickText }) {
      await goTo('Tests')
      await clickText('Join the newsletter')
      await click('Open run', 'link')
      await click('Share run')
      await click('Create link')
      const link = await screen.page.waitForSelector(named('textbox', 'Link'))
      const url = await link?.evaluate((field) => (field as HTMLInputElement).value)
      await click('Copy')
      // The demo doesn't know its port when it makes links.
      expect((await fetch(demo.url + new URL(url ?? '').pathname)).status).toBe(200)
    },
  },
  {
    name: 'Connect Slack, with an explanation of what is missing, and send a test',
    clicks: [5, 6],
    async run({ screen, goTo, click, clickAt, type }) {
      await goTo('Integrations')
      await clickAt('main a[href$="provider=team_chat"]')
      await screen.sees('combobox', 'Provider')
      await click('Connect')
      await screen.sees('alert', '')
      await screen.reads('webhookUrl')
      await type('Incoming webhook', `${slack.url.origin}/services/T0/B0/x`)
      await click('Connect')
      const before = posts
      await click('Send a test')
      await until('the message', () => posts > before, WAIT_MS)
      await screen.reads('Test sent and accepted.')
    },
  },
  {
    name: 'Find out why a mail was not delivered',
    clicks: [2, 3],
    hasNoMail: true,
    async run({ screen, goTo, clickText }) {
      await goTo('Deliveries')
      await screen.reads('mailbox is full')
      await clickText('Issue opened')
      await screen.sees('list', 'Attempts')
      await screen.reads('mailbox is full')
    },
  },
  {
    name: 'Compare two releases',
    clicks: [1, 1],
    async run({ screen, click }) {
      await click('Compare releases', 'link')
      await screen.sees('table', 'Compared events')
      for (const release of ['Release 41', 'Release 42']) await screen.reads(release)
    },
  },
  {
    name: 'Export events as CSV',
    clicks: [4, 5],
    async run({ screen, goTo, click, width }) {
      const downloadPath = join(folder.path, String(width))
      mkdirSync(downloadPath)
      const session = await screen.page.createCDPSession()
      const browserContextId = screen.page.browserContext().id ?? ''
      await session.send('Browser.setDownloadBehavior', { behavior: 'allow', downloadPath, browserContextId })
      await goTo('Explore')
      await click('Events', 'link')
      await screen.sees('table', 'Events')
      await click('Export')
      await click('CSV', 'menuitem')
      const files = () => readdirSync(downloadPath).filter((name) => name.endsWith('.csv'))
      const [file = ''] = await until('the file', () => (files().length > 0 ? files() : null), WAIT_MS)
      expect(readFileSync(join(downloadPath, file), 'utf8')).toContain('purchase')
    },
  },
]

/** Performs a task at the Overview and returns the number of clicks. */
async function perform({ run, hasNoMail }: Task, width: number): Promise<number> {
  const { url, key } = hasNoMail ? { url: withoutMail.url, key: withoutMail.apiKey } : demo
  const context = await browser.browser.createBrowserContext()
  const screen = await openScreen(url, context)
  await screen.page.setViewport({ width, height: 800 })
  // Dialogs and menus that still move can't be clicked.
  await screen.page.emulateMediaFeatures([{ name: 'prefers-reduced-motion', value: 'reduce' }])
  await screen.page.evaluateOnNewDocument(
    (session) => location.protocol === 'http:' && sessionStorage.setItem('tagwarden-session', session),
    JSON.stringify({ credential: key, orgId: null }),
  )
  await screen.open('/')
  await screen.sees('heading', 'Overview')
  await screen.page.waitForFunction(() => document.querySelector('main [aria-busy=true]') === null)
  const analyst = analystAt(screen, width)
  await run(analyst)
  await screen[Symbol.asyncDispose]()
  await context.close()
  return analyst.clicks
}

const median = (counts: readonly number[]): number => {
  const sorted = counts.toSorted((a, b) => a - b)
  return ((sorted[(sorted.length - 1) >> 1] ?? 0) + (sorted[sorted.length >> 1] ?? 0)) / 2
}

test.each([
  [WIDE, 0],
  [PHONE, 1],
] as const)('every task of an analyst is possible with few clicks at %d px', async (width, index) => {
  const results: Record<string, number | string> = {}
  for (const task of TASKS) {
    results[task.name] = await perform(task, width).catch((error: Error) => `impossible: ${error.stack}`)
    console.log(`${task.name}: ${results[task.name]}`)
  }
  expect(results).toEqual(Object.fromEntries(TASKS.map(({ name, clicks }) => [name, clicks[index]])))
  const counts = TASKS.map(({ clicks }) => clicks[index])
  expect(Math.max(...counts)).toBeLessThanOrEqual(MAX_CLICKS)
  expect(median(counts)).toBeLessThanOrEqual(MAX_MEDIAN_CLICKS)
})

test('the documentation lists the clicks', () => {
  const text = readFileSync(resolve(import.meta.dir, '../../../docs/develop/dashboard.md'), 'utf8')
  for (const { name, clicks } of TASKS) expect(text).toContain(`| ${name} | ${clicks[0]} | ${clicks[1]} |`)
})
