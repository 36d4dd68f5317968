import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { Page } from 'puppeteer-core'
import { startBrowser, type TestBrowser } from '../browser/chromium.ts'
import { until } from '../run-program.ts'
import { waitForPage } from './navigate.ts'
import { openScreen, type Screen } from './screen.ts'
import { keyboardOf } from './tasks/keyboard.ts'
import { create, openAs, startTestServer, type TestServer } from './test-server.ts'

/*
 * Tests users who are faster than the server. They type and click while a request is pending, or right after navigating
 * from one item to another.
 */

let browser: TestBrowser
beforeAll(async () => {
  browser = await startBrowser()
})
afterAll(() => browser[Symbol.asyncDispose]())

let server: TestServer
beforeEach(async () => {
  server = await startTestServer()
})

/** Opens a page as the owner and runs the steps on it. */
async function onPage(path: string, steps: (screen: Screen, page: Page) => Promise<void>) {
  await using _server = server
  await using screen = await openScreen(server.url, browser.browser)
  await screen.page.setViewport({ width: 1280, height: 900 })
  await openAs(screen, server.app.owner.apiKey, path)
  await steps(screen, screen.page)
}

/** Navigates within the dashboard to another path, without visiting another page in between. */
async function goDirectlyTo(page: Page, address: string) {
  await page.evaluate((to) => {
    history.pushState({}, '', to)
    dispatchEvent(new PopStateEvent('popstate', { state: {} }))
  }, address)
  await waitForPage(page)
}

const textIn = (page: Page, label: string) =>
  page.evaluate((label) => {
    const found = [...document.querySelectorAll('label')].find(({ textContent }) => textContent?.startsWith(label))
    return (document.getElementById(found?.htmlFor ?? '') as HTMLInputElement | null)?.value
  }, label)

const pressed = (screen: Screen, ...names: string[]) => keyboardOf(screen).keys(...names)

describe('navigating directly between items', () => {
  const webhook = (label: string, url: string) =>
    create(server.app, '/v1/integrations', { provider: 'webhook', label, config: { url } })

  test('shows the settings of the current domain', async () => {
    const one = await create(server.app, '/v1/domains', { name: 'one.example' })
    const two = await create(server.app, '/v1/domains', { name: 'two.example' })
    await onPage(`/domains/${one.id}/settings`, async (screen, page) => {
      await screen.sees('heading', 'one.example')
      await waitForPage(page)
      await goDirectlyTo(page, `/domains/${two.id}/settings`)
      await goDirectlyTo(page, `/domains/${one.id}/settings`)
      await screen.sees('heading', 'one.example')
      expect(await textIn(page, 'Name')).toBe('one.example')
    })
  })

  test('shows live events of the current domain', async () => {
    const one = await create(server.app, '/v1/domains', { name: 'one.example' })
    const two = await create(server.app, '/v1/domains', { name: 'two.example' })
    const send = (token: string, event: string) => server.app.collect(token, { events: [{ vendor: 'Shop', event }] })
    await onPage(`/domains/${two.id}/live`, async (screen, page) => {
      await screen.sees('heading', 'two.example')
      await screen.reads('No events in the last 30 minutes')
      await goDirectlyTo(page, `/domains/${one.id}/live`)
      await screen.sees('heading', 'one.example')
      await send(one.token, 'of_one')
      await screen.reads('of_one')
      await goDirectlyTo(page, `/domains/${two.id}/live`)
      await screen.sees('heading', 'two.example')
      await send(two.token, 'of_two')
      await screen.reads('of_two')
      expect(await page.evaluate(() => document.body.textContent?.includes('of_one'))).toBe(false)
    })
  })

  test('shows the settings of the current integration', async () => {
    const one = await webhook('One', 'https://one.example/hook')
    const two = await webhook('Two', 'https://two.example/hook')
    await onPage(`/integrations/${one.id}`, async (screen, page) => {
      await screen.sees('heading', 'One')
      await waitForPage(page)
      await goDirectlyTo(page, `/integrations/${two.id}`)
      await goDirectlyTo(page, `/integrations/${one.id}`)
      await screen.sees('heading', 'One')
      expect(await page.$$eval('main input', (all) => all.map(({ value }) => value))).toContain(
        'https://one.example/hook',
      )
    })
  })
})

describe('keyboard shortcuts', () => {
  test('Control+Enter submits only the focused form', async () => {
    const one = await create(server.app, '/v1/domains', { name: 'one.example' })
    await onPage(`/domains/${one.id}/settings`, async (screen) => {
      await screen.type('Name', 'renamed.example')
      await pressed(screen, 'Control+Enter')
      await screen.reads('Domain renamed.')
      const { name, token } = (await server.app.call('GET', `/v1/domains/${one.id}`)).body
      expect({ name, token }).toEqual({ name: 'renamed.example', token: one.token })
    })
  })
})

