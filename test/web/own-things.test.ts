import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createKey } from '../../src/org/key-store.ts'
import { startBrowser, type TestBrowser } from '../browser/chromium.ts'
import { openScreen } from './screen.ts'
import { openAs, openWorld, type World } from './world.ts'

/*
 * What everybody may change of their own: API keys, the digest, the name. A full key may as well; one that only reads finds
 * nothing to change.
 */

const TEST_MS = 300_000

let world: World
let browser: TestBrowser
beforeAll(async () => {
  ;[world, browser] = await Promise.all([openWorld(), startBrowser()])
}, TEST_MS)
afterAll(async () => {
  await browser[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

test(
  'who came with a full key makes another one',
  async () => {
    await using screen = await openScreen(world.url, browser.browser)
    await openAs(screen, world.keyOf('member'), '/settings/keys')
    await screen.press('New API key')
    await screen.sees('dialog', 'New API key')
    await screen.type('Name', 'Pipeline')
    await screen.press('Make the key')
    await screen.sees('textbox', 'Secret key')
    expect(screen.trouble).toEqual([])
  },
  TEST_MS,
)

test.each(['keys', 'digest', 'preferences'])(
  'a key that only reads changes nothing in /settings/%s',
  async (name) => {
    const { db } = world.app.app
    const { userId, orgId } = world.app.owner
    const readOnly = createKey(db, world.app.clock, {
      userId,
      orgId,
      name: 'reads',
      expiresInDays: null,
      readOnly: true,
    })
    await using screen = await openScreen(world.url, browser.browser)
    await openAs(screen, readOnly.secret, `/settings/${name}`)
    await screen.reads('You can look. This API key is read-only.')
    const changing = ['New API key', 'Revoke reads', 'Save', 'Save the name', 'Change the password']
    const there = await Promise.all(changing.map((name) => screen.has('button', name)))
    expect(changing.filter((_, index) => there[index])).toEqual([])
  },
  TEST_MS,
)
