import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { buildWeb } from '../../src/build/web-bundle.ts'
import { startBrowser, type TestBrowser } from '../browser/chromium.ts'
import { axeFindings } from './axe.ts'
import { SERIES } from './gallery/chart-data.ts'
import { openScreen, type Screen } from './screen.ts'

let browser: TestBrowser
let gallery: Awaited<ReturnType<typeof serveGallery>>
beforeAll(async () => {
  gallery = await serveGallery()
  browser = await startBrowser()
})
afterAll(async () => {
  await browser[Symbol.asyncDispose]()
  gallery[Symbol.dispose]()
})

/** Opens the gallery and waits until its charts are drawn. */
async function openGallery(width = 1000, query = '?scheme=light'): Promise<Screen> {
  const screen = await openScreen(gallery.url, browser.browser)
  await screen.page.setViewport({ width, height: 900 })
  await screen.open(`/${query}`)
  await screen.page.waitForSelector('figure svg path')
  return screen
}

const VOLUME = 'figure[aria-label="Volume against expectation"]'
const focusSlider = ({ page }: Screen) => page.focus(`${VOLUME} [role=slider]`)
const spoken = ({ page }: Screen) =>
  page.$eval(`${VOLUME} [role=slider]`, (slider) => slider.getAttribute('aria-valuetext') ?? '')

describe('charts', () => {
  test.each([
    [360, 'light'],
    [1280, 'dark'],
  ])(
    'have no axe findings, errors or horizontal scrolling at %d px in the %s theme, even when shown as tables',
    async (width, scheme) => {
      await using screen = await openGallery(width, `?scheme=${scheme}`)
      const { page } = screen
      expect(await axeFindings(page)).toEqual([])
      expect(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)).toBeLessThanOrEqual(0)
      await screen.press('Show as table')
      await screen.sees('table', 'Volume against expectation')
      await screen.sees('table', 'Where sessions go')
      expect(await axeFindings(page)).toEqual([])
      expect(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)).toBeLessThanOrEqual(0)
      expect(screen.errors).toEqual([])
    },
  )

  test('a chart can be shown as a table with one row per bucket, which marks deviations', async () => {
    await using screen = await openGallery()
    await screen.press('Show as table')
    const rows = await screen.page.$$eval(`${VOLUME} tbody tr`, (all) =>
      all.map(({ textContent }) => textContent ?? ''),
    )
    expect(rows).toHaveLength(SERIES.length)
    expect(rows.filter((row) => row.includes('Outside expected range'))).toHaveLength(8)
    expect(rows.at(-1)).toContain('Incomplete')
    // Markup in names is shown as plain text.
    expect(rows.some((row) => row.includes('<b>Release</b> 2026.3.1 of the shop'))).toBe(true)
    await screen.press('Show as chart')
    await screen.page.waitForSelector(`${VOLUME} svg path`)
  })

  test('arrow keys move between points, which are announced; Enter selects one', async () => {
    await using screen = await openGallery()
    const { page } = screen
    await focusSlider(screen)
    expect(await spoken(screen)).toMatch(/93 observed, .* expected, Incomplete$/)
    await page.keyboard.press('Home')
    const first = await spoken(screen)
    expect(first).toContain(`${SERIES[0]?.observed} observed`)
    await page.keyboard.press('ArrowRight')
    expect(await spoken(screen)).toContain(`${SERIES[1]?.observed} observed`)
    await screen.reads('Expected range')
    await page.keyboard.press('Enter')
    await screen.reads(`picked ${SERIES[1]?.start}`)
    await page.keyboard.press('ArrowLeft')
    await page.keyboard.press('ArrowLeft')
    expect(await spoken(screen)).toBe(first)
    await page.keyboard.press('End')
    await page.keyboard.press('PageDown')
    expect(await spoken(screen)).toContain(`${SERIES[71]?.observed} observed`)
    await page.keyboard.press('Escape')
    expect(await page.$(`${VOLUME} [role=slider] + div`)).toBeNull()
  })

  test('hovering shows the nearest point on a card that stays within the page', async () => {
    await using screen = await openGallery(360)
    const { page } = screen
    const box = await (await page.$(`${VOLUME} [role=slider]`))?.boundingBox()
    if (!box) throw new Error('the plot is missing')
    for (const share of [0.01, 0.5, 0.99]) {
      await page.mouse.move(box.x + box.width * share, box.y + box.height / 2)
      const card = await page.waitForSelector(`${VOLUME} [role=slider] + div`)
      const { x = -1, width = 0 } = (await card?.boundingBox()) ?? {}
      expect(x).toBeGreaterThanOrEqual(0)
      expect(x + width).toBeLessThanOrEqual(360)
    }
    await page.mouse.move(0, 0)
    await page.waitForFunction((plot) => !document.querySelector(`${plot} [role=slider] + div`), {}, VOLUME)
  })

  test('a chart resizes with its figure', async () => {
    await using screen = await openGallery(1280)
    const drawnIn = () => screen.page.$eval(`${VOLUME} svg`, (svg) => svg.getAttribute('viewBox'))
    const wide = await drawnIn()
    await screen.page.setViewport({ width: 480, height: 900 })
    await screen.page.waitForFunction(
      (plot, wide) => document.querySelector(`${plot} svg`)?.getAttribute('viewBox') !== wide,
      {},
      VOLUME,
      wide,
    )
    expect(Number((await drawnIn())?.split(' ')[2])).toBeLessThan(480)
    // In narrow windows, lists replace the flow chart.
    await screen.sees('heading', 'Step 2')
  })

  test('a flow is one tab stop; arrow keys move within it, and Enter selects a page', async () => {
    await using screen = await openGallery()
    const { page } = screen
    const flow = 'figure[aria-label="Where sessions go"]'
    expect(await page.$$eval(`${flow} [tabindex="0"]`, (all) => all.length)).toBe(1)
    await page.$eval(`${flow} [tabindex="0"]`, (node) => (node as SVGElement).focus())
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('ArrowDown')
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))
    expect(await focused()).toBe('/product/electronics/phones/*, step 2, 30 sessions, 30\u00a0%')
    await page.keyboard.press('Enter')
    await screen.reads('1 /product/electronics/phones/*')
    expect(await page.$$eval(`${flow} path[data-chosen]`, (all) => all.length)).toBe(3)
  })
})

