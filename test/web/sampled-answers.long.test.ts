import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { startBrowser, type TestBrowser } from '../browser/chromium.ts'
import { ask, call, initialize, type Server, startServer, temporaryFolder, until } from '../run-program.ts'
import { axeFindings } from './axe.ts'
import { openScreen, type Screen } from './screen.ts'

const SESSIONS = 600

const folder = temporaryFolder()
let server: Server
let browser: TestBrowser
let apiKey: string
beforeAll(async () => {
  const data = join(folder.path, 'data')
  apiKey = await initialize(data)
  const env = { TAGWARDEN_MAX_EVENTS_READ: '1000' }
  ;[server, browser] = await Promise.all([startServer(data, { env }), startBrowser()])
  await visits()
})
afterAll(async () => {
  await browser[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]?.()
  folder[Symbol.dispose]()
})

/** Sends five events of each session, so that one in four sessions is read. */
async function visits(): Promise<void> {
  const { token } = await ask('POST', `${server.url}/v1/domains`, apiKey, { name: 'shop.example' })
  const event = { vendor: 'Shop API', event: 'order', params: { currency: 'EUR' } }
  for (let at = 0; at < SESSIONS; at += 50) {
    await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        call('POST', `${server.url}/api/v1/events?token=${token}`, {
          body: {
            sessionId: `session-${at + n}`,
            page: { url: 'https://shop.example/' },
            events: Array.from({ length: 5 }, () => event),
          },
        }),
      ),
    )
  }
  await until('the events', async () => {
    const { sampling } = await ask('GET', `${server.url}/v1/events/dictionary`, apiKey)
    return sampling?.oneIn === 4
  })
}

async function openPage(path: string): Promise<Screen> {
  const screen = await openScreen(server.url, browser.browser)
  await screen.open(path)
  await screen.press('Sign in with an API key')
  await screen.type('API key', apiKey)
  await screen.press('Sign in')
  return screen
}

test.each([
  ['/explore/dictionary', 'Estimated from 1 in 4 sessions, ±'],
  ['/explore/journeys', 'Estimated from 1 in 4 sessions, ±'],
  ['/explore/dictionary?seen=new', 'Compared in 1 in 4 sessions.'],
  ['/alerts', 'Based on 1 in 4 sessions. Names and values in fewer than 11 sessions may be missing.'],
])('%s says that sessions were sampled', async (path, text) => {
  await using screen = await openPage(path)
  await screen.reads(text)
  expect(await axeFindings(screen.page)).toEqual([])
  expect(screen.errors).toEqual([])
})

test('exports contain the intervals', async () => {
  const response = await fetch(`${server.url}/v1/events/dictionary/flat`, {
    headers: { authorization: `Bearer ${apiKey}`, accept: 'application/x-ndjson' },
  })
  const rows = (await response.text()).trim().split('\n')
  const { count, interval } = JSON.parse(rows[0] ?? '')
  expect(count % 4).toBe(0)
  expect(interval.low).toBeLessThanOrEqual(5 * SESSIONS)
  expect(interval.high).toBeGreaterThanOrEqual(5 * SESSIONS)
  const sheet = await fetch(`${server.url}/v1/events/dictionary/flat`, {
    headers: { authorization: `Bearer ${apiKey}`, accept: 'text/csv' },
  })
  expect((await sheet.text()).split('\r\n')[0]).toContain('interval')
})
