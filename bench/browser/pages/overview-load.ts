import type { Browser } from 'puppeteer-core'
import { measureTransfers } from '../../../test/web/transfer-size.ts'
import { type Budget, budget } from '../../tools/budget.ts'
import { openMinimalPage } from './minimal-page-server.ts'
import { median, openTab, type Tab } from './open-tab.ts'

const ROUNDS = 7
/**
 * Number of visits before the measured ones, because Chromium caches compiled scripts only from the second visit on.
 */
const VISITS_BEFORE = 3
const VERDICT = 'section[aria-label=Verdict]:not([aria-busy=true])'
const CHART = 'figure svg, [role=figure] svg'

interface Place {
  url: string
  key: string
}

/**
 * Measures the size of the Overview and the time until it shows its status. Visits alternate with a minimal React page
 * that shows only a heading, for comparison.
 */
export async function overviewLoad(browser: Browser, { url, key }: Place): Promise<Budget[]> {
  const bare = await openMinimalPage()
  const pages = {
    ours: { url: `${url}/`, key, until: VERDICT },
    bare: { url: `${bare.url}/`, key: null, until: 'h1' },
  }
  try {
    return [...(await timed(browser, pages)), ...(await weighed(browser, { url, key }))]
  } finally {
    bare.stop()
  }
}

interface Visited {
  url: string
  key: string | null
  until: string
}

async function timed(browser: Browser, pages: Record<'ours' | 'bare', Visited>): Promise<Budget[]> {
  const cold = { ours: [] as number[], bare: [] as number[] }
  const warm = { ours: [] as number[], bare: [] as number[] }
  const next = (of: Visited) => openTab(browser, { ...of, isOfProfile: true })
  const tabs = { ours: await next(pages.ours), bare: await next(pages.bare) }
  for (const of of ['bare', 'ours'] as const) {
    await watchFor(tabs[of], pages[of].until)
    for (let visit = 0; visit < VISITS_BEFORE; visit++) await visited(tabs[of], pages[of])
  }
  for (let round = 0; round < ROUNDS; round++) {
    for (const of of ['bare', 'ours'] as const) {
      const tab = await openTab(browser, pages[of])
      await watchFor(tab, pages[of].until)
      cold[of].push(await visited(tab, pages[of]))
      await tab.close()
      warm[of].push(await visited(tabs[of], pages[of]))
    }
  }
  await Promise.all([tabs.ours.close(), tabs.bare.close()])
  const said = (ms: number[]) => ms.map(Math.round).join(' ')
  console.log(`  empty cache: Overview ${said(cold.ours)} ms, bare page ${said(cold.bare)} ms`)
  console.log(`  next visits: Overview ${said(warm.ours)} ms, bare page ${said(warm.bare)} ms`)
  const ratio = ({ ours, bare }: typeof cold) => median(ours) / median(bare)
  return [
    budget('Overview shows its status / bare React page, empty cache', ratio(cold), 'at most', 5),
    budget('Overview shows its status / bare React page, next visit', ratio(warm), 'at most', 5),
  ]
}

/** Records the time of the first frame that shows the element, relative to the start of the navigation. */
async function watchFor({ page }: Tab, selector: string): Promise<void> {
  await page.evaluateOnNewDocument((selector) => {
    const observer = new MutationObserver(() => {
      if (document.querySelector(selector) === null) return
      observer.disconnect()
      requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel()
        port1.onmessage = () => Object.assign(window, { paintedAt: performance.now() })
        port2.postMessage(null)
      })
    })
    observer.observe(document, { childList: true, subtree: true, attributeFilter: ['aria-busy'] })
  }, selector)
}

/**
 * Opens the URL in the same way as a link on another page. Returns the time from the start of the navigation until the
 * page was usable, in ms.
 */
async function visited({ page, quiet }: Tab, { url }: Visited): Promise<number> {
  await page.goto('about:blank')
  await page.goto(url)
  const painted = await page.waitForFunction('window.paintedAt', { polling: 20 })
  // Waits for remaining requests, so that they do not affect the next measurement.
  await quiet(300)
  return (await painted.jsonValue()) as number
}

async function weighed(browser: Browser, { url, key }: Place): Promise<Budget[]> {
  const tab = await openTab(browser, { key })
  const sent = await measureTransfers(tab.page)
  const open = async () => {
    await tab.page.goto('about:blank')
    await tab.page.goto(`${url}/`)
    await tab.page.waitForSelector(VERDICT)
    await tab.page.waitForSelector(CHART)
    await tab.quiet(300)
    return sent.take()
  }
  const first = await open()
  const again = await open()
  await tab.close()
  console.log(`  ${first.files} script files; at the next visit ${again.scriptBytes + again.otherBytes} bytes`)
  return [
    budget('script loaded until the Overview is complete, gzipped, kB', first.scriptBytes / 1000, 'at most', 280),
    budget(
      'loaded at the next visit, excluding data, kB',
      (again.scriptBytes + again.otherBytes) / 1000,
      'at most',
      40,
    ),
  ]
}
