import type { Page } from 'puppeteer-core'
import { axeRule } from '../axe.ts'

/** Height in px of the part of a small phone's screen that shows the page. */
const SCREEN_PX = 640
/** Height in px of the data that the first screen shows at least. */
const SHOWN_PX = 40

/**
 * Returns the defects of the current page that matter on a phone, one per line: targets smaller than WCAG 2.5.8 allows,
 * a first screen without data, and tables whose first column or actions are out of reach.
 */
export async function phoneFaults(page: Page): Promise<string[]> {
  const small = await axeRule(page, 'target-size')
  return [...small, ...(await page.evaluate(layoutFaults, SCREEN_PX - SHOWN_PX))]
}

function layoutFaults(lastPx: number): string[] {
  const faults: string[] = []
  const main = document.querySelector('main')
  const isShown = (element: Element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true })
  const topOf = (element: Element) => element.getBoundingClientRect().top + window.scrollY

  // Rows, cards, charts, facts and forms are data. Navigation, filters and texts before them are not.
  const data = [...(main?.querySelectorAll('tbody tr, li, figure, dl, form, .mantine-Paper-root') ?? [])]
  const first = data.find((element) => !element.closest('nav, search, header') && isShown(element))
  if (first && topOf(first) > lastPx) faults.push(`the first data is at ${Math.round(topOf(first))} px`)

  for (const box of document.querySelectorAll<HTMLElement>('main .scroll:has(table)')) {
    if (box.scrollWidth <= box.clientWidth + 1) continue
    const cells = box.querySelectorAll('tbody tr:first-child > :is(:first-child, [data-actions])')
    for (const cell of cells) {
      if (getComputedStyle(cell).position !== 'sticky') {
        faults.push(`the table ${box.ariaLabel} scrolls a fixed column away`)
        break
      }
    }
  }
  return faults
}
