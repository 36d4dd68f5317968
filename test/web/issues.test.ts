import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { Page } from 'puppeteer-core'
import { newId } from '../../src/core/id.ts'
import { findingOf } from '../../src/issues/issue.fixture.ts'
import { startBrowser, type TestBrowser } from '../browser/chromium.ts'
import { aRun, storeRun } from '../flows/finished-run.fixture.ts'
import { axeFindings } from './axe.ts'
import { openScreen, type Screen } from './screen.ts'
import { openAs, startTestServer, type TestServer } from './test-server.ts'

/** Maximum number of rows in the document, regardless of the length of the list. */
const MAX_ROWS = 120

/** An image of one pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

let browser: TestBrowser
beforeAll(async () => {
  browser = await startBrowser()
})
afterAll(() => browser[Symbol.asyncDispose]())

let server: TestServer
beforeEach(async () => {
  server = await startTestServer()
})

/** Opens a page with an API key, by default the owner's, and runs the steps on it. */
async function onPage(
  path: string,
  steps: (screen: Screen, page: Page) => Promise<void>,
  key = server.app.owner.apiKey,
) {
  await using _server = server
  await using screen = await openScreen(server.url, browser.browser)
  await screen.page.setViewport({ width: 1280, height: 900 })
  await openAs(screen, key, path)
  await steps(screen, screen.page)
}

const statusOf = async (id: string) => (await server.app.call('GET', `/v1/issues/${id}`)).body.status
const statuses = async (...ids: string[]) => (await Promise.all(ids.map(statusOf))).join(' ')
const untilStatus = async (expected: string, ...ids: string[]) => {
  while ((await statuses(...ids)) !== expected) await Bun.sleep(20)
}
const focused = (page: Page) => page.evaluate(() => document.activeElement?.textContent ?? '')
const titles = (page: Page) => page.$$eval('tbody tr[data-id] a', (links) => links.map((link) => link.textContent))

