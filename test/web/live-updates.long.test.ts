import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startBrowser, type TestBrowser } from '../browser/chromium.ts'
import { until } from '../run-program.ts'
import { openScreen, type Screen } from './screen.ts'
import { openAs, startTestServer, type TestServer } from './test-server.ts'

const TABS = 12

let browser: TestBrowser
beforeAll(async () => {
  browser = await startBrowser()
})
afterAll(() => browser[Symbol.asyncDispose]())

const openTab = async (server: TestServer): Promise<Screen> => {
  const screen = await openScreen(server.url, browser.browser)
  await openAs(screen, server.app.owner.apiKey, '/issues')
  await screen.sees('heading', 'Issues')
  return screen
}

const isLive = ({ page }: Screen) => page.waitForFunction(() => document.body.textContent?.includes('Live'))

test('twelve tabs share one stream, and when the tab that reads it closes, another tab takes over', async () => {
  await using server = await startTestServer()
  await using stack = new AsyncDisposableStack()
  const tabs: Screen[] = []
  for (let count = 0; count < TABS; count++) tabs.push(stack.use(await openTab(server)))
  await until('one stream', () => server.streams() === 1)
  server.openIssues([{ title: 'Seen by all' }])
  for (const tab of tabs) await tab.reads('Seen by all')
  expect(server.streams()).toBe(1)

  const [reader, ...others] = tabs
  await reader?.page.goto('about:blank')
  await until('the next stream', () => server.streams() === 1 && server.streamsOpened() > 1)
  await server.app.call('PATCH', '/v1/issues/iss_0', { body: { status: 'acknowledged' } })
  for (const tab of others) await tab.reads('Acknowledged')
  for (const tab of others) await isLive(tab)
})

test('a lost stream is reported after ten seconds, and missed changes appear once the stream is restored', async () => {
  await using server = await startTestServer()
  await using tab = await openTab(server)
  await until('one stream', () => server.streams() === 1)
  server.refuse('GET /v1/stream')
  server.endStreams()
  await tab.reads('Not live since')
  server.openIssues([{ title: 'Missed meanwhile' }])
  expect(await tab.page.evaluate(() => document.body.textContent)).not.toContain('Missed meanwhile')
  server.refuse(null)
  await tab.reads('Missed meanwhile')
  await tab.page.waitForFunction(() => !document.body.textContent?.includes('Not live since'))
})
