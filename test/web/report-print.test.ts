import { expect, test } from 'bun:test'
import { openScreen } from './screen.ts'
import { openAs, startTestServer } from './test-server.ts'

const MAX_PAGES = 2

test('the weekly report prints on one or two A4 pages, in the light theme, without navigation or truncated text', async () => {
  await using server = await startTestServer()
  await using screen = await openScreen(server.url)
  const { page } = screen
  const { body: domain } = await server.app.call('POST', '/v1/domains', { body: { name: 'shop.example' } })
  await server.app.collect(domain.token, { events: [{ vendor: 'Shop', event: 'view', params: {} }] })
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'dark' }])
  await openAs(screen, server.app.owner.apiKey, '/report')
  await screen.sees('table', 'Scores')
  expect(await screen.has('button', 'Print')).toBe(true)
  const scheme = () => page.evaluate(() => document.documentElement.dataset.mantineColorScheme)

  // Simulates printing.
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')))
  await page.emulateMediaType('print')
  expect(await scheme()).toBe('light')
  for (const [role, name] of [
    ['button', 'Print'],
    ['navigation', 'Main'],
    ['button', 'Search'],
    ['button', 'Account'],
  ] as const) {
    expect({ name, isThere: await screen.has(role, name) }).toEqual({ name, isThere: false })
  }
  const cut = await page.evaluate(() =>
    [...document.querySelectorAll('main *')]
      .filter(
        (one) =>
          one.clientWidth > 1 &&
          getComputedStyle(one).overflowY === 'hidden' &&
          one.scrollHeight > one.clientHeight + 1,
      )
      .map((one) => one.textContent),
  )
  expect(cut).toEqual([])
  await page.evaluate(() => dispatchEvent(new Event('afterprint')))
  await page.emulateMediaType('screen')
  expect(await scheme()).toBe('dark')

  const pdf = Buffer.from(await page.pdf({ preferCSSPageSize: true, printBackground: true })).toString('latin1')
  const pages = pdf.match(/\/Type\s*\/Page\b/g) ?? []
  expect(pages.length).toBeGreaterThan(0)
  expect(pages.length).toBeLessThanOrEqual(MAX_PAGES)
})
