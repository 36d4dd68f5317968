import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Page } from 'puppeteer-core'
import { startBrowser } from './browser/chromium.ts'
import { installedChromium } from './browser/installed-chromium.ts'
import { until } from './run-program.ts'
import { dashboardPaths } from './web/dashboard-paths.ts'
import { startDemo } from './web/demo.ts'
import { openScreen } from './web/screen.ts'

/*
 * Takes screenshots of every page of the demo in both themes and three widths, and combines the screenshots of each
 * theme and width into a contact sheet, in `dist/screenshots`. Arguments are parts of URLs; only matching pages are
 * included. `--readme` takes only the screenshots for README.md and saves them in `docs/pictures`.
 */

const FOLDER = resolve(import.meta.dir, '../dist/screenshots')
const THEMES = ['light', 'dark'] as const
const WIDTHS = [360, 1280, 1920]
const HEIGHT = 900
/** Time limit for three runs of a flow test and for an audit on a busy machine. */
const WALKED_MS = 900_000
/** Time to wait until lazily loaded content starts to load. */
const A_MOMENT_MS = 200

const wanted = process.argv.slice(2)
const isForReadme = wanted.includes('--readme')
const env = {
  TAGWARDEN_CHROMIUM: await installedChromium(),
  // The script opens 250 pages faster than any user would.
  TAGWARDEN_RATE_KEY_PER_MINUTE: '100000',
}
await using demo = await startDemo(env)
// The audit is the last background step. The issues exist long before it ends.
await until('the end of the audit', isWalked, WALKED_MS)
await using chromium = await startBrowser()
await using screen = await openScreen(demo.url, chromium.browser)
await (isForReadme ? takeForReadme(screen.page) : takePages(screen.page))
for (const line of new Set(screen.errors)) console.log(`page error: ${line}`)

async function isWalked(): Promise<boolean> {
  const { audits } = (await demo.get('/v1/audits')) ?? { audits: [] }
  return audits.some(({ status }: { status: string }) => status === 'finished' || status === 'failed')
}

/**
 * Takes screenshots of the top part of the Overview in both themes, and of the most severe issue. They are small enough
 * for README.md and the documents.
 */
async function takeForReadme(page: Page): Promise<void> {
  const { issues } = (await demo.get('/v1/issues?limit=1')) ?? { issues: [] }
  await page.setViewport({ width: 1280, height: 800 })
  for (const [name, theme, address] of [
    ['overview-light', 'light', '/'],
    ['overview-dark', 'dark', '/'],
    ['issue-light', 'light', `/issues/${issues[0]?.id}`],
  ] as const) {
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }])
    await screen.open(demo.link)
    await page.goto(demo.url + address)
    await settled(page)
    const path = resolve(import.meta.dir, `../docs/pictures/${name}.webp`) as `${string}.webp`
    await page.screenshot({ path, type: 'webp', quality: 75 })
    console.log(path)
  }
}

async function takePages(page: Page): Promise<void> {
  await rm(FOLDER, { recursive: true, force: true })
  const addresses = (await dashboardPaths(demo.get)).filter(
    (address) => wanted.length === 0 || wanted.some((part) => address.includes(part)),
  )
  for (const theme of THEMES) {
    for (const width of WIDTHS) await takeAll(page, addresses, theme, width)
  }
}

async function takeAll(page: Page, addresses: readonly string[], theme: string, width: number): Promise<void> {
  const folder = join(FOLDER, `${theme}-${width}`)
  await mkdir(folder, { recursive: true })
  await page.setViewport({ width, height: HEIGHT })
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }])
  await screen.open(demo.link)
  for (const address of addresses) {
    await page.setViewport({ width, height: HEIGHT })
    await page.goto(demo.url + address)
    await settled(page)
    // Content further down is requested and rendered only when it is scrolled into view.
    const height = await page.evaluate(() => document.documentElement.scrollHeight)
    await page.setViewport({ width, height: Math.max(height, HEIGHT) })
    await settled(page)
    const name =
      address === '/'
        ? 'overview'
        : address
            .slice(1)
            .replaceAll('/', '-')
            .replace(/_[\da-z]{20,}/, '')
    const path = join(folder, `${name}.png`) as `${string}.png`
    await page.screenshot({ path, fullPage: true })
    console.log(path)
  }
  await contactSheet(page, folder)
}

/**
 * Waits until nothing is loading on the page, now and shortly afterwards. The stream stays open, so the network is
 * never idle.
 */
async function settled(page: Page): Promise<void> {
  const isThere = () => document.querySelector('h1') !== null && document.querySelector('[aria-busy=true]') === null
  for (let look = 0; look < 2; look++) {
    await page.waitForFunction(isThere, { polling: 100 })
    await Bun.sleep(A_MOMENT_MS)
  }
}

/** Combines all screenshots in the folder into one image. */
async function contactSheet(page: Page, folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.png')).sort()
  const figures = names.map(
    (name) => `<figure><a href="${name}"><img src="${name}"></a><figcaption>${name}</figcaption></figure>`,
  )
  const style = `body { display: grid; grid-template-columns: repeat(5, 360px); gap: 16px; font: 14px sans-serif }
    figure { margin: 0 } a { display: block; height: 480px; overflow: hidden; border: 1px solid #999 } img { width: 360px }`
  const file = join(folder, 'contact-sheet.html')
  await writeFile(file, `<style>${style}</style>${figures.join('')}`)
  await page.setViewport({ width: 1920, height: HEIGHT })
  await page.goto(`file://${file}`)
  await page.screenshot({ path: `${folder}.png`, fullPage: true })
}
