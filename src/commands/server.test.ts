import { describe, expect, test } from 'bun:test'
import { temporaryFolder } from '../../test/process.ts'
import { readConfig, type SettingName } from '../config.ts'
import { startServer } from './server.ts'

const quiet = { info() {}, warn() {}, error() {} }
const configOf = (data: string, settings: Partial<Record<SettingName, string>> = {}) =>
  readConfig({ data, listen: '127.0.0.1:0', ...settings }, {})

describe('a server', () => {
  test('answers until it is stopped, and lets go of its folder and its port', async () => {
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

  test('refuses a folder that another one uses', async () => {
    using folder = temporaryFolder()
    const running = await startServer(configOf(folder.path), quiet)
    await expect(startServer(configOf(folder.path), quiet)).rejects.toThrow('another tagwarden is running')
    await running.stop()
  })

  test.each<[string, (port: string) => Partial<Record<SettingName, string>>]>([
    ['the server', (port) => ({ listen: `127.0.0.1:${port}` })],
    ['the collector', (port) => ({ collectListen: `127.0.0.1:${port}` })],
  ])('that finds the port of %s taken fails, and leaves nothing running', async (_which, settings) => {
    using other = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response('mine') })
    using folder = temporaryFolder()
    await expect(startServer(configOf(folder.path, settings(String(other.port))), quiet)).rejects.toThrow(/port/)
    // The folder is free again, so no job can be at work on it.
    await (await startServer(configOf(folder.path), quiet)).stop()
  })

  test('asks others first who answer beside it', async () => {
    using folder = temporaryFolder()
    const extra = (request: Request) =>
      new URL(request.url).pathname === '/extra' ? Promise.resolve(new Response('extra')) : null
    const running = await startServer(configOf(folder.path), quiet, extra)
    expect(await (await fetch(`${running.url}/extra`)).text()).toBe('extra')
    expect((await fetch(`${running.url}/healthz`)).status).toBe(200)
    await running.stop()
  })

  test('spells an IPv6 address as it stands in a URL', async () => {
    using folder = temporaryFolder()
    const running = await startServer(configOf(folder.path, { listen: '[::1]:0' }), quiet)
    expect(running.url).toMatch(/^http:\/\/\[::1\]:\d+$/)
    expect((await fetch(`${running.url}/healthz`)).status).toBe(200)
    await running.stop()
  })
})
