import { afterAll, beforeAll, test } from 'bun:test'
import { join } from 'node:path'
import { startBrowser, type TestBrowser } from '../../browser/chromium.ts'
import { initialize, type Server, startServer, temporaryFolder } from '../../run-program.ts'
import { expectNoFaults } from './page-checks.ts'

const folder = temporaryFolder()
let browser: TestBrowser
let server: Server
let key: string
beforeAll(async () => {
  const data = join(folder.path, 'data')
  key = await initialize(data)
  browser = await startBrowser()
  server = await startServer(data)
})
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  await server?.[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

test('every page of an empty server has no defects, and sends requests only to its server', () =>
  expectNoFaults(browser.browser, { url: server.url, key }, [{ width: 360, theme: 'light', runsAxe: true }]))
