import type { Browser, HTTPRequest, Page } from 'puppeteer-core'
import { SECOND_MS } from '../../../src/core/clock.ts'

/** A tab, usually in a separate browser context with an empty cache. */
export interface Tab {
  page: Page
  /** Paths requested since the tab was opened, except the change stream. */
  asked: readonly string[]
  /** Resolves once no request has been active for `ms` milliseconds. */
  quiet(ms: number): Promise<void>
  close(): Promise<void>
}

const LONGEST_MS = 60 * SECOND_MS
const PAUSE_MS = 20

interface TabOptions {
  key?: string | null
  /** True to use the browser's default profile, which also caches compiled scripts. Separate contexts do not. */
  isOfProfile?: boolean
}

/** Opens a tab, signed in if a key is given. */
export async function openTab(browser: Browser, { key = null, isOfProfile = false }: TabOptions = {}): Promise<Tab> {
  const context = isOfProfile ? browser.defaultBrowserContext() : await browser.createBrowserContext()
  const page = await context.newPage()
  page.setDefaultTimeout(LONGEST_MS)
  await page.setViewport({ width: 1280, height: 900 })
  if (key !== null) {
    await page.evaluateOnNewDocument(
      (session) => {
        if (location.protocol === 'http:') sessionStorage.setItem('tagwarden-session', session)
      },
      JSON.stringify({ credential: key, orgId: null }),
    )
  }
  const asked: string[] = []
  const underWay = new Set<HTTPRequest>()
  let movedAt = performance.now()
  const isHeard = (url: string) => url.startsWith('http') && !url.endsWith('/v1/stream')
  page.on('request', (request) => {
    if (!isHeard(request.url())) return
    asked.push(new URL(request.url()).pathname)
    underWay.add(request)
    movedAt = performance.now()
  })
  // When a page is left, the browser does not always report the end of its requests.
  page.on('framenavigated', () => underWay.clear())
  for (const end of ['requestfinished', 'requestfailed'] as const) {
    page.on(end, (request) => {
      if (underWay.delete(request)) movedAt = performance.now()
    })
  }
  return {
    page,
    asked,
    async quiet(ms) {
      const from = performance.now()
      while (performance.now() < from + LONGEST_MS) {
        if (underWay.size === 0 && performance.now() - Math.max(movedAt, from) >= ms) return
        await Bun.sleep(PAUSE_MS)
      }
      throw new Error(
        `the page ${page.url()} still has pending requests: ${[...underWay].map((request) => request.url())}`,
      )
    },
    close: () => (isOfProfile ? page : context).close(),
  }
}

/** Waits until the page shows its heading and no part of it is loading. */
export async function settled({ page }: Tab): Promise<void> {
  await page.waitForFunction(
    () => document.querySelector('h1') !== null && document.querySelector('[aria-busy=true]') === null,
    { polling: 50 },
  )
}

export const median = (values: readonly number[]): number => quantile(values, 0.5)

/** Returns the value at the quantile `share`, from 0 to 1. Returns 0 if there are no values. */
export const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0
