import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { type BrowserContext, chromium } from 'playwright-core'
import puppeteer, { type Browser } from 'puppeteer-core'
import { commands } from '../../src/commands/index.ts'
import { installedChromium } from '../browser/installed-chromium.ts'
import { runProgram, temporaryFolder } from '../run-program.ts'

/*
 * The examples of the release gate: a shop whose right release passes and whose broken release fails, the helpers that
 * record HARs, and the pipelines.
 */

const EXAMPLES = resolve(import.meta.dir, '../../examples')
const example = (path: string) => import(join(EXAMPLES, path))
const GATE = [
  '--alerts',
  join(EXAMPLES, 'shop/gate/alerts.yml'),
  '--baseline',
  join(EXAMPLES, 'shop/gate/baseline.json'),
]

let browser: Browser
const folder = temporaryFolder()
beforeAll(async () => {
  browser = await puppeteer.launch({
    executablePath: await installedChromium(),
    args: ['--no-sandbox', '--remote-debugging-port=0'],
  })
})
afterAll(async () => {
  await browser?.close()
  folder[Symbol.dispose]()
})

/** Starts a release of the shop, and returns its URL. */
async function startShop(options: object) {
  const { shop } = await example('shop/shop.mjs')
  const server = shop(options)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/`,
    [Symbol.asyncDispose]: async () => void (await new Promise((resolve) => server.close(resolve))),
  }
}

/** Buys a shirt in a release, and returns the path of the recording. */
async function recordingOf(options: object): Promise<string> {
  const { buy } = await example('shop/buy.mjs')
  await using release = await startShop(options)
  const har = join(folder.path, `${Bun.randomUUIDv7()}.har`)
  await buy(browser, release.url, har)
  return har
}

describe('the shop', () => {
  test('passes when the release is right', async () => {
    const { code, stdout } = await runProgram(['verify', '--har', await recordingOf({}), ...GATE])
    expect(stdout).toContain('Passed. 4 checks of 5 events in 1 recording')
    expect(code).toBe(0)
  })

  test('fails with the sentence that a developer needs when the release has dropped the transaction id', async () => {
    const har = await recordingOf({ dropsTransactionId: true })
    const { code, stdout } = await runProgram(['verify', '--har', har, ...GATE])
    expect(code).toBe(1)
    expect(stdout).toContain('Google Analytics 4 purchase had no `ep.transaction_id` on /thanks\n')
    expect(stdout).toContain(
      'Google Analytics 4 purchase had no `ep.transaction_id` on /thanks; it had a value in the baseline',
    )
  })
})

test('the helper for Playwright records a context, even when the test fails', async () => {
  const { withHar } = await example('har/playwright.mjs')
  const har = join(folder.path, 'playwright.har')
  const playwright = await chromium.launch({ executablePath: await installedChromium(), args: ['--no-sandbox'] })
  try {
    await using release = await startShop({})
    const work = async (context: BrowserContext) => {
      const page = await context.newPage()
      await page.goto(`${release.url}thanks`, { waitUntil: 'networkidle' })
      throw new Error('the test failed')
    }
    await expect(withHar(playwright, har, work)).rejects.toThrow('the test failed')
  } finally {
    await playwright.close()
  }
  const { code, stdout } = await runProgram(['verify', '--har', har, ...GATE.slice(0, 2)])
  expect(stdout).toContain('of 2 events in 1 recording')
  expect(code).toBe(0)
})

test('the helper for Cypress records a spec, from its own hooks', async () => {
  const { installHar } = await example('har/cypress.mjs')
  // A stub of Cypress, which downloads its program when it is installed. The browser is real.
  const handlers: Record<string, (...args: unknown[]) => unknown> = {}
  const tasks: Record<string, () => Promise<unknown>> = {}
  installHar(
    (event: string, handler: never) => {
      if (event === 'task') Object.assign(tasks, handler)
      else handlers[event] = handler
    },
    { folder: join(folder.path, 'hars') },
  )
  expect(tasks.startHar?.()).rejects.toThrow('no debugging port')
  const port = new URL(browser.wsEndpoint()).port
  const options = { args: [`--remote-debugging-port=${port}`] }
  expect(handlers['before:browser:launch']?.({ name: 'chrome' }, options)).toBe(options)
  handlers['before:spec']?.()
  await tasks.startHar?.()
  await using release = await startShop({})
  const page = await browser.newPage()
  await page.goto(`${release.url}thanks`, { waitUntil: 'networkidle0' })
  await handlers['after:spec']?.({ relative: 'cypress/e2e/checkout.cy.js' })
  await page.close()
  const { code, stdout } = await runProgram([
    'verify',
    '--har',
    join(folder.path, 'hars/checkout.cy.js.har'),
    ...GATE.slice(0, 2),
  ])
  expect(stdout).toContain('of 2 events in 1 recording')
  expect(code).toBe(0)
})

describe('the pipelines', () => {
  test.each(readdirSync(join(EXAMPLES, 'ci')))('%s calls the gate with flags that exist', async (name) => {
    const text = readFileSync(join(EXAMPLES, 'ci', name), 'utf8')
    if (name.endsWith('.yml')) expect(Bun.YAML.parse(text)).toBeObject()
    const verify = await commands.verify?.()
    const [, call = ''] = /tagwarden verify ([\s\S]*?)\n *(?:'''|- |#|after_script)/.exec(text) ?? []
    const flags = [...call.matchAll(/ --([a-z-]+)/g)].map(([, flag = '']) => flag)
    expect(flags.length).toBeGreaterThan(4)
    for (const flag of flags) expect(Object.keys(verify?.flags ?? {})).toContain(flag)
  })
})
