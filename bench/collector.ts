import { gzipSync } from 'node:zlib'
import type { Page } from 'puppeteer-core'
import { type CaptureSite, captureSite, SITE_HOSTS } from '../test/browser/capture-site.ts'
import { startBrowser } from '../test/browser/chromium.ts'
import { type Budget, budget } from './budget.ts'

const REQUESTS = 200
/** Loads of each page, in turns. */
const ROUNDS = 8

/** A shop whose vendors send 200 requests in every way, ten at a time, as pages do that are full of tags. */
export function html(site: CaptureSite, head: string): string {
  const url = site.url('metrics.vendor.test', '/g/collect?v=2&tid=G-TEST&en=ping&answer=')
  const body = new URLSearchParams(
    Array.from({ length: 30 }, (_, at) => [`ep.parameter_${at}`, `value number ${at}`]),
  ).toString()
  return `<!doctype html><html><head>${head}<title>Shop</title></head><body><script>
    const body = '${body}'
    const ways = [
      (n) => fetch('${url}204&n=' + n, { method: 'POST', body, mode: 'no-cors' }),
      (n) => navigator.sendBeacon('${url}204&n=' + n, body),
      (n) => new Promise((done) => Object.assign(new Image(), { onload: done, onerror: done, src: '${url}gif&n=' + n + '&' + body })),
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

/** What the page's main thread did from its first byte until it was left, ms. */
export async function mainThreadMs(page: Page, url: string): Promise<number> {
  const session = await page.createCDPSession()
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  const used = async () => {
    const { metrics } = await session.send('Performance.getMetrics')
    return 1000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0)
  }
  await page.goto('about:blank')
  await page.goto(url)
  const before = await used()
  await page.waitForFunction('window.done')
  // The script sends what it has every five seconds at the latest.
  await Bun.sleep(5500)
  const total = (await used()) - before
  await session.detach()
  return total
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}

/** What the browser script costs the pages that it runs on. */
export async function benchCollector(): Promise<Budget[]> {
  await using site = await captureSite()
  await using chromium = await startBrowser([SITE_HOSTS])
  const script = await (
    await fetch(site.snippet.scriptUrl.replace('collect.test', '127.0.0.1'), {
      headers: { host: `collect.test:${site.port}` },
    })
  ).text()
  const pages = {
    with: site.page('with', html(site, site.snippet.head)),
    without: site.page('without', html(site, '')),
  }
  const times = { with: [] as number[], without: [] as number[] }
  for (let round = 0; round < ROUNDS; round++) {
    for (const which of ['without', 'with'] as const) {
      const page = await chromium.browser.newPage()
      times[which].push(await mainThreadMs(page, pages[which]))
      await page.close()
    }
  }
  const each = (median(times.with) - median(times.without)) / REQUESTS
  console.log(times)
  return [
    budget('browser script, gzip, bytes', gzipSync(script, { level: 9 }).length, 'at most', 10_000),
    budget('main thread for each captured request, ms', each, 'at most', 0.15),
  ]
}
if (import.meta.main) console.log(await benchCollector())
