import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'puppeteer-core'
import { PLAIN_PRIVACY } from '../../src/conditions/privacy-settings.ts'
import { applyRunFindings } from '../../src/issues/apply-run-findings.ts'
import { FLOW_TEST } from '../../src/issues/issue-kinds.ts'
import { SHARE_HEADERS, sharePage } from '../../src/shares/page/share-page.ts'
import { type AuditReport, publicReport } from '../../src/shares/public-report.ts'
import { TEST_START } from '../fixtures.ts'
import { aRun, FINDINGS, storeRun } from '../flows/finished-run.fixture.ts'
import { type TestApp, testApp } from '../test-app.ts'
import { openScreen } from '../web/screen.ts'
import { startBrowser } from './chromium.ts'
import { FAULTS } from './page-defects.ts'

const chromium = await startBrowser()
afterAll(() => chromium[Symbol.asyncDispose]())

/** Folder to which screenshots are saved for visual checks and for `docs/`; none by default. */
const PICTURES = process.env.SHARE_PICTURES

const SHOP = `<body style="margin:0;font:18px sans-serif;background:#faf7f2;color:#222"><header style="background:#1f3a5f;color:#fff;padding:22px 40px;font-size:26px">Shirts and Socks</header>
<main style="padding:40px"><h1>Blue shirt</h1><p>Cotton, in four sizes. 19.90 €</p><button style="font:inherit;padding:12px 24px;background:#d9822b;color:#fff;border:0;border-radius:6px">Add to basket</button></main>`

let shop: Uint8Array
beforeAll(async () => {
  const page = await chromium.browser.newPage()
  await page.setViewport({ width: 1280, height: 800 })
  await page.setContent(SHOP)
  shop = await page.screenshot()
  await page.close()
})

const long = 'x'.repeat(300)

/** Runs in the page: expands or collapses all details. */
const SET_DETAILS_OPEN = (isOpen: boolean) =>
  `for (const one of document.querySelectorAll('details')) one.open = ${isOpen}`

/** An audit of three pages, which together have every kind of problem. */
const audit: AuditReport = {
  kind: 'audit',
  name: 'Shop, weekly',
  status: 'finished',
  startedAt: TEST_START,
  finishedAt: TEST_START + 95_000,
  region: 'local',
  error: null,
  pagesTotal: 320,
  pagesFailed: 1,
  vendors: 3,
  missing: 1,
  duplicates: 1,
  beforeConsent: 1,
  errors: 1,
  pages: [
    {
      url: 'https://shop.example/',
      status: 200,
      title: 'Shop',
      loadMs: 640,
      requests: 31,
      error: null,
      missing: [],
      tags: [{ vendor: 'Google Analytics 4', event: 'page_view', account: 'G-ABC123', count: 2 }],
      duplicates: [{ vendor: 'Google Analytics 4', event: 'page_view', count: 2 }],
      beforeConsent: [{ vendor: 'Meta Pixel', event: 'PageView' }],
      errors: ['TypeError: coupon is null'],
    },
    {
      url: `https://shop.example/${long}`,
      status: 200,
      title: long,
      loadMs: 12_000,
      requests: 1,
      error: null,
      tags: [],
      missing: [{ vendor: long, event: long }],
      duplicates: [],
      beforeConsent: [],
      errors: [],
    },
    {
      url: 'https://shop.example/gone',
      status: null,
      title: '',
      loadMs: 20_000,
      requests: 0,
      error: 'there was no answer within 20 s',
      tags: [],
      missing: [],
      duplicates: [],
      beforeConsent: [],
      errors: [],
    },
  ],
  differences: [
    { url: 'https://shop.example/', change: 'tag_gone', vendor: 'Meta Pixel', event: 'Purchase' },
    { url: 'https://shop.example/new', change: 'page_new', vendor: null, event: null },
  ],
}

/** Shares a run that has findings, optionally with long texts, and returns the path of the public page. */
async function shareIn(program: TestApp, isLong: boolean): Promise<string> {
  const facts = aRun()
  if (isLong) {
    for (const { params } of facts.events) params[long] = long
    Object.assign(facts.steps[1] ?? {}, { title: long, healed: { before: long, after: long } })
  }
  const id = storeRun(program, facts, { name: isLong ? long.slice(0, 200) : 'Checkout', picture: () => shop })
  const { body } = await program.call('POST', `/v1/audits/${id}/share`, { body: { screenshots: true } })
  return new URL(body.url).pathname
}

/** Saves the screenshots for `docs/use/flow-tests.md`: the top of the page, and one step. */
async function guidePictures(page: Page, folder: string): Promise<void> {
  await page.screenshot({ path: join(folder, 'report.png'), clip: { x: 190, y: 10, width: 900, height: 640 } })
  const step = await page.$('.steps li:nth-child(2)')
  await step?.screenshot({ path: join(folder, 'step.png') })
}

