import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startBrowser, type TestBrowser } from '../browser/chromium.ts'
import { until } from '../process.ts'
import { openScreen, type Screen } from './screen.ts'
import { openAs, openWorld, type World } from './world.ts'

const TEST_MS = 300_000
const TABS = 12

let browser: TestBrowser
beforeAll(async () => {
  browser = await startBrowser()
}, TEST_MS)
afterAll(() => browser[Symbol.asyncDispose]())

const openTab = async (world: World): Promise<Screen> => {
  const screen = await openScreen(world.url, browser.browser)
  await openAs(screen, world.app.owner.apiKey, '/issues')
  await screen.sees('heading', 'Issues')
  return screen
}

const isLive = ({ page }: Screen) => page.waitForFunction(() => document.body.textContent?.includes('Live'))

test(
  'twelve tabs hold one stream; when the tab that reads it is left, another goes on',
  async () => {
    await using world = await openWorld()
    await using stack = new AsyncDisposableStack()
    const tabs: Screen[] = []
    for (let count = 0; count < TABS; count++) tabs.push(stack.use(await openTab(world)))
    await until('one stream', () => world.streams() === 1)
    world.open([{ title: 'Seen by all' }])
    for (const tab of tabs) await tab.reads('Seen by all')
    expect(world.streams()).toBe(1)

    const [reader, ...others] = tabs
    await reader?.page.goto('about:blank')
    await until('the next stream', () => world.streams() === 1 && world.streamsBegun() > 1)
    await world.app.call('PATCH', '/v1/issues/iss_0', { body: { status: 'acknowledged' } })
    for (const tab of others) await tab.reads('Acknowledged')
    for (const tab of others) await isLive(tab)
  },
  TEST_MS,
)

test(
  'a lost stream is told after ten seconds, and made good without reloading',
  async () => {
    await using world = await openWorld()
    await using tab = await openTab(world)
    await until('one stream', () => world.streams() === 1)
    world.refuse('GET /v1/stream')
    world.endStreams()
    await tab.reads('Not live since')
    world.open([{ title: 'Missed meanwhile' }])
    expect(await tab.page.evaluate(() => document.body.textContent)).not.toContain('Missed meanwhile')
    world.refuse(null)
    await tab.reads('Missed meanwhile')
    await tab.page.waitForFunction(() => !document.body.textContent?.includes('Not live since'))
  },
  TEST_MS,
)
