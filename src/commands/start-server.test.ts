import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../../test/run-program.ts'
import { openApp } from '../app.ts'
import { readConfig, type SettingName } from '../config.ts'
import { systemClock } from '../core/clock.ts'
import { createDomain, findDomain } from '../domains/store.ts'
import { readSpool } from '../ingest/collector.fixture.ts'
import { testMessage } from '../integrations/message/message.ts'
import { createOrg } from '../org/store.ts'
import { openDatabase } from '../store/database.ts'
import { startServer } from './start-server.ts'

const quiet = { info() {}, warn() {}, error() {} }
const configOf = (data: string, settings: Partial<Record<SettingName, string>> = {}) =>
  readConfig({ data, listen: '127.0.0.1:0', ...settings }, {})

describe('a server', () => {
  test('responds until it is stopped, then releases its folder and port', async () => {
    using folder = temporaryFolder()
    const running = await startServer(configOf(folder.path), quiet)
    expect(running.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    expect(running.collectUrl).toBe(running.url)
    expect((await fetch(`${running.url}/healthz`)).status).toBe(200)
    const port = new URL(running.url).port
    await running.stop()
    const again = await startServer(configOf(folder.path, { listen: `127.0.0.1:${port}` }), quiet)
    expect(again.url).toBe(running.url)
    await again.stop()
  })

  test('refuses to start with a folder used by another server', async () => {
    using folder = temporaryFolder()
    const running = await startServer(configOf(folder.path), quiet)
    await expect(startServer(configOf(folder.path), quiet)).rejects.toThrow('another tagwarden process is using')
    await running.stop()
  })

  test('refuses to start on the port of another server', async () => {
    using folder = temporaryFolder()
    using other = temporaryFolder()
    const running = await startServer(configOf(folder.path), quiet)
    const listen = new URL(running.url).host
    await expect(startServer(configOf(other.path, { listen }), quiet)).rejects.toThrow(
      `cannot listen on http://${listen}: another program uses this port; stop it, or choose another port`,
    )
    await running.stop()
  })

  test('refuses to listen on an address that the machine does not have', async () => {
    using folder = temporaryFolder()
    await expect(startServer(configOf(folder.path, { listen: '192.0.2.7:8787' }), quiet)).rejects.toThrow(
      'cannot listen on http://192.0.2.7:8787: this machine has no such address',
    )
  })

  test.each<[string, string]>([
    ['0.0.0.0:8787', 'http://localhost:8787'],
    ['[::]:8787', 'http://localhost:8787'],
    ['192.0.2.7:80', 'http://192.0.2.7:80'],
    ['[2001:db8::1]:80', 'http://[2001:db8::1]:80'],
  ])('that listens on %s has the public URL %s', async (listen, publicUrl) => {
    using folder = temporaryFolder()
    const app = await openApp({ config: configOf(folder.path, { listen }), clock: systemClock, log: quiet })
    expect(app.publicUrl).toBe(publicUrl)
    await app.close()
  })

  test.each<[string, (port: string) => Partial<Record<SettingName, string>>]>([
    ['the server', (port) => ({ listen: `127.0.0.1:${port}` })],
    ['the collector', (port) => ({ collectListen: `127.0.0.1:${port}` })],
  ])('fails to start when the port of %s is in use, and leaves nothing running', async (_which, settings) => {
    using other = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response('mine') })
    using folder = temporaryFolder()
    await expect(startServer(configOf(folder.path, settings(String(other.port))), quiet)).rejects.toThrow(/port/)
    // The folder can be opened again, so no job is still using it.
    await (await startServer(configOf(folder.path), quiet)).stop()
  })

  test('passes requests to the additional handler first', async () => {
    using folder = temporaryFolder()
    const extra = (request: Request) =>
      new URL(request.url).pathname === '/extra' ? Promise.resolve(new Response('extra')) : null
    const running = await startServer(configOf(folder.path), quiet, extra)
    expect(await (await fetch(`${running.url}/extra`)).text()).toBe('extra')
    expect((await fetch(`${running.url}/healthz`)).status).toBe(200)
    await running.stop()
  })

  test('does not wait for an unresponsive receiver when stopped, and does not count the attempt', async () => {
    using folder = temporaryFolder()
    const asked = Promise.withResolvers<void>()
    using receiver = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      idleTimeout: 0,
      fetch() {
        asked.resolve()
        return new Promise<Response>(() => {})
      },
    })
    const running = await startServer(configOf(folder.path, { outboundAllow: '127.0.0.1' }), quiet)
    const { db, box } = running.app
    const at = systemClock.now()
    const message = testMessage({ at, publicUrl: running.url, label: 'Hanging' })
    db.prepare(
      `INSERT INTO delivery (id, orgId, transition, noticeKey, transitionKey, channelType, channelTarget, message, status,
         attempts, dueAt, createdAt)
       VALUES ('dlv_1', ?, 'test', 'n', 't', 'webhook', ?, ?, 'pending', 0, ?, ?)`,
    ).run(createOrg(db, box, systemClock, { name: 'Ours' }).id, receiver.url.href, JSON.stringify(message), at, at)
    await asked.promise
    await running.stop()
    const left = openDatabase(join(folder.path, 'tagwarden.db'))
    expect(left.prepare('SELECT status, attempts, lastError FROM delivery').get()).toEqual({
      status: 'pending',
      attempts: 0,
      lastError: null,
    })
    left.close()
  })

  test('determines the country of a visitor behind a trusted proxy', async () => {
    using folder = temporaryFolder()
    const countryFile = join(folder.path, 'countries.csv')
    await Bun.write(countryFile, '5.0.0.0,5.0.0.255,DE\n')
    const loaded = Promise.withResolvers<void>()
    const log = { ...quiet, info: (text: string) => void (text.includes('countries') && loaded.resolve()) }
    const data = join(folder.path, 'data')
    const running = await startServer(configOf(data, { countryFile, trustedProxies: '127.0.0.1' }), log)
    await loaded.promise
    const { db, box } = running.app
    const { id: orgId } = createOrg(db, box, systemClock, { name: 'Ours' })
    const { token } = findDomain(db, { orgId, id: createDomain(db, systemClock, orgId, { name: 'Shop' }) }, 0)
    const send = (batch: object, headers: Record<string, string> = {}) =>
      fetch(`${running.url}/api/v1/events?token=${token}`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ ...batch, events: [{ vendor: 'V' }] }),
      })
    for (const [batch, headers] of [
      [{}, { 'x-forwarded-for': '5.0.0.9' }],
      [{}, { 'x-forwarded-for': '9.9.9.9' }],
      [{}, {}],
      [{ userAgent: 'a browser' }, { 'x-forwarded-for': '5.0.0.9' }],
    ] as const)
      expect((await send(batch, headers)).status).toBe(202)
    const spool = join(data, 'spool')
    const paths = readdirSync(spool).flatMap((name) => (name.endsWith('.ndjson') ? [join(spool, name)] : []))
    const events = readSpool(paths).events as { country?: string }[]
    expect(events.map(({ country }) => country)).toEqual(['DE', undefined, undefined, undefined])
    expect(paths.map((path) => readFileSync(path, 'utf8')).join('')).not.toContain('5.0.0.9')
    await running.stop()
  })

  test('formats an IPv6 address for URLs', async () => {
    using folder = temporaryFolder()
    const running = await startServer(configOf(folder.path, { listen: '[::1]:0' }), quiet)
    expect(running.url).toMatch(/^http:\/\/\[::1\]:\d+$/)
    expect((await fetch(`${running.url}/healthz`)).status).toBe(200)
    await running.stop()
  })
})
