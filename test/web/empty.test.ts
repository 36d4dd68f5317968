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
  ['/', 'link', 'Add a domain'],
  ['/alerts', 'link', 'New alert'],
  ['/signals', 'link', 'Add a domain'],
  ['/domains', 'link', 'Add a domain'],
  ['/changes', 'button', 'Record a change'],
  ['/tests', 'link', 'New test'],
  ['/audits', 'link', 'New audit'],
  ['/integrations', 'link', 'Connect'],
  ['/deliveries', 'link', 'New alert'],
  ['/report', 'link', 'The week before'],
  ['/explore/labels', 'button', 'New label'],
  ['/settings/projects', 'button', 'New project'],
])(
  '%s offers the %s %s where there is nothing yet',
  async (path, role, name) => {
    await openAs(screen, world.app.owner.apiKey, path)
    await screen.sees(role, name)
  },
  TEST_MS,
)
