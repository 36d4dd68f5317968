import { expect, test } from 'bun:test'
import { ask, until } from '../process.ts'
import { startBrowser } from './chromium.ts'
import { watchedShop } from './watched-shop.ts'

const TEST_MS = 60_000

test(
  'the link of a message leads to the issue, after signing in, and so does the list',
  async () => {
    await using shop = await watchedShop()
    const { server, hooks, apiKey, token } = shop
    const send = (params: Record<string, string>) =>
      ask('POST', `${server.url}/api/v1/events`, token, { events: [{ vendor: 'Shop', event: 'contact', params }] })
    await send({ topic: 'prices' })
    await send({ from: '<img src=//evil.example>jane@example.com' })
    const message = await until('the message', () => hooks.requests[0] ?? null)
    // The server of a test says port 0 of itself.
    const url = server.url + new URL(JSON.parse(message.body).data.url).pathname

    await using chromium = await startBrowser()
    const page = await chromium.browser.newPage()
    const trouble: string[] = []
    page.on('pageerror', (error) => trouble.push(String(error)))
    page.on('console', (said) => {
      if (said.type() === 'error') trouble.push(`${said.text()} ${said.location().url}`)
    })
    const textOf = (id: string) => page.$eval(id, (part) => part.textContent ?? '')
    const rowsOf = (id: string) =>
      page.$$eval(`${id} > *`, (rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent ?? '')))
    const says = (id: string, text: string) =>
      page.waitForFunction((id, text) => document.querySelector(id)?.textContent?.includes(text), {}, id, text)
    await page.goto(url)
    await page.waitForSelector('#by-key button', { visible: true })
    expect(await page.$eval('#issue', (issue) => issue.checkVisibility())).toBe(false)
    await page.type('#by-key input', apiKey)
    await page.click('#by-key button')
    await page.waitForSelector('#issue', { visible: true })
    await says('#state', 'Acme, as owner.')
    expect(await textOf('#issue-title')).toStartWith(
      'Personal data on shop.example: Shop contact events had an e-mail address',
    )
    expect(await textOf('#issue-summary')).toMatch(/1 time at .* UTC\.$/)
    const minute = expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d UTC$/)
    expect(Object.fromEntries(await rowsOf('#issue-facts'))).toEqual({
      ...{ Severity: 'high', Status: 'open', Domain: 'shop.example', Vendor: 'Shop', Event: 'contact' },
      ...{ Since: minute, 'Last seen': minute, Occurrences: '1', Observed: '1', Expected: '0' },
    })
    expect(await rowsOf('#issue-events thead')).toEqual([['Parameter', 'Bad', 'Good']])
    const samples = await rowsOf('#issue-samples')
    expect(samples).toContainEqual(['$event', 'contact', 'contact'])
    expect(samples).toContainEqual(['from', '<img src=//evil.example>j***@e***.com', '–'])
    expect(samples).toContainEqual(['topic', '–', 'prices'])
    expect(samples.flat()).not.toContain('null')
    expect(await page.$('img')).toBeNull()
    expect(await rowsOf('#issue-history')).toContainEqual([
      minute,
      'opened',
      expect.stringContaining('; expected none'),
    ])
    expect(trouble).toEqual([])

    // Whoever signed in here needs no second time.
    await page.click('h1 a')
    await page.waitForSelector('#issues a', { visible: true })
    await page.click('#issues a')
    await page.waitForSelector('#issue', { visible: true })
    expect(page.url()).toBe(url)

    await page.goto(`${server.url}/issues/iss_nobody-made`)
    await says('#state', 'There is no such issue in this organization.')
    expect(await page.$eval('#issue', (issue) => issue.checkVisibility())).toBe(false)
  },
  TEST_MS,
)
