import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createKey } from '../../src/org/api-key-store.ts'
import { startBrowser, type TestBrowser } from '../browser/chromium.ts'
import { openScreen } from './screen.ts'
import { openAs, startTestServer, type TestServer } from './test-server.ts'

/*
 * Tests the settings that every user may change: API keys, digest and name. A full API key may also be used to change
 * them; a read-only key may not.
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

test('a full API key can create another one', async () => {
  await using screen = await openScreen(server.url, browser.browser)
  await openAs(screen, server.keyOf('member'), '/settings/keys')
  await screen.press('New API key')
  await screen.sees('dialog', 'New API key')
  await screen.type('Name', 'Pipeline')
  await screen.press('Make the key')
  await screen.sees('textbox', 'Secret key')
  expect(screen.errors).toEqual([])
})

test.each(['keys', 'digest', 'preferences'])("a read-only key can't change anything in /settings/%s", async (name) => {
  const { db } = server.app.app
  const { userId, orgId } = server.app.owner
  const readOnly = createKey(db, server.app.clock, {
    userId,
    orgId,
    name: 'reads',
    expiresInDays: null,
    readOnly: true,
  })
  await using screen = await openScreen(server.url, browser.browser)
  await openAs(screen, readOnly.secret, `/settings/${name}`)
  await screen.reads('Read-only. This API key can’t make changes.')
  const changing = ['New API key', 'Revoke reads', 'Save', 'Save name', 'Change password']
  const there = await Promise.all(changing.map((name) => screen.has('button', name)))
  expect(changing.filter((_, index) => there[index])).toEqual([])
})