test('a relative time shows a card with the exact time and copy buttons, on hover and by keyboard', async () => {
  await using screen = await openGallery()
  const { page } = screen
  await page.focus('button:has(time)')
  await screen.reads('Epoch ms')
  const epoch = await page.$eval('time', (time) => String(Date.parse(time.dateTime)))
  await screen.reads(epoch)
  await page.keyboard.press('Escape')
  await page.waitForFunction(() => !document.querySelector('[popover]'))
  await page.hover('time')
  await page.waitForSelector('[popover]')
  await screen.sees('button', 'Copy Epoch ms')
  expect(await axeFindings(page)).toEqual([])
  await page.keyboard.press('Tab')
  expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('Copy Local')
  await page.mouse.move(0, 0)
})

/** Builds the gallery and serves it until the returned object is disposed. */
async function serveGallery(): Promise<{ url: string } & Disposable> {
  const { pages, assets } = await buildWeb([join(import.meta.dir, 'gallery/gallery.html')])
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch({ url }) {
      const { pathname } = new URL(url)
      if (pathname === '/favicon.ico') return new Response(null, { status: 204 })
      const file = pathname === '/' ? pages['gallery.html'] : assets[pathname.split('/').at(-1) ?? '']
      return file
        ? new Response(file.body, { headers: { 'content-type': file.type } })
        : new Response('', { status: 404 })
    },
  })
  return { url: server.url.origin, [Symbol.dispose]: () => void server.stop(true) }
}