test('a shared page is readable on phones, desktops and paper, and loads only its own images', async () => {
  await using program = await testApp()
  const auditPage = sharePage(publicReport(audit, PLAIN_PRIVACY), {
    expiresAt: TEST_START + 86_400_000,
    timezone: 'UTC',
  })
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: (request) =>
      new URL(request.url).pathname === '/audit'
        ? new Response(auditPage, { headers: { ...SHARE_HEADERS, 'content-type': 'text/html; charset=utf-8' } })
        : program.app.fetch(request),
  })
  try {
    const page = await chromium.browser.newPage()
    const errors: string[] = []
    const requests: string[] = []
    page.on('console', (message) => void errors.push(message.text()))
    page.on('request', (request) => requests.push(request.url()))
    const origin = `http://127.0.0.1:${server.port}`
    const pages = { run: await shareIn(program, false), 'long-run': await shareIn(program, true), audit: '/audit' }
    for (const [name, path] of Object.entries(pages)) {
      for (const width of [360, 1280]) {
        for (const scheme of ['light', 'dark'] as const) {
          await page.setViewport({ width, height: 900 })
          await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }])
          await page.goto(origin + path, { waitUntil: 'load' })
          await page.evaluate(SET_DETAILS_OPEN(true))
          expect({ name, width, scheme, faults: await page.evaluate(FAULTS) }).toMatchObject({ faults: [] })
          const loaded = await page.$$eval('img', (all) => all.map(({ naturalWidth }) => naturalWidth))
          expect(loaded).toEqual(name === 'audit' ? [] : [1280, 1280, 1280, 1280])
          if (!PICTURES || scheme === 'dark') continue
          await page.evaluate(SET_DETAILS_OPEN(false))
          mkdirSync(PICTURES, { recursive: true })
          await page.screenshot({ path: join(PICTURES, `${name}-${width}.png`), fullPage: true })
          if (name === 'run' && width === 1280) await guidePictures(page, PICTURES)
        }
      }
    }
    const paper = await page.pdf({ format: 'A4' })
    expect(paper.length).toBeGreaterThan(1000)
    expect(requests.filter((url) => !url.startsWith(origin))).toEqual([])
    expect(errors.filter((text) => !text.includes('favicon'))).toEqual([])
  } finally {
    await server.stop(true)
  }
})

test('the issue page shows the run that detected the issue, with screenshots', async () => {
  await using program = await testApp()
  const { app, clock, owner } = program
  const facts = aRun()
  const id = storeRun(program, facts, { picture: () => shop })
  const subject = { kind: FLOW_TEST, id: 'tst_1', orgId: owner.orgId, name: 'Checkout', domainId: null }
  const parts = { db: app.db, now: clock.now(), privacy: PLAIN_PRIVACY, enqueue: () => undefined }
  const run = {
    id,
    at: clock.now(),
    findings: FINDINGS,
    isWhole: true,
    hosts: ['shop.example'],
    events: facts.events,
  }
  applyRunFindings(parts, { ...subject, severity: 'high', impactValue: null, channels: [] }, run)
  const { body } = await program.call('GET', '/v1/issues?q=transaction_id')
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: (request) => program.app.fetch(request) })
  try {
    await using screen = await openScreen(`http://127.0.0.1:${server.port}`, chromium.browser)
    await screen.open(`/issues/${body.issues[0].id}`)
    await screen.press('Sign in with an API key')
    await screen.type('API key', owner.apiKey)
    await screen.press('Sign in')
    await screen.sees('link', 'View run')
    const picture = await screen.page.waitForSelector('img[alt^="Screenshot of"]')
    const width = await picture?.evaluate(async (image) => {
      await (image as HTMLImageElement).decode()
      return (image as HTMLImageElement).naturalWidth
    })
    expect(width).toBe(1280)
    const steps = await screen.page.$$eval('main ol > li', (items) => items.map(({ textContent }) => textContent))
    expect(steps).toHaveLength(5)
    expect(steps[3]).toContain('Click “Buy”')
    expect(steps[3]).toContain('Passed')
    expect(steps[4]).toContain('there is no such element')
  } finally {
    await server.stop(true)
  }
})

test('a run is shared with only the selected screenshots, on phones and desktops', async () => {
  await using program = await testApp()
  const { owner } = program
  const id = storeRun(program, aRun(), { picture: () => shop })
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: (request) => program.app.fetch(request) })
  try {
    await using screen = await openScreen(`http://127.0.0.1:${server.port}`, chromium.browser)
    await screen.open(`/tests/runs/${id}`)
    await screen.press('Sign in with an API key')
    await screen.type('API key', owner.apiKey)
    await screen.press('Sign in')
    for (const [ticked, width] of [360, 1280].entries()) {
      await screen.page.setViewport({ width, height: 800 })
      await screen.press('Share run')
      await screen.page.waitForFunction(
        () => document.querySelectorAll('[role=dialog] fieldset img[alt^="Screenshot of"]').length === 4,
      )
      const boxes = await screen.page.$$('[role=dialog] fieldset input[type=checkbox]')
      const states = await Promise.all(boxes.map((box) => box.evaluate(({ checked }) => checked)))
      expect(states).toEqual([false, false, false, false])
      const tooWide = await screen.page.$$eval('[role=dialog] *', (elements) =>
        elements.filter((one) => one.getBoundingClientRect().right > innerWidth + 1).map(({ tagName }) => tagName),
      )
      expect(tooWide).toEqual([])
      if (ticked > 0) await screen.page.locator('[role=dialog] fieldset input[type=checkbox]').click()
      if (PICTURES) await screen.page.screenshot({ path: join(PICTURES, `sharing-${width}.png`) })
      await screen.press('Create link')
      const link = await screen.page.waitForSelector('[role=dialog] input[readonly], [role=dialog] code')
      const url = await link?.evaluate((one) => (one as HTMLInputElement).value ?? one.textContent ?? '')
      const page = await program.app.fetch(new Request(`http://localhost${new URL(url ?? '').pathname}`))
      expect([...(await page.text()).matchAll(/<img src="([^"]+)"/g)].map(([, src]) => src)).toEqual(
        Array.from({ length: ticked }, (_, step) => `?step=${step}`),
      )
      await screen.press('Done')
      await screen.page.waitForFunction(() => !document.querySelector('[role=dialog]'))
    }
  } finally {
    await server.stop(true)
  }
})
