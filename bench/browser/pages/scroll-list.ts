import type { Browser } from 'puppeteer-core'
import { type Budget, budget } from '../../tools/budget.ts'
import { ISSUES } from './many-issues.ts'
import { median, openTab, quantile, settled } from './open-tab.ts'

/** Number of pixels scrolled per step, comparable to continuously turning a mouse wheel. */
const STEP_PX = 400
const TWO_FRAMES_MS = 33.4

/**
 * Scrolls through a list of 10,000 issues from start to end. Measures frame times and the number of rows in the
 * document.
 */
export async function scrollList(browser: Browser, { url, key }: { url: string; key: string }): Promise<Budget[]> {
  const tab = await openTab(browser, { key })
  const { page } = tab
  await page.goto(`${url}/issues`)
  await settled(tab)
  await page.mouse.move(700, 500)
  const seen = { frames: [] as number[], rows: 0 }
  await page.evaluate(() => {
    const kept = { frames: [] as number[], rows: 0 }
    Object.assign(window, { kept })
    let before = performance.now()
    const frame = (now: number) => {
      kept.frames.push(now - before)
      kept.rows = Math.max(kept.rows, document.querySelectorAll('tbody tr').length)
      before = now
      requestAnimationFrame(frame)
    }
    requestAnimationFrame(frame)
  })
  for (let isLoading = true; isLoading; ) {
    await page.mouse.wheel({ deltaY: STEP_PX })
    isLoading = await page.evaluate((all) => {
      const last = [...document.querySelectorAll('tr[aria-rowindex]')].at(-1)
      return Number(last?.getAttribute('aria-rowindex')) <= all
    }, ISSUES)
  }
  Object.assign(seen, await page.evaluate(() => (window as unknown as { kept: typeof seen }).kept))
  await tab.close()
  console.log(
    `  ${seen.frames.length} frames, median ${median(seen.frames).toFixed(1)} ms, longest ${Math.round(Math.max(...seen.frames))} ms`,
  )
  return [
    budget('scrolling 10,000 issues, p95 frame time, ms', quantile(seen.frames, 0.95), 'at most', TWO_FRAMES_MS),
    budget('rows in the document, maximum', seen.rows, 'at most', 120),
  ]
}
