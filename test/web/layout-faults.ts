import type { Page } from 'puppeteer-core'

/** So often a page is looked at again: it may be on its way to another width. */
const LOOKS = 40
const BETWEEN_MS = 50

/** What is wrong with how the page stands before its reader; empty when nothing is, now or soon. */
export async function layoutFaults(page: Page): Promise<string[]> {
  let faults = await faultsNow(page)
  for (let look = 1; look < LOOKS && faults.length > 0; look++) {
    await Bun.sleep(BETWEEN_MS)
    faults = await faultsNow(page)
  }
  return faults
}

function faultsNow(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const faults: string[] = []
    const say = (text: string | null | undefined) => (text ?? '').trim().replaceAll(/\s+/g, ' ').slice(0, 50)
    const nameOf = (element: Element) =>
      `${element.tagName.toLowerCase()} “${say(element.getAttribute('aria-label') ?? element.textContent)}”`

    // What runs.
    const { dataset } = document.documentElement
    if (dataset.ran !== undefined) faults.push('a script of a name ran')
    for (const element of document.querySelectorAll('[onerror], img[src="x"], script:not([src]), b')) {
      faults.push(`made of a name: ${nameOf(element)}`)
    }
    for (const link of document.querySelectorAll<HTMLAnchorElement>('a[href], area[href], iframe[src], form[action]')) {
      const to = link.getAttribute('href') ?? link.getAttribute('src') ?? link.getAttribute('action') ?? ''
      const { protocol } = new URL(to, location.href)
      if (!['http:', 'https:', 'blob:', 'mailto:'].includes(protocol)) faults.push(`leads to ${say(to)}`)
    }

    // What is wider than the window.
    const over = document.documentElement.scrollWidth - window.innerWidth
    if (over > 0) {
      const wide = [...document.body.querySelectorAll('*')].findLast(
        (element) => element.getBoundingClientRect().right > window.innerWidth + 1,
      )
      faults.push(`${over} px too wide${wide ? `: ${nameOf(wide)}` : ''}`)
    }

    // Rows are as high as all others.
    for (const table of document.querySelectorAll<HTMLElement>('table')) {
      const height = Number.parseFloat(table.style.getPropertyValue('--row-height'))
      if (Number.isNaN(height)) continue
      for (const row of table.querySelectorAll('tbody tr[data-id]')) {
        const real = row.getBoundingClientRect().height
        if (Math.abs(real - height) > 1) faults.push(`a row of ${real} px, and not ${height}: ${nameOf(row)}`)
        for (const cell of row.children) {
          const { scrollHeight, clientHeight } = cell
          if (scrollHeight > clientHeight + 2)
            faults.push(`cut at ${clientHeight} of ${scrollHeight} px: ${nameOf(cell)}`)
        }
      }
    }

    interface Box {
      of: Element
      left: number
      right: number
      top: number
      bottom: number
    }
    const isSeen = (element: Element) =>
      element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) &&
      !element.closest('svg, option, script, style, .heard, [aria-hidden=true]')
    /** What of the box its scrolling or cutting ancestors leave; null when nothing or when it floats above others. */
    const shown = (of: Element, { left, right, top, bottom }: DOMRect, isElement: boolean): Box | null => {
      const box = { of, left, right, top, bottom }
      for (let at: Element | null = isElement ? of.parentElement : of; at; at = at.parentElement) {
        const style = getComputedStyle(at)
        if (style.position === 'fixed' || style.position === 'sticky' || style.clipPath !== 'none') return null
        const edges = at.getBoundingClientRect()
        if (style.overflowX !== 'visible' && at !== document.body && at !== document.documentElement) {
          box.left = Math.max(box.left, edges.left)
          box.right = Math.min(box.right, edges.right)
          box.top = Math.max(box.top, edges.top)
          box.bottom = Math.min(box.bottom, edges.bottom)
        }
      }
      return box.right - box.left > 1 && box.bottom - box.top > 1 ? box : null
    }
    const boxes: Box[] = []
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const of = node.parentElement
      if (!of || !node.textContent?.trim() || !isSeen(of)) continue
      const range = document.createRange()
      range.selectNodeContents(node)
      for (const rect of range.getClientRects()) {
        const box = shown(of, rect, false)
        if (box) boxes.push(box)
      }
    }
    for (const control of document.querySelectorAll('button, select, textarea, input')) {
      if (!isSeen(control)) continue
      const rect = control.getBoundingClientRect()
      const isInBox = control.closest('.scroll, [data-scrollbars], dialog') !== null
      if (!isInBox && (rect.right > window.innerWidth + 1 || rect.left < -1)) {
        faults.push(`beyond the edge: ${nameOf(control)}`)
      }
      const box = control.tagName === 'BUTTON' ? shown(control, rect, true) : null
      if (box) boxes.push(box)
    }
    // Lines of text stand closer than their letters are high.
    const [SIDE, HIGH] = [3, 7]
    boxes.sort((a, b) => a.top - b.top)
    const seen = new Set<string>()
    for (const [index, box] of boxes.entries()) {
      for (let next = index + 1; next < boxes.length; next++) {
        const other = boxes[next] as Box
        if (other.top >= box.bottom - HIGH) break
        if (box.of.contains(other.of) || other.of.contains(box.of)) continue
        const width = Math.min(box.right, other.right) - Math.max(box.left, other.left)
        const height = Math.min(box.bottom, other.bottom) - other.top
        if (width <= SIDE || height <= HIGH) continue
        seen.add(`${nameOf(box.of)} lies over ${nameOf(other.of)}`)
      }
    }
    faults.push(...[...seen].slice(0, 5))
    return faults
  })
}