describe('the list of issues', () => {
  test('acknowledges three selected issues by keyboard, and undoes the change', async () => {
    server.openIssues([{ title: 'One' }, { title: 'Two' }, { title: 'Three' }, { title: 'Four' }])
    await onPage('/issues', async (screen, page) => {
      await screen.sees('table', 'Issues')
      await page.keyboard.press('j')
      expect(await focused(page)).toBe('One')
      await page.keyboard.press('ArrowDown')
      expect(await focused(page)).toBe('Two')
      await page.keyboard.press('k')
      await page.keyboard.press('x')
      await screen.sees('toolbar', 'Selected issues')
      await page.keyboard.down('Shift')
      await page.keyboard.press('j')
      await page.keyboard.press('j')
      await page.keyboard.up('Shift')
      await screen.reads('3 selected')
      await screen.press('Search')
      await screen.press('Acknowledge: 3 selected', 'option')
      await screen.reads('3 issues acknowledged.')
      expect(await statuses('iss_0', 'iss_1', 'iss_2', 'iss_3')).toBe('acknowledged acknowledged acknowledged open')
      await page.keyboard.press('z')
      await untilStatus('open open open open', 'iss_0', 'iss_1', 'iss_2', 'iss_3')
      await page.keyboard.press('Escape')
      await page.waitForFunction(() => !document.querySelector('[role=toolbar]'))
      expect(await axeFindings(page)).toEqual([])
      expect(screen.errors).toEqual([])
    })
  })

  test('reverts a change that the server rejects, shows its error and offers a retry', async () => {
    server.openIssues([{ title: 'One' }])
    await onPage('/issues', async (screen, page) => {
      await screen.sees('table', 'Issues')
      server.refuse('PATCH /v1/issues/iss_0', 409, 'the moon is full')
      await page.keyboard.press('j')
      await page.keyboard.press('r')
      await screen.reads('the moon is full')
      await page.waitForFunction(() => document.querySelector('tbody tr[data-id]')?.textContent?.includes('Open'))
      server.refuse(null)
      await screen.press('Retry')
      await screen.reads('1 issue resolved.')
      expect(await statusOf('iss_0')).toBe('resolved')
      await screen.press('Undo')
      await untilStatus('open', 'iss_0')
    })
  })

  test('renders only rows near the viewport, and loads more when moving by keyboard', async () => {
    server.openIssues(Array.from({ length: 350 }, (_, index) => ({ title: `Issue ${index}` })))
    await onPage('/issues', async (screen, page) => {
      await screen.sees('table', 'Issues')
      const rows = () => page.$$eval('tbody tr[data-id]', (all) => all.length)
      // At the end of the loaded rows, the focus moves to the next row only after more rows have loaded.
      while ((await focused(page)) !== 'Issue 219') await page.keyboard.press('j')
      expect(await rows()).toBeLessThan(MAX_ROWS)
      const rowIndex = () =>
        page.evaluate(() => document.activeElement?.closest('tr')?.getAttribute('aria-rowindex') ?? '')
      expect(await rowIndex()).toBe('221')
      await page.evaluate(() => window.scrollTo(0, document.body.scrollHeight))
      await page.waitForFunction(() => document.querySelector('table')?.getAttribute('aria-rowcount') === '351')
      expect(await rows()).toBeLessThan(MAX_ROWS)
    })
  })

  test('preserves filters in the URL across a reload until they are cleared', async () => {
    server.openIssues([
      { title: 'Grave', severity: 'critical' },
      { title: 'Small', severity: 'low' },
      { title: 'Over', severity: 'low', status: 'resolved' },
    ])
    await onPage('/issues', async (screen, page) => {
      await screen.sees('table', 'Issues')
      expect(await titles(page)).toEqual(['Grave', 'Small'])
      await screen.press('Severity', 'combobox')
      await screen.press('Low', 'option')
      await page.waitForFunction(() => location.search === '?severity=low')
      await page.waitForFunction(() => document.querySelectorAll('tbody tr[data-id]').length === 1)
      expect(await titles(page)).toEqual(['Small'])
      await page.reload()
      await screen.sees('table', 'Issues')
      expect(await titles(page)).toEqual(['Small'])
      await screen.type('Search', 'no such issue title')
      await screen.reads('No issues match these filters.')
      expect(new URL(page.url()).searchParams.get('q')).toBe('no such issue title')
      await screen.press('Clear filters')
      await page.waitForFunction(() => document.querySelectorAll('tbody tr[data-id]').length === 2)
      expect(new URL(page.url()).search).toBe('')
    })
  })

  test('is read-only for viewers and names the required role', async () => {
    server.openIssues([{ title: 'One' }])
    const key = server.keyOf('viewer')
    await onPage(
      '/issues',
      async (screen, page) => {
        await screen.sees('table', 'Issues')
        await screen.reads('Read-only.')
        expect(await screen.has('checkbox', 'Select One')).toBe(false)
        await page.keyboard.press('j')
        await page.keyboard.press('Enter')
        await screen.sees('heading', 'One')
        expect(await screen.has('button', 'Resolve')).toBe(false)
        await page.keyboard.press('r')
        expect(await statusOf('iss_0')).toBe('open')
      },
      key,
    )
  })

  test('shows an empty state, and updates within seconds when issues change elsewhere', async () => {
    await onPage('/issues', async (screen, page) => {
      await screen.reads('Nothing is wrong that Tagwarden knows of.')
      await page.waitForFunction(() => document.querySelector('[data-live]'))
      server.openIssues([{ id: newId('iss', Date.now()), title: 'Brand new', severity: 'critical' }])
      await screen.reads('Brand new')
      await screen.reads('1 new issue, 1 critical')
      await page.waitForFunction(() => document.title === 'Issues (1) · Tagwarden')
      const [{ id }] = (await server.app.call('GET', '/v1/issues')).body.issues
      await server.app.call('PATCH', `/v1/issues/${id}`, { body: { status: 'acknowledged' } })
      await page.waitForFunction(() => document.querySelector('tbody tr[data-id]')?.textContent?.includes('Acknowl'))
    })
  })
})

