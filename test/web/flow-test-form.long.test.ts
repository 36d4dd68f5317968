import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { openShopWebsite } from '../../src/commands/demo/shop-website.ts'
import { SECOND_MS } from '../../src/core/clock.ts'
import { startBrowser, type TestBrowser } from '../browser/chromium.ts'
import { installedChromium } from '../browser/installed-chromium.ts'
import { temporaryFolder } from '../run-program.ts'
import { axeFindings } from './axe.ts'
import { named, openScreen, type Screen } from './screen.ts'
import { openAs, startTestServer, type TestServer } from './test-server.ts'

/* Creates, edits and runs flow tests in the dashboard, without JSON. */

const GA4 = 'Google Analytics 4'

let server: TestServer
let browser: TestBrowser
const storefront = openShopWebsite()
const folder = temporaryFolder()
beforeAll(async () => {
  const settings = { chromium: await installedChromium(), outboundAllow: '127.0.0.1' }
  ;[server, browser] = await Promise.all([startTestServer(settings), startBrowser()])
  await server.app.call('PATCH', '/v1/org', { body: { timezone: 'Asia/Tokyo' } })
})
afterAll(async () => {
  await browser[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
  await storefront.close()
  folder[Symbol.dispose]()
})

async function open(path: string): Promise<Screen> {
  const screen = await openScreen(server.url, browser.browser)
  await screen.page.setViewport({ width: 1280, height: 900 })
  await openAs(screen, server.app.owner.apiKey, path)
  return screen
}

const choose = async ({ page }: Screen, name: string, value: string) =>
  (await page.waitForSelector(named('combobox', name)))?.select(value)

async function currentValue({ page }: Screen, role: string, name: string): Promise<string | undefined> {
  const field = await page.waitForSelector(named(role, name))
  const value = await field?.evaluate((one) => (one as HTMLInputElement).value)
  return value
}

/** Waits until the field has this value. */
async function hasValue({ page }: Screen, label: string, value: string): Promise<void> {
  const isSo = (label: string, value: string) =>
    [...document.querySelectorAll('label')].some(
      (one) =>
        one.textContent?.replace(/ \*$/, '') === label && (one.control as HTMLInputElement | null)?.value === value,
    )
  await page.waitForFunction(isSo, {}, label, value)
}

/** Replaces the value of a field as pasting does. */
async function fill({ page }: Screen, name: string, text: string): Promise<void> {
  const field = await page.waitForSelector(named('textbox', name))
  await field?.evaluate((element, text) => {
    const { set } = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value') ?? {}
    set?.call(element, text)
    element.dispatchEvent(new Event('input', { bubbles: true }))
  }, text)
}

/** Shows the steps or the JSON. The radio buttons themselves are hidden behind their labels. */
async function show({ page }: Screen, view: 'Steps' | 'JSON'): Promise<void> {
  const radio = await page.waitForSelector(named('radio', view))
  await radio?.evaluate((one) => (one as HTMLInputElement).labels?.[0]?.click())
}

async function act(screen: Screen, step: number, action: string): Promise<void> {
  // The menu of the previous action fades out.
  await screen.page.waitForFunction(() => document.querySelector('[role=menu]') === null)
  await screen.press(`Actions of step ${step}`)
  await screen.press(action, 'menuitem')
}

async function testNamed(name: string) {
  const { tests } = (await server.app.call('GET', '/v1/flows/tests')).body
  return tests.find((one: { name: string }) => one.name === name)
}

test('a flow test is created, reordered and run by form alone, and its run is read step by step', async () => {
  await using screen = await open('/tests/new')
  const { page } = screen
  await screen.type('Name', 'Join the newsletter')
  await screen.press('Add step')
  await screen.press('Add step')
  await choose(screen, 'Action 2', 'waitForElement')
  await screen.type('Target 2', '#said')
  await screen.press('Add step')
  await screen.type('Target 3', '#nowhere')
  await screen.press('Add step')
  await screen.type('Target 4', '#join')

  // The step without a URL is refused at its field.
  await screen.press('Save test')
  await page.waitForSelector('[aria-invalid=true]')
  expect(await page.$eval('[aria-invalid=true]', (field) => (field as HTMLInputElement).labels?.[0]?.textContent)).toBe(
    'URL 1',
  )
  await screen.reads('is missing')

  await screen.type('URL 1', `${storefront.origin}/newsletter`)
  await screen.press('Expect a tag after step 4')
  expect(await page.evaluate(() => (document.activeElement as HTMLInputElement).labels?.[0]?.textContent)).toBe(
    'Vendor 1',
  )
  await page.keyboard.type(GA4)
  await screen.type('Event 1', 'sign_up')

  // The click is moved before the wait with the keyboard, and its expectation follows.
  await (await page.waitForSelector(named('textbox', 'Target 4')))?.focus()
  await page.keyboard.down('Alt')
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('ArrowUp')
  await page.keyboard.up('Alt')
  await hasValue(screen, 'Target 2', '#join')
  await hasValue(screen, 'Step 1', '1')
  expect(await page.evaluate(() => (document.activeElement as HTMLInputElement).value)).toBe('#join')

  // Deleting can be undone.
  await act(screen, 2, 'Delete step')
  await screen.reads('Step 2 deleted with 1 expected tag.')
  await hasValue(screen, 'Target 2', '#said')
  await screen.press('Undo')
  await hasValue(screen, 'Target 2', '#join')
  await hasValue(screen, 'Event 1', 'sign_up')
  await act(screen, 4, 'Delete step')
  await act(screen, 3, 'Duplicate step')
  await hasValue(screen, 'Target 4', '#said')
  await act(screen, 4, 'Delete step')
  await act(screen, 2, 'Insert step above')
  await hasValue(screen, 'Target 3', '#join')
  await act(screen, 2, 'Delete step')
  await screen.press('Move step 3 up')
  await hasValue(screen, 'Target 2', '#said')
  await screen.press('Move step 2 down')
  await hasValue(screen, 'Target 2', '#join')
  expect(await axeFindings(page)).toEqual([])

  await screen.press('Save test')
  await screen.sees('heading', 'Join the newsletter')
  const saved = await testNamed('Join the newsletter')
  expect(saved.recording).toEqual({
    title: 'Join the newsletter',
    steps: [
      { type: 'navigate', url: `${storefront.origin}/newsletter` },
      { type: 'click', selectors: ['#join'] },
      { type: 'waitForElement', selectors: ['#said'] },
    ],
  })
  expect(saved.expectations).toEqual([{ step: 1, vendor: GA4, event: 'sign_up', min: 1 }])

  await screen.reads('No runs yet.')
  await screen.press('Run now')
  await screen.reads('3 steps passed, 1 vendor fired.')
  const row = (text: string) =>
    page.$$eval(
      'table[aria-label=Steps] tbody tr',
      (rows, text) => rows.map((row) => row.textContent ?? '').filter((row) => row.includes(text)),
      text,
    )
  expect(await row('Click #join')).toEqual([expect.stringContaining('sign_up')])
  await screen.press('Open screenshot of Click #join')
  await screen.sees('dialog', 'Click #join')
  await screen.sees('image', 'Screenshot of Click #join')
  await page.keyboard.press('Escape')
  await page.waitForFunction(() => document.querySelector('[role=dialog]') === null)
  expect(await axeFindings(page)).toEqual([])

  // After the release, the button has another id and no tag.
  storefront.release()
  server.app.clock.advance(SECOND_MS)
  await screen.open(`/tests/${saved.id}`)
  await page.waitForSelector('ol[aria-label="Run history"] a[href*="run_"]')
  await screen.press('Run now')
  await screen.reads('Failed: 1 finding.')
  const [clicked] = await row('Missing')
  expect(clicked).toContain(`Missing${GA4} sign_up`)
  await screen.open(`/tests/${saved.id}`)
  const runs = () =>
    page.$$eval('ol[aria-label="Run history"] a', (links) => links.map(({ textContent }) => textContent ?? ''))
  await page.waitForFunction(() => document.querySelectorAll('ol[aria-label="Run history"] a').length === 2)
  expect(await runs()).toEqual([expect.stringMatching(/^Passed, /), expect.stringMatching(/^Failed, /)])
  await screen.reads('Duration of the runs')
  expect(await axeFindings(page)).toEqual([])
  await (await page.$('ol[aria-label="Run history"] a'))?.click()
  await screen.reads('3 steps passed, 1 vendor fired.')
  expect(screen.errors.filter((line) => !line.includes('400'))).toEqual([])
}, 600_000)

describe('a recording', () => {
  const recording = {
    title: 'Buy',
    timeout: 9000,
    steps: [
      { type: 'navigate', url: 'https://shop.example/' },
      { type: 'customStep', name: 'x', parameters: {} },
      { type: 'click', selectors: [['aria/Add'], ['buy-box', '#add']], target: 'main' },
    ],
  }

  test('is pasted, dropped or chosen as a file, with a clear error, and what was left out is listed', async () => {
    await using screen = await open('/tests/new')
    const { page } = screen
    await fill(screen, 'Paste a recording', '{"title": "Buy",\n "steps": [}')
    await screen.press('Import')
    await screen.reads('Invalid JSON in line 2, column 12.')
    await fill(screen, 'Paste a recording', "const puppeteer = require('puppeteer')")
    await screen.press('Import')
    await screen.reads('This is code. In the Recorder, choose Export')
    await fill(screen, 'Paste a recording', '{"steps": [{"type": "navigate", "url": "file:///etc"}]}')
    await screen.press('Import')
    await screen.reads('recording.steps[0]: url: must be a URL that begins with http:// or https://')
    await fill(screen, 'Paste a recording', JSON.stringify(recording))
    await screen.press('Import')
    await screen.reads('Recording imported with 2 steps.')
    await screen.reads('1 step could not be imported completely:')
    await screen.reads('Step 2 of the recording: customStep: type: customStep belongs to an extension')
    await hasValue(screen, 'Target 2', 'aria/Add')
    expect(await axeFindings(page)).toEqual([])

    // A dropped file replaces the steps, which can be undone.
    await page.evaluate(
      (text) => {
        const dataTransfer = new DataTransfer()
        dataTransfer.items.add(new File([text], 'recording.json', { type: 'application/json' }))
        const zone = document.querySelector('fieldset[aria-label="Import a recording"]')
        for (const type of ['dragenter', 'dragover', 'drop']) {
          zone?.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer }))
        }
      },
      JSON.stringify({ title: 'Other', steps: [{ type: 'navigate', url: 'https://other.example/' }] }),
    )
    await hasValue(screen, 'URL 1', 'https://other.example/')
    await screen.press('Undo')
    await hasValue(screen, 'Target 2', 'aria/Add')

    const file = join(folder.path, 'recording.json')
    await Bun.write(file, JSON.stringify({ ...recording, steps: recording.steps.toReversed() }))
    await (await page.$('input[type=file]'))?.uploadFile(file)
    await hasValue(screen, 'Target 1', 'aria/Add')

    await screen.press('Save test')
    await screen.sees('heading', 'Buy')
    const [first, , last] = recording.steps
    expect((await testNamed('Buy')).recording).toEqual({ title: 'Buy', timeout: 9000, steps: [last, first] })
  })

  test('can be edited as JSON, and invalid JSON is kept until it is fixed or discarded', async () => {
    await using screen = await open('/tests/new')
    const { page } = screen
    await screen.type('Name', 'By JSON')
    await show(screen, 'JSON')
    await fill(screen, 'Recording', JSON.stringify(recording))
    await show(screen, 'Steps')
    await hasValue(screen, 'Target 3', 'aria/Add')
    await screen.type('Target 3', '#other')
    await show(screen, 'JSON')
    expect(JSON.parse((await currentValue(screen, 'textbox', 'Recording')) ?? '').steps[2].selectors).toEqual([
      '#other',
      ['buy-box', '#add'],
    ])
    await fill(screen, 'Recording', '{"steps": [')
    await screen.reads('Invalid JSON in line 1, column 12. The steps were not changed.')
    await show(screen, 'Steps')
    await screen.reads('The JSON is invalid.')
    await screen.press('Save test')
    // The form shows the invalid text instead of saving the last valid steps.
    await page.waitForFunction(() => document.activeElement?.getAttribute('aria-invalid') === 'true')
    expect(await currentValue(screen, 'textbox', 'Recording')).toBe('{"steps": [')
    await fill(screen, 'Recording', JSON.stringify({ steps: [{ type: 'customStep' }] }))
    await show(screen, 'Steps')
    await screen.press('Save test')
    await screen.reads('customStep belongs to an extension of the Recorder and is not supported')
    expect(
      await page.$eval('[aria-invalid=true]', (field) => (field as HTMLSelectElement).labels?.[0]?.textContent),
    ).toBe('Action 1')
  })
})

