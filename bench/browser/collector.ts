import type { Browser } from 'puppeteer-core'
import { type CaptureSite, captureSite, SITE_HOSTS } from '../../test/browser/capture-site.ts'
import { startBrowser } from '../../test/browser/chromium.ts'
import { sized } from '../tools/bench-size.ts'
import { type Budget, budget } from '../tools/budget.ts'
import { spreadOf } from '../tools/percentiles.ts'

const REQUESTS = sized(200, 20)
/** Number of times each page is loaded. The two pages are loaded alternately. */
const ROUNDS = sized(8, 1)
/** Time after which the script has sent everything. It sends its last request after at most five seconds. */
const LAST_SENT_MS = sized(5500, 100)

/**
 * Returns the HTML of a shop page on which vendors send 200 requests of about 1 kB, ten at a time. The requests
 * alternate between all browser functions that can send one.
 */
function html(site: CaptureSite, head: string): string {
  const url = site.url('metrics.vendor.test', '/g/collect?v=2&tid=G-TEST&en=ping&answer=')
  const fields = Array.from({ length: 30 }, (_, at) => [`ep.parameter_${at}`, `value number ${at}`])
  return `<!doctype html><html><head>${head}<title>Shop</title></head><body><script>
    const body = '${new URLSearchParams(fields)}'
    const ways = [
      (n) => fetch('${url}204&n=' + n, { method: 'POST', body, mode: 'no-cors' }),
      (n) => navigator.sendBeacon('${url}204&n=' + n, body),
      (n) => new Promise((done) => {
        Object.assign(new Image(), { onload: done, onerror: done, src: '${url}gif&n=' + n + '&' + body })
      }),
      (n) => new Promise((done) => {
        const xhr = new XMLHttpRequest()
        xhr.onloadend = done
        xhr.open('POST', '${url}204&n=' + n)
        xhr.send(body)
      }),
    ]
    const { promise, resolve } = Promise.withResolvers()
    window.done = promise
    addEventListener('load', async () => {
      for (let n = 0; n < ${REQUESTS}; n += 10) {
        await Promise.all(Array.from({ length: 10 }, (_, at) => ways[(n + at) % 4](n + at)))
      }
      resolve()
    })
  </script></body></html>`
}

/** Main-thread time of one page load, in ms. */
interface PageTime {
  /** Time from the navigation until all requests have been sent. */
  whole: number
  /** Time from the page's `load` event until all requests have been sent. */
  fromLoad: number
}

async function pageTime(browser: Browser, url: string): Promise<PageTime> {
  const page = await browser.newPage()
  const session = await page.createCDPSession()
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  const used = async () => {
    const { metrics } = await session.send('Performance.getMetrics')
    return 1000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0)
  }
  await page.goto(url)
  const atLoad = await used()
  // Unlike `waitForFunction`, this does not check every frame, which would add work to the page's main thread.
  await page.evaluate('window.done')
  await Bun.sleep(LAST_SENT_MS)
  const whole = await used()
  await page.close()
  return { whole, fromLoad: whole - atLoad }
}

/**
 * Measures the cost of the browser script for a page: its size in bytes, and its main-thread time compared with the
 * same page without the script.
 */
export async function benchCollector(): Promise<Budget[]> {
  await using site = await captureSite()
  await using chromium = await startBrowser([SITE_HOSTS])
  const script = await fetch(new URL(new URL(site.snippet.scriptUrl).pathname, site.programUrl), {
    headers: { 'accept-encoding': 'gzip' },
    decompress: false,
  })
  const bytes = (await script.bytes()).length
  const pages = {
    without: site.page('without', html(site, '')),
    with: site.page('with', html(site, site.snippet.head)),
  }
  const times = { without: [] as PageTime[], with: [] as PageTime[] }
  for (let round = 0; round < ROUNDS; round++) {
    for (const which of ['without', 'with'] as const) {
      times[which].push(await pageTime(chromium.browser, pages[which]))
    }
  }
  const costOf = (part: keyof PageTime) => {
    const [without, withScript] = [times.without, times.with].map((all) => all.map((one) => one[part])) as [
      number[],
      number[],
    ]
    console.log(`  ${part}: without the script ${spreadOf(without)}; with the script ${spreadOf(withScript)}`)
    // Uses the minimum, because other work on the machine only increases the time.
    return (Math.min(...withScript) - Math.min(...without)) / REQUESTS
  }
  return [
    budget('browser script with configuration, gzipped, bytes', bytes, 'at most', 10_000),
    budget('main thread time per captured request, whole page, ms', costOf('whole'), 'at most', 0.1),
    budget('main thread time per captured request, after page load, ms', costOf('fromLoad'), 'at most', 0.1),
  ]
}
