import type { Page } from 'puppeteer-core'

/** Maximum number of checks. The first checks may run before the layout has adapted to a new width. */
const MAX_CHECKS = 40
const CHECK_INTERVAL_MS = 50

/**
 * Returns the layout defects of the page, one per line: injected markup, overflow, cut-off text and overlaps. Repeats
 * the check until there are none.
 */
export async function layoutFaults(page: Page): Promise<string[]> {
  let faults = await faultsNow(page)
  for (let check = 1; check < MAX_CHECKS && faults.length > 0; check++) {
    await Bun.sleep(CHECK_INTERVAL_MS)
    faults = await faultsNow(page)
  }
  return faults
}

function faultsNow(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const faults: string[] = []
    const shorten = (text: string | null | undefined) => (text ?? '').trim().replaceAll(/\s+/g, ' ').slice(0, 50)
    const nameOf = (element: Element) =>
      `${element.tagName.toLowerCase()} “${shorten(element.getAttribute('aria-label') ?? element.textContent)}”`

    // Injected scripts and markup.
    const { dataset } = document.documentElement
    if (dataset.ran !== undefined) faults.push('a script in a name ran')
    for (const element of document.querySelectorAll('[onerror], img[src="x"], script:not([src]), b')) {
      faults.push(`markup from a name: ${nameOf(element)}`)
    }
    for (const link of document.querySelectorAll<HTMLAnchorElement>('a[href], area[href], iframe[src], form[action]')) {
      const to = link.getAttribute('href') ?? link.getAttribute('src') ?? link.getAttribute('action') ?? ''
      const { protocol } = new URL(to, location.href)
      if (!['http:', 'https:', 'blob:', 'mailto:'].includes(protocol)) faults.push(`links to ${shorten(to)}`)
    }

    // Horizontal overflow.
    const over = document.documentElement.scrollWidth - window.innerWidth
    if (over > 0) {
      const wide = [...document.body.querySelectorAll('*')].findLast(
        (element) => element.getBoundingClientRect().right > window.innerWidth + 1,
      )
      faults.push(`${over} px too wide${wide ? `: ${nameOf(wide)}` : ''}`)
    }

    // All rows have the same height, or at least this height if they grow with their text.
    for (const table of document.querySelectorAll<HTMLElement>('table')) {
      const height = Number.parseFloat(table.style.getPropertyValue('--row-height'))
      if (Number.isNaN(height)) continue
      for (const row of table.querySelectorAll('tbody tr[data-id]')) {
        const real = row.getBoundingClientRect().height
        const isWrong = table.dataset.growing ? real < height - 1 : Math.abs(real - height) > 1
        if (isWrong) faults.push(`row of ${real} px instead of ${height}: ${nameOf(row)}`)
        for (const cell of row.children) {
          const { scrollHeight, clientHeight } = cell
          if (scrollHeight > clientHeight + 2)
            faults.push(`cut off at ${clientHeight} of ${scrollHeight} px: ${nameOf(cell)}`)
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
    const isVisible = (element: Element) =>
      element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) &&
      !element.closest('svg, option, script, style, .heard, [aria-hidden=true]')
    /**
     * Returns the part of a box that its ancestors do not clip; null if nothing remains, and for boxes that float above
     * others.
     */
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
      if (!of || !node.textContent?.trim() || !isVisible(of)) continue
      const range = document.createRange()
      range.selectNodeContents(node)
      for (const rect of range.getClientRects()) {
        const box = shown(of, rect, false)
        if (box) boxes.push(box)
      }
    }
    for (const control of document.querySelectorAll('button, select, textarea, input')) {
      if (!isVisible(control)) continue
      const rect = control.getBoundingClientRect()
      const isInBox = control.closest('.scroll, [data-scrollbars], dialog') !== null
      if (!isInBox && (rect.right > window.innerWidth + 1 || rect.left < -1)) {
        faults.push(`outside the window: ${nameOf(control)}`)
      }
      const box = control.tagName === 'BUTTON' ? shown(control, rect, true) : null
      if (box) boxes.push(box)
    }
    // Boxes of adjacent lines of text overlap slightly, so small overlaps are ignored.
    const [TOLERANCE_X, TOLERANCE_Y] = [3, 7]
    boxes.sort((a, b) => a.top - b.top)
    const seen = new Set<string>()
    for (const [index, box] of boxes.entries()) {
      for (let next = index + 1; next < boxes.length; next++) {
        const other = boxes[next] as Box
        if (other.top >= box.bottom - TOLERANCE_Y) break
        if (box.of.contains(other.of) || other.of.contains(box.of)) continue
        const width = Math.min(box.right, other.right) - Math.max(box.left, other.left)
        const height = Math.min(box.bottom, other.bottom) - other.top
        if (width <= TOLERANCE_X || height <= TOLERANCE_Y) continue
        seen.add(`${nameOf(box.of)} overlaps ${nameOf(other.of)}`)
      }
    }
    faults.push(...[...seen].slice(0, 5))
    return faults
  })
}