describe('a schedule', () => {
  const made = async (schedule: string | null) =>
    (
      await server.app.call('POST', '/v1/flows/tests', {
        body: {
          name: `Runs at ${schedule}`,
          recording: { title: 'x', steps: [{ type: 'navigate', url: 'https://shop.example/' }] },
          schedule,
          timezone: 'Europe/Berlin',
        },
      })
    ).body

  test('of an existing test is shown as an interval, with its next runs in the time zone of the organization', async () => {
    const { id } = await made('30 6 * * 1-5')
    await using screen = await open(`/tests/${id}`)
    const { page } = screen
    expect(await currentValue(screen, 'combobox', 'Schedule')).toBe('weekdays')
    await hasValue(screen, 'Time', '06:30')
    await screen.reads('Next runs (Asia/Tokyo):')
    const shown = await page.$$eval('ul[aria-label="Next runs"] time', (times) => times.map((one) => one.dateTime))
    expect(shown).toHaveLength(3)
    for (const at of shown) {
      const local = new Intl.DateTimeFormat('en-GB', { timeZone: 'Europe/Berlin', timeStyle: 'short' }).format(
        new Date(at),
      )
      expect(local).toBe('06:30')
    }
    // 6:30 in Berlin is early afternoon in Tokyo.
    expect(await page.$eval('ul[aria-label="Next runs"]', (list) => list.textContent)).toMatch(/1[34]:30/)
    // Saving without edits changes nothing.
    await screen.press('Save')
    await screen.reads('Test saved.')
    const body = async () => (await server.app.call('GET', `/v1/flows/tests/${id}`)).body
    expect(await body()).toMatchObject({ schedule: '30 6 * * 1-5', timezone: 'Europe/Berlin', version: 1 })

    await choose(screen, 'Schedule', 'quarter')
    await screen.press('Save')
    const isSaved = async () => (await body()).schedule === '*/15 * * * *'
    while (!(await isSaved())) await page.evaluate(() => new Promise(requestAnimationFrame))
    await choose(screen, 'Schedule', 'custom')
    await screen.type('Cron pattern', '0 6 1')
    await screen.reads('This pattern has no next run.')
    await screen.press('Save')
    await screen.reads('"0 6 1" is not a valid cron pattern')
    expect(await axeFindings(page)).toEqual([])
  })

  test('that is no interval is shown as a cron pattern', async () => {
    const { id } = await made('0 6,18 * * *')
    await using screen = await open(`/tests/${id}`)
    expect(await currentValue(screen, 'combobox', 'Schedule')).toBe('custom')
    await hasValue(screen, 'Cron pattern', '0 6,18 * * *')
  })

  test('of a new test is in the time zone of the organization', async () => {
    await using screen = await open('/tests/new')
    await screen.type('Name', 'Every Monday')
    await screen.press('Add step')
    await screen.type('URL 1', 'https://shop.example/')
    await choose(screen, 'Schedule', 'week')
    await choose(screen, 'Day', '3')
    await screen.press('Save test')
    await screen.sees('heading', 'Every Monday')
    expect(await testNamed('Every Monday')).toMatchObject({ schedule: '0 6 * * 3', timezone: 'Asia/Tokyo' })
  })
})
