import { gzipSync } from 'node:zlib'
import type { Browser } from 'puppeteer-core'
import { type CaptureSite, captureSite, SITE_HOSTS } from '../test/browser/capture-site.ts'
import { startBrowser } from '../test/browser/chromium.ts'
import { type Budget, budget } from './budget.ts'

const REQUESTS = 200
/** Number of loads of each page, alternating. */
const ROUNDS = 8
/** The script sends everything after five seconds at the latest. */
const LAST_SENT_MS = 5500

/** A shop whose vendors send 200 requests of about 1 kB with every browser function, ten at a time. */
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
    addEventListener('load', async () => {
      for (let n = 0; n < ${REQUESTS}; n += 10) {
        await Promise.all(Array.from({ length: 10 }, (_, at) => ways[(n + at) % 4](n + at)))
      }
      window.done = true
    })
  </script></body></html>`
}

/** Returns the main-thread time of the page from its first byte until everything was sent, ms. */
async function mainThreadMs(browser: Browser, url: string): Promise<number> {
  const page = await browser.newPage()
  const session = await page.createCDPSession()
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  const used = async () => {
    const { metrics } = await session.send('Performance.getMetrics')
    return 1000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0)
  }
  await page.goto(url)
  const before = await used()
  await page.waitForFunction('window.done')
  await Bun.sleep(LAST_SENT_MS)
  const after = await used()
  await page.close()
  return after - before
}

/**
 * Measures the cost of the browser script for a page: bytes, and main-thread time compared with the same page without
 * it.
 */
export async function benchCollector(): Promise<Budget[]> {
  await using site = await captureSite()
  await using chromium = await startBrowser([SITE_HOSTS])
  const script = await fetch(new URL(new URL(site.snippet.scriptUrl).pathname, site.programUrl))
  const packed = gzipSync(await script.text(), { level: 9 })
  const pages = {
    without: site.page('without', html(site, '')),
    with: site.page('with', html(site, site.snippet.head)),
  }
  const times = { without: [] as number[], with: [] as number[] }
  for (let round = 0; round < ROUNDS; round++) {
    for (const which of ['without', 'with'] as const) {
      times[which].push(await mainThreadMs(chromium.browser, pages[which]))
    }
  }
  // The minimum, because other work of the machine only adds to the time.
  const [without, withScript] = [Math.min(...times.without), Math.min(...times.with)]
  console.log(`main thread ${without.toFixed(0)} ms without the script, ${withScript.toFixed(0)} ms with it`)
  return [
    budget('browser script with its configuration, gzip, bytes', packed.length, 'at most', 10_000),
    budget('main thread for each captured request, ms', (withScript - without) / REQUESTS, 'at most', 0.15),
  ]
}