describe('actions during a pending request', () => {
  test('a closed dialog does not show its error in the next dialog or close it', async () => {
    await create(server.app, '/v1/projects', { name: 'One' })
    await create(server.app, '/v1/projects', { name: 'Two' })
    await onPage('/settings/projects', async (screen, page) => {
      server.refuse('DELETE /v1/projects', 409, 'it can not be')
      await screen.press('Delete One')
      await page.waitForSelector('[role=dialog]')
      await page.click('[role=dialog] button.destroys')
      await screen.reads('it can not be')
      await screen.press('Cancel')
      await page.waitForFunction(() => document.querySelector('[role=dialog]') === null)
      server.refuse(null)
      await screen.press('Delete Two')
      await page.waitForSelector('[role=dialog]')
      expect(await page.$eval('[role=dialog]', ({ textContent }) => textContent)).not.toContain('it can not be')
      const held = server.hold('DELETE /v1/projects')
      await page.click('[role=dialog] button.destroys')
      await until('the request', () => held.count() > 0)
      await screen.press('Cancel')
      await page.waitForFunction(() => document.querySelector('[role=dialog]') === null)
      await screen.press('Delete One')
      await page.waitForSelector('[role=dialog]')
      expect(await page.$('[role=dialog] [data-loading=true]')).toBeNull()
      held.release()
      await screen.reads('Two')
      await page.waitForFunction(() => document.querySelector('[role=status]')?.textContent?.includes('Two'))
      expect(await page.$('[role=dialog]')).not.toBeNull()
    })
  })

  test('a one-time link is shown even if its dialog was closed', async () => {
    await onPage('/settings/members', async (screen, page) => {
      const held = server.hold('POST /v1/org/members')
      await screen.press('Invite a member')
      await screen.type('E-mail address', 'bob@example.com')
      await pressed(screen, 'Enter')
      await until('the request', () => held.count() > 0)
      await pressed(screen, 'Escape')
      await page.waitForFunction(() => document.querySelector('[role=dialog]') === null)
      held.release()
      await page.waitForFunction(() =>
        [...document.querySelectorAll('input')].some(({ value }) => value.includes('/invite')),
      )
    })
  })

  test('navigating away cancels the redirect after saving', async () => {
    await onPage('/domains/new', async (screen, page) => {
      const held = server.hold('POST /v1/domains')
      await screen.type('Name', 'shop.example')
      await pressed(screen, 'Enter')
      await until('the request', () => held.count() > 0)
      await goDirectlyTo(page, '/settings/preferences')
      const answered = page.waitForResponse((answer) => answer.request().method() === 'POST')
      held.release()
      await answered
      await goDirectlyTo(page, '/settings/keys')
      await screen.sees('heading', 'API keys')
      expect(new URL(page.url()).pathname).toBe('/settings/keys')
    })
  })

  test('a note is saved with its latest text', async () => {
    server.openIssues([{ title: 'One' }])
    await onPage('/issues/iss_0', async (screen) => {
      const note = async () => (await server.app.call('GET', '/v1/issues/iss_0')).body.notes
      const held = server.hold('PATCH /v1/issues')
      await screen.type('Note', 'after')
      await until('the request', () => held.count() > 0)
      await pressed(screen, 'Control+a', 'Delete', 'Tab')
      held.release()
      await screen.reads('Changes saved')
      await until('the latest text', async () => (await note()) === null)
    })
  })

  test('undo reverts the pending action rather than the previous one', async () => {
    server.openIssues([{ title: 'One' }, { title: 'Two' }])
    const statusOf = async (id: string) => (await server.app.call('GET', `/v1/issues/${id}`)).body.status
    await onPage('/issues', async (screen) => {
      await screen.sees('table', 'Issues')
      await pressed(screen, 'j', 'r')
      await until('the first issue to be resolved', async () => (await statusOf('iss_0')) === 'resolved')
      await screen.sees('button', 'Undo')
      const held = server.hold('PATCH /v1/issues')
      await pressed(screen, 'j', 'r')
      await until('the request', () => held.count() > 0)
      await pressed(screen, 'z')
      held.release()
      await until('the second issue to be open', async () => (await statusOf('iss_1')) === 'open')
      expect(await statusOf('iss_0')).toBe('resolved')
    })
  })

  test('clicking right after typing preserves the typed filter', async () => {
    server.openIssues([{ title: 'One' }, { title: 'Two', status: 'acknowledged' }])
    await onPage('/issues', async (screen, page) => {
      await screen.sees('table', 'Issues')
      await screen.type('Search', 'One')
      await screen.press('One', 'link')
      await screen.sees('heading', 'One')
      await page.goBack()
      await screen.sees('table', 'Issues')
      expect(new URL(page.url()).search).toBe('?q=One')
      await screen.type('Search', 'Two')
      await page.click('[role=radiogroup] label:last-child')
      await until('both filters in the URL', () => new URL(page.url()).search === '?q=Two&range=30d')
    })
  })

  test('clearing all filters right after typing clears the input', async () => {
    server.openIssues([{ title: 'One' }, { title: 'Two', status: 'acknowledged' }])
    await onPage('/issues?severity=high', async (screen, page) => {
      await screen.sees('table', 'Issues')
      await screen.type('Search', 'One')
      await screen.press('Clear all')
      await until('a URL without filters', () => new URL(page.url()).search === '')
      await waitForPage(page)
      expect(await textIn(page, 'Search')).toBe('')
    })
  })
})