describe('the page for an issue', () => {
  test('has actions, a note that is saved automatically, and links to the next and previous issue', async () => {
    server.openIssues([{ title: 'One' }, { title: 'Two', severity: 'low' }])
    await onPage('/issues', async (screen, page) => {
      await screen.press('One', 'link')
      await screen.sees('heading', 'One')
      expect(await page.title()).toBe('One · Tagwarden')
      await screen.reads('1 of 2')
      await screen.type('Note', 'The checkout team is looking into it')
      await screen.reads('Changes saved')
      expect((await server.app.call('GET', '/v1/issues/iss_0')).body.notes).toBe('The checkout team is looking into it')
      await screen.press('Mute')
      await screen.press('1 day', 'menuitem')
      await screen.reads('1 issue muted.')
      const { body } = await server.app.call('GET', '/v1/issues/iss_0')
      expect([body.status, body.mutedUntil > server.app.clock.now()]).toEqual(['muted', true])
      await screen.press('Reopen')
      await untilStatus('open', 'iss_0')
      await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur())
      await page.keyboard.press('j')
      await screen.sees('heading', 'Two')
      expect(await axeFindings(page)).toEqual([])
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'dark' }])
      await page.setViewport({ width: 360, height: 800 })
      await page.reload()
      await screen.sees('heading', 'Two')
      await page.waitForNetworkIdle({ concurrency: 1 })
      expect(await axeFindings(page)).toEqual([])
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360)
      await page.goBack()
      await screen.sees('heading', 'Issues')
      expect(await axeFindings(page)).toEqual([])
      expect(screen.errors).toEqual([])
    })
  })

  test('mutes an issue until a time, with a reason, on one host, and shows this in its history', async () => {
    server.openIssues([{ title: 'One', hosts: ['old.example', 'new.example'] }])
    await onPage('/issues/iss_0', async (screen, page) => {
      const openDialog = async () => {
        await screen.press('Mute')
        await screen.press('Other time, reason or hosts…', 'menuitem')
        await screen.sees('dialog', 'Mute issue')
      }
      await openDialog()
      const time = await page.waitForSelector('input[type="datetime-local"]')
      const enter = (text: string) =>
        time?.evaluate((input, value) => {
          Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')?.set?.call(input, value)
          input.dispatchEvent(new Event('input', { bubbles: true }))
        }, text)
      await enter('2020-01-01T09:00')
      const submit = () => page.locator('[role=dialog] button[type=submit]').click()
      await submit()
      await screen.reads('must be in the future')
      const year = new Date().getUTCFullYear() + 1
      await enter(`${year}-01-04T09:00`)
      await screen.type('Reason', 'The old shop closes')
      await screen.press('old.example', 'checkbox')
      expect(await axeFindings(page)).toEqual([])
      await submit()
      await screen.reads('1 issue muted.')
      const { body } = await server.app.call('GET', '/v1/issues/iss_0')
      const mutedUntil = Date.UTC(year, 0, 4, 9)
      const mute = { status: 'muted', muteReason: 'The old shop closes', mutedHosts: ['old.example'] }
      expect(body).toMatchObject({ ...mute, ...(mutedUntil - Date.now() < 366 * 86_400_000 && { mutedUntil }) })
      const last = 'ul[aria-label="What happened"] > :last-child, [aria-label="What happened"] > :last-child'
      await page.waitForFunction(
        (selector, texts) => {
          const said = document.querySelector(selector)?.textContent ?? ''
          return texts.every((text) => said.includes(text))
        },
        {},
        last,
        ['Muted', 'until', String(year), 'old.example', 'The old shop closes'],
      )
      await screen.press('Undo')
      await untilStatus('open', 'iss_0')
      await page.waitForFunction(() => document.querySelector('[role=dialog]') === null)
      await screen.press('Mute')
      await page.waitForFunction(() => {
        const items = [...document.querySelectorAll<HTMLElement>('[role=menuitem]')]
        const monday = items.find(({ textContent }) => textContent?.startsWith('Until Monday 9:00'))
        monday?.click()
        return monday !== undefined
      })
      await untilStatus('muted', 'iss_0')
      const again = (await server.app.call('GET', '/v1/issues/iss_0')).body
      const ends = new Date(again.mutedUntil)
      expect([ends.getUTCDay(), ends.getUTCHours(), ends.getUTCMinutes()]).toEqual([1, 9, 0])
      expect(again).not.toHaveProperty('mutedHosts')
    })
  })

  test('mutes several selected issues at once, and undoes the change', async () => {
    server.openIssues([{ title: 'One' }, { title: 'Two' }, { title: 'Three' }])
    await onPage('/issues', async (screen, page) => {
      await screen.sees('table', 'Issues')
      await page.keyboard.press('j')
      await page.keyboard.press('x')
      await page.keyboard.press('j')
      await page.keyboard.press('x')
      await screen.sees('toolbar', 'Selected issues')
      await screen.press('Mute')
      await screen.press('1 week', 'menuitem')
      await screen.reads('2 issues muted.')
      expect(await statuses('iss_0', 'iss_1', 'iss_2')).toBe('muted muted open')
      await screen.press('Undo')
      await untilStatus('open open open', 'iss_0', 'iss_1', 'iss_2')
      expect(screen.errors).toEqual([])
    })
  })

  test('shows the flow test run that found the issue, with screenshots', async () => {
    const runId = storeRun(server.app, aRun(), { picture: () => PNG })
    server.openIssues([{ title: 'Purchase did not fire', alertType: 'flow_test', evidence: findingOf({ runId }) }])
    await onPage('/issues/iss_0', async (screen, page) => {
      await screen.reads('Most recent run with this finding')
      await screen.reads('there is no such element')
      await page.waitForFunction(() => [...document.images].some(({ naturalWidth }) => naturalWidth > 0))
      // One screenshot is shown at a time, initially the last one before the failed step.
      await screen.sees('image', 'Screenshot of Click “Buy”')
      await screen.press('Show screenshot of Open shop.example')
      await screen.sees('image', 'Screenshot of Open shop.example')
      expect(await page.evaluate(() => document.images.length)).toBe(1)
      expect(await axeFindings(page)).toEqual([])
      expect(screen.errors).toEqual([])
    })
  })

  test('reports that the issue does not exist, and links to the list', async () => {
    await onPage('/issues/iss_nowhere', async (screen) => {
      await screen.sees('heading', 'There is no such issue')
      await screen.press('Back to issues', 'link')
      await screen.sees('heading', 'Issues')
    })
  })
})

