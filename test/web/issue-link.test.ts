import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { receiver } from '../../src/transport/receiver.fixture.ts'
import { ask, initialize, startServer, temporaryFolder, until, WEBHOOK_SECRET, watch } from '../run-program.ts'
import { openScreen } from './screen.ts'

test('the link in a notification opens the issue after signing in, and shows hostile values as text', async () => {
  await using shop = await startPiiAlertServer()
  const { server, hooks, apiKey, token } = shop
  const send = (params: Record<string, string>) =>
    ask('POST', `${server.url}/api/v1/events`, token, { events: [{ vendor: 'Shop', event: 'contact', params }] })
  await send({ topic: 'prices' })
  await send({ from: '<img src=//evil.example>jane@example.com' })
  const message = await until('the message', () => hooks.requests[0] ?? null)
  // Only the path is used, because the public URL of the test server has port 0.
  const { pathname } = new URL(JSON.parse(message.body).data.url)

  await using screen = await openScreen(server.url)
  await screen.open(pathname)
  await screen.sees('heading', 'Sign in')
  expect(await screen.page.$('table')).toBeNull()
  await screen.press('Sign in with an API key')
  await screen.type('API key', apiKey)
  await screen.press('Sign in')
  await screen.reads('Personal data on shop.example: Shop contact events had an e-mail address')
  expect(screen.page.url()).toBe(server.url + pathname)
  await screen.sees('table', 'Violating vs. valid event')
  await screen.reads('<img src=//evil.example>j***@e***.com')
  await screen.reads('prices')
  expect(await screen.page.$('img')).toBeNull()
  expect(screen.errors).toEqual([])
  expect(screen.origins).toEqual(new Set([server.url]))

  // The user is still signed in here.
  await screen.page.goto(`${server.url}/issues/iss_nobody-made`)
  await screen.reads('There is no such issue')
  await screen.press('Back to issues', 'link')
  await screen.sees('heading', 'Issues')
  expect(screen.errors.filter((line) => !line.includes('404'))).toEqual([])
})

/** Starts a server with an alert that opens an issue for e-mail addresses in events and notifies a webhook. */
async function startPiiAlertServer() {
  const folder = temporaryFolder()
  const hooks = receiver()
  const data = join(folder.path, 'data')
  const apiKey = await initialize(data)
  const server = await startServer(data, { env: { TAGWARDEN_OUTBOUND_ALLOW: '127.0.0.1' } })
  const property = { name: 'shop.example', hookUrl: hooks.url, secret: WEBHOOK_SECRET }
  const { token } = await watch(server.url, apiKey, property)
  return {
    server,
    hooks,
    apiKey,
    token,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await hooks[Symbol.asyncDispose]()
      folder[Symbol.dispose]()
    },
  }
}
