import type { Browser } from 'puppeteer-core'
import { dashboardPaths } from '../../../test/web/dashboard-paths.ts'
import { type Budget, budget } from '../../tools/budget.ts'
import type { client } from '../../tools/server.ts'
import { openTab, settled, type Tab } from './open-tab.ts'

const WIDTHS = [1280, 360]
const QUIET_MS = 300
/** Layout shifts of at least this size are printed individually. */
const NOTABLE = 0.01

/** Measures each page's cumulative layout shift while it loads: https://web.dev/articles/cls */
export async function layoutShift(
  browser: Browser,
  { url, key, call }: { url: string; key: string; call: ReturnType<typeof client> },
): Promise<Budget[]> {
  const tab = await openTab(browser, { key })
  await keepShifts(tab)
  const addresses = await dashboardPaths((path) => call('GET', path))
  let most = 0
  for (const width of WIDTHS) {
    await tab.page.setViewport({ width, height: 900 })
    for (const address of addresses) {
      await tab.page.goto(url + address)
      await settled(tab)
      await tab.quiet(QUIET_MS)
      const { sum, moved } = await shiftsOf(tab)
      most = Math.max(most, sum)
      if (sum >= NOTABLE) console.log(`  ${address} at ${width}: ${sum.toFixed(3)}, ${moved.join(', ')}`)
    }
  }
  await tab.close()
  return [budget(`layout shift, maximum over ${addresses.length} pages at two widths`, most, 'at most', 0.05)]
}

interface Shifts {
  sum: number
  /** Tag names and text of the moved elements. */
  moved: string[]
}

async function keepShifts({ page }: Tab): Promise<void> {
  await page.evaluateOnNewDocument(() => {
    const shifts: Shifts = { sum: 0, moved: [] }
    Object.assign(window, { shifts })
    type Entry = PerformanceEntry & { value: number; hadRecentInput: boolean; sources: { node: Node | null }[] }
    new PerformanceObserver((list) => {
      for (const { value, hadRecentInput, sources } of list.getEntries() as Entry[]) {
        if (hadRecentInput) continue
        shifts.sum += value
        for (const { node } of sources) shifts.moved.push(`${node?.nodeName} "${node?.textContent?.slice(0, 30)}"`)
      }
    }).observe({ type: 'layout-shift', buffered: true })
  })
}

const shiftsOf = ({ page }: Tab) => page.evaluate(() => (window as unknown as { shifts: Shifts }).shifts)
