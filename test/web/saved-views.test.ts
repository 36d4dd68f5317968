import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startBrowser, type TestBrowser } from '../browser/chromium.ts'
import { axeFindings } from './axe.ts'
import { openScreen } from './screen.ts'
import { openAs, startTestServer } from './test-server.ts'

let browser: TestBrowser
beforeAll(async () => {
  browser = await startBrowser()
})
afterAll(() => browser[Symbol.asyncDispose]())

test.each([1280, 360])('views of issues are saved, chosen, renamed and deleted at %d px', async (width) => {
  await using server = await startTestServer()
  server.openIssues([
    { title: 'Grave', severity: 'critical' },
    { title: 'Small', severity: 'low' },
  ])
  await using screen = await openScreen(server.url, browser.browser)
  const { page } = screen
  await page.setViewport({ width, height: 800 })
  const rowCount = (count: number) =>
    page.waitForFunction((n) => document.querySelectorAll('tbody tr[data-id]').length === n, {}, count)
  const openMenu = async () => {
    if (width < 768 && (await page.$('search button[aria-expanded=false][aria-controls]:not([aria-haspopup])'))) {
      await page.click('search button[aria-controls]:not([aria-haspopup])')
    }
    await screen.press('Views')
  }

  await openAs(screen, server.app.owner.apiKey, '/issues?severity=critical&sort=-title')
  await rowCount(1)
  await openMenu()
  await screen.press('Save these filters…', 'menuitem')
  await screen.sees('dialog', 'Save view')
  await page.waitForFunction(() => document.activeElement?.matches('[data-autofocus]'))
  await page.keyboard.press('Enter')
  await screen.reads('must not be empty')
  await screen.type('Name', 'The worst')
  expect(await axeFindings(page)).toEqual([])
  // Ctrl+Enter submits every form.
  await page.keyboard.down('Control')
  await page.keyboard.press('Enter')
  await page.keyboard.up('Control')
  await screen.reads('The worst saved.')

  await page.goto(`${server.url}/issues`)
  await rowCount(2)
  await openMenu()
  await screen.sees('menuitem', 'The worst')
  expect(await axeFindings(page)).toEqual([])
  await screen.press('The worst', 'menuitem')
  await page.waitForFunction(() => location.search === '?severity=critical&sort=-title')
  await rowCount(1)

  await openMenu()
  await screen.press('Manage views…', 'menuitem')
  await screen.type('Name of The worst', 'Critical')
  await screen.press('Rename')
  await screen.reads('Renamed to Critical.')
  expect(await axeFindings(page)).toEqual([])
  await screen.press('Share Critical with the organization', 'checkbox')
  const views = async () => (await server.app.call('GET', '/v1/views')).body.views
  while (!(await views())[0].isShared) await Bun.sleep(20)
  expect(await views()).toMatchObject([{ name: 'Critical', search: 'severity=critical&sort=-title', isShared: true }])
  await screen.press('Delete Critical')
  await screen.reads('No saved views')
  expect(await views()).toEqual([])
})

test('events and alerts have separate views', async () => {
  await using server = await startTestServer()
  await using screen = await openScreen(server.url, browser.browser)
  await screen.page.setViewport({ width: 1280, height: 800 })
  const view = { page: 'alerts', name: 'Switched off', search: 'enabled=false' }
  await server.app.call('POST', '/v1/views', { body: view })
  await openAs(screen, server.app.owner.apiKey, '/explore/events')
  await screen.press('Views')
  await screen.reads('No saved views')
  await screen.page.goto(`${server.url}/alerts`)
  await screen.press('Views')
  await screen.press('Switched off', 'menuitem')
  await screen.page.waitForFunction(() => location.search === '?enabled=false')
})
