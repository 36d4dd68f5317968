import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { initialize, startServer, temporaryFolder, until } from '../run-program.ts'
import { startBrowser } from './chromium.ts'

test('the API reference lists every operation and can call one with an API key', async () => {
  using folder = temporaryFolder()
  const data = join(folder.path, 'data')
  const apiKey = await initialize(data)
  await using server = await startServer(data)
  const { paths } = (await (await fetch(`${server.url}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, { summary: string }>>
  }
  const summaries = Object.values(paths).flatMap((methods) => Object.values(methods).map(({ summary }) => summary))

  await using chromium = await startBrowser()
  const page = await chromium.browser.newPage()
  const errors: string[] = []
  const origins = new Set<string>()
  page.on('request', (request) => {
    // Small images are inlined as `data:` URLs.
    if (!request.url().startsWith('data:')) origins.add(new URL(request.url()).origin)
  })
  page.on('pageerror', (error) => errors.push(String(error)))
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(`${message.text()} ${message.location().url}`)
  })
  await page.exposeFunction('report', (violation: string) => errors.push(violation))
  await page.evaluateOnNewDocument(`
      addEventListener('securitypolicyviolation', (event) => report(event.violatedDirective + ' ' + event.blockedURI))`)

  const shows = (text: string) =>
    page.waitForFunction(
      (text) => document.querySelector('rapi-doc')?.shadowRoot?.textContent?.includes(text),
      {},
      text,
    )
  for (const [scheme, color] of [
    ['light', 'rgb(255, 255, 255)'],
    ['dark', 'rgb(20, 23, 28)'],
  ] as const) {
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }])
    await page.goto(`${server.url}/docs`)
    for (const summary of summaries) await shows(summary)
    expect(await page.$eval('rapi-doc', (docs) => getComputedStyle(docs).backgroundColor)).toBe(color)
  }

  for (const path of ['index', 'use/alerts', 'use/flow-tests']) {
    await page.goto(`${server.url}/docs/${path}`)
    await page.waitForSelector('main h1')
    expect(await page.$$eval('img', (all) => all.filter(({ naturalWidth }) => naturalWidth === 0).length)).toBe(0)
  }

  await page.goto(`${server.url}/docs#auth`)
  await page.locator('rapi-doc >>> input[placeholder=api-token]').fill(apiKey)
  await page.locator('rapi-doc >>> .api-key-input + button').click()
  await shows('1 API key applied')
  await page.goto(`${server.url}/docs#get-/v1/whoami`)
  await page.locator('rapi-doc >>> button[part~=btn-try]').click()
  await page.waitForSelector('rapi-doc >>> ::-p-text("orgName": "Acme")')
  expect(errors).toEqual([])
  expect([...origins]).toEqual([server.url])

  // Makes sure that the policy is enforced, and that this test detects violations.
  await page.evaluate(
    `document.head.append(Object.assign(document.createElement('script'), { text: 'report("ran")' }))`,
  )
  await until('the policy violation', () => errors.some((line) => line.startsWith('script-src')))
  expect(errors).not.toContain('ran')
})