test('the palette finds pages, items and actions', async () => {
  server.openIssues([{ title: 'Checkout has no basket' }])
  await onPage('/', async (screen, page) => {
    await screen.sees('button', 'Search')
    const openPalette = async () => {
      await page.keyboard.down('Control')
      await page.keyboard.press('k')
      await page.keyboard.up('Control')
      await screen.sees('dialog', 'Command palette')
      await page.waitForFunction(() => document.activeElement?.getAttribute('role') === 'combobox')
    }
    await openPalette()
    await page.keyboard.type('iss')
    await page.keyboard.press('Enter')
    await screen.sees('heading', 'Issues')
    await openPalette()
    await page.keyboard.type('basket')
    await page.waitForFunction(() =>
      document.querySelector('[role=option][aria-selected=true]')?.textContent?.includes('basket'),
    )
    await page.keyboard.press('Enter')
    await screen.sees('heading', 'Checkout has no basket')
    await openPalette()
    await page.keyboard.type('close')
    await page.keyboard.press('Enter')
    await untilStatus('resolved', 'iss_0')
    // Before anything is typed, the palette offers recently visited pages other than the current one.
    await openPalette()
    expect(await screen.has('option', 'Checkout has no basket Issues')).toBe(false)
    await page.keyboard.type('compl')
    await page.keyboard.press('Enter')
    await screen.sees('heading', 'Compliance')
    await openPalette()
    await screen.press('Checkout has no basket Issues', 'option')
    await screen.sees('heading', 'Checkout has no basket')
    expect(screen.errors).toEqual([])
  })
})

test('new issues do not move focused rows; they are counted and shown on request', async () => {
  server.openIssues([{ id: 'iss_a', alertId: 'alr_a', title: 'One' }])
  await onPage('/issues', async (screen, page) => {
    await screen.sees('table', 'Issues')
    await page.keyboard.press('j')
    server.openIssues([{ id: 'iss_b', alertId: 'alr_b', title: 'Graver', severity: 'critical' }])
    await screen.sees('button', 'Show 1 new issue')
    expect(await titles(page)).toEqual(['One'])
    await screen.press('Show 1 new issue')
    await page.waitForFunction(() => document.querySelectorAll('tbody tr[data-id]').length === 2)
    expect(await titles(page)).toEqual(['Graver', 'One'])
  })
})
