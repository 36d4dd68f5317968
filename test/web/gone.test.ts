import { afterAll, beforeAll, test } from 'bun:test'
import { openScreen, type Screen } from './screen.ts'
import { openAs, openWorld, type World } from './world.ts'

const TEST_MS = 60_000

let world: World
let screen: Screen
beforeAll(async () => {
  world = await openWorld()
  screen = await openScreen(world.url)
}, TEST_MS)
afterAll(async () => {
  await screen[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

test.each([
  ['/issues/nothing', 'issue', '/issues'],
  ['/alerts/nothing', 'alert', '/alerts'],
  ['/domains/nothing/live', 'domain', '/domains'],
  ['/changes/nothing', 'change', '/changes'],
  ['/tests/nothing', 'test', '/tests'],
  ['/tests/runs/nothing', 'run', '/tests'],
  ['/audits/nothing', 'audit', '/audits'],
  ['/integrations/nothing', 'integration', '/integrations'],
])(
  '%s says that there is no such %s, and leads to the list',
  async (path, thing, list) => {
    await openAs(screen, world.app.owner.apiKey, path)
    await screen.reads(`There is no such ${thing}`)
    // A page that is drawn anew may have none for a moment.
    await screen.page.waitForFunction(() => document.querySelectorAll('h1').length === 1)
    await screen.page.waitForSelector(`main a[href^="${list}"]`)
  },
  TEST_MS,
)
