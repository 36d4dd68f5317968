import { expect, test } from 'bun:test'
import type { Page } from 'puppeteer-core'
import { axeFindings } from './axe.ts'
import { phoneFaults } from './every-page/phone-checks.ts'
import { layoutFaults } from './layout-faults.ts'
import { openAs, sharedTestServer } from './test-server.ts'

const here = sharedTestServer()

async function onPhone(path: string): Promise<Page> {
  const { server, screen } = here
  await screen.page.setViewport({ width: 360, height: 640 })
  await openAs(screen, server.app.owner.apiKey, path)
  return screen.page
}

const isVisible = (page: Page, label: string) =>
  page.evaluate((label) => {
    const found = [...document.querySelectorAll('main label')].find((one) => one.textContent === label)
    return found?.checkVisibility() ?? false
  }, label)

test('filters are behind a button with the number of active ones', async () => {
  const { server, screen } = here
  server.openIssues([{ title: 'Purchases: no value', severity: 'critical' }])
  const page = await onPhone('/issues')
  await screen.sees('table', 'Issues')
  expect(await isVisible(page, 'Search')).toBe(true)
  expect(await isVisible(page, 'Severity')).toBe(false)

  await screen.press('Filters')
  expect(await isVisible(page, 'Severity')).toBe(true)
  expect(await isVisible(page, 'Sort by')).toBe(true)
  await screen.press('Severity', 'combobox')
  await screen.press('Critical', 'option')
  await screen.sees('button', 'Filters, 1')
  await page.keyboard.press('Escape')
  expect([...(await layoutFaults(page)), ...(await axeFindings(page)), ...(await phoneFaults(page))]).toEqual([])
  await screen.press('Filters, 1')
  expect(await isVisible(page, 'Severity')).toBe(false)

  // The sort order is not a filter, and the search has its own field.
  await screen.open('/issues?severity=critical&sort=title&q=purchases')
  await screen.sees('button', 'Filters, 1')
  await screen.press('Remove filter Severity')
  await screen.sees('button', 'Filters')
})

test('single choices with the option Any are filters with a chip', async () => {
  const { screen } = here
  await onPhone('/changes?status=clean')
  await screen.sees('button', 'Filters, 1')
  await screen.press('Remove filter Verdict')
  await screen.sees('button', 'Filters')
  await screen.page.waitForFunction(() => !location.search.includes('status'))
})

test('the events page has its domain and texts behind the button', async () => {
  const { screen } = here
  const page = await onPhone('/explore/events?vendor=Meta&param=value%3D1')
  await screen.sees('button', 'Filters, 2')
  expect(await isVisible(page, 'Domain')).toBe(false)
  await screen.press('Filters, 2')
  expect(await isVisible(page, 'Domain')).toBe(true)
  await screen.type('Event', 'purchase')
  await screen.sees('button', 'Filters, 3')
  expect(new URL(page.url()).searchParams.get('event')).toBe('purchase')
})
