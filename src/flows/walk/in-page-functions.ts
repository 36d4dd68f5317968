/*
 * Functions that run in the page. They are sent to the browser as source code, so they can't use anything else from
 * this file.
 */

/** Returns the indexes of the visible elements, without elements that are inside another visible element. */
export function visibleAmong(first: Element, ...others: Element[]): number[] {
  const elements = [first, ...others]
  const parentOf = (node: Node) => node.parentNode ?? (node as ShadowRoot).host ?? null
  const isVisible = (element: Element) => {
    // A document can also match by name, because the title of a document is its accessible name.
    if (element.nodeType !== Node.ELEMENT_NODE) return false
    if (!element.isConnected || !element.checkVisibility({ visibilityProperty: true })) return false
    const { width, height } = element.getBoundingClientRect()
    return width > 0 && height > 0
  }
  const visible = new Set<Node>(elements.filter(isVisible))
  const liesInAnother = (element: Element) => {
    for (let at: Node | null = parentOf(element); at; at = parentOf(at)) if (visible.has(at)) return true
    return false
  }
  return elements.flatMap((element, index) => (visible.has(element) && !liesInAnother(element) ? [index] : []))
}

/** The point at which an element can be clicked, in pixels within its frame, or the reason why it can't be clicked. */
export type Spot = { x: number; y: number } | { fault: string }

/**
 * Scrolls an element into view, waits until its position is stable for two animation frames, and returns the point to
 * click. If the given offset from the element's corner lies inside the element, that point is returned, otherwise the
 * centre.
 */
export async function spotOf(element: Element, offsetX: number | null, offsetY: number | null): Promise<Spot> {
  const picture = () =>
    new Promise((resolve) => {
      requestAnimationFrame(resolve)
      setTimeout(resolve, 100)
    })
  const isInView = ({ top, left, bottom, right }: DOMRect) =>
    top >= 0 && left >= 0 && bottom <= innerHeight && right <= innerWidth
  if (!isInView(element.getBoundingClientRect())) {
    element.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' })
  }
  const before = element.getBoundingClientRect()
  await picture()
  const box = element.getBoundingClientRect()
  if (!element.isConnected) return { fault: 'disappeared' }
  if (element.matches(':disabled,[aria-disabled="true"]')) return { fault: 'is disabled' }
  if (Math.abs(box.x - before.x) > 1 || Math.abs(box.y - before.y) > 1) return { fault: 'keeps moving' }
  const line = [...element.getClientRects()].find(({ width, height }) => width > 0 && height > 0) ?? box
  const middle = { x: line.x + line.width / 2, y: line.y + line.height / 2 }
  const recorded = offsetX !== null && offsetY !== null ? { x: box.x + offsetX, y: box.y + offsetY } : middle
  const hitAt = ({ x, y }: { x: number; y: number }) => {
    let hit = document.elementFromPoint(x, y)
    while (hit?.shadowRoot) {
      const inner = hit.shadowRoot.elementFromPoint(x, y)
      if (!inner || inner === hit) break
      hit = inner
    }
    return hit
  }
  const holds = (outer: Element, inner: Element) => {
    for (let at: Node | null = inner; at; at = at.parentNode ?? (at as ShadowRoot).host ?? null)
      if (at === outer) return true
    return false
  }
  // Returns whether a click on `hit` activates the element: `hit` is the element's label, or another part of the same
  // link or button.
  const means = (hit: Element) => {
    const labels = 'labels' in element && element.labels ? [...(element.labels as NodeListOf<Element>)] : []
    const control = element.closest('a,button,label,[role="button"],summary')
    const related = [element, ...labels, ...(control ? [control] : [])]
    return related.some((one) => holds(one, hit)) || holds(hit, element)
  }
  let cover: Element | null = null
  for (const point of [recorded, middle]) {
    const isInside = point.x >= box.left && point.x <= box.right && point.y >= box.top && point.y <= box.bottom
    const hit = isInside ? hitAt(point) : null
    if (hit && means(hit) && (hit !== document.body || element === document.body)) return point
    cover = hit ?? cover
  }
  if (!cover) return { fault: 'is outside the window' }
  const said = (cover.getAttribute('aria-label') ?? cover.textContent ?? '').replaceAll(/\s+/g, ' ').trim().slice(0, 60)
  const named = cover.id
    ? `#${cover.id}`
    : (cover.getAttribute('class')?.trim().split(/\s+/, 1) ?? []).map((name) => `.${name}`).join('')
  return { fault: `is covered by ${cover.tagName.toLowerCase()}${named}${said ? ` (“${said}”)` : ''}` }
}

/** Returns the tag and the visible text of an element. Text typed into fields is omitted. */
export function appearanceOf(element: Element): { tag: string; text: string } {
  const isField = element.matches('input,textarea,select,[contenteditable=""],[contenteditable="true"]')
  // biome-ignore lint/performance/useDomNodeTextContent: hidden text is not part of the element's text
  const text = isField || !(element instanceof HTMLElement) ? '' : element.innerText
  return { tag: element.tagName.toLowerCase(), text: text.replaceAll(/\s+/g, ' ').trim().slice(0, 1000) }
}

/** Returns the CSS path to an element, with one part for each shadow tree. */
export function pathTo(element: Element): string[] {
  const way: string[] = []
  for (let at: Element | null = element; at; ) {
    const root = at.getRootNode() as Document | ShadowRoot
    const parts: string[] = []
    for (let part: Element | null = at; part; part = part.parentElement) {
      const id = part.id ? `#${CSS.escape(part.id)}` : ''
      if (id && root.querySelectorAll(id).length === 1) {
        parts.unshift(id)
        break
      }
      const tag = CSS.escape(part.localName)
      const alike = [...(part.parentNode?.children ?? [])].filter(({ localName }) => localName === part?.localName)
      parts.unshift(alike.length > 1 ? `${tag}:nth-of-type(${alike.indexOf(part) + 1})` : tag)
    }
    way.unshift(parts.join(' > '))
    at = root instanceof ShadowRoot ? root.host : null
  }
  return way
}

/**
 * Scrolls to a point inside a frame element, and returns the position of the point in pixels within the surrounding
 * frame.
 */
export function pointOutside(holder: Element, x: number, y: number): { x: number; y: number } {
  const { paddingLeft, paddingTop } = getComputedStyle(holder)
  const point = () => {
    const box = holder.getBoundingClientRect()
    return {
      x: box.x + holder.clientLeft + Number.parseFloat(paddingLeft) + x,
      y: box.y + holder.clientTop + Number.parseFloat(paddingTop) + y,
    }
  }
  const isInView = ({ x: left, y: top }: { x: number; y: number }) =>
    left >= 0 && top >= 0 && left < innerWidth && top < innerHeight
  if (!isInView(point())) holder.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' })
  const centred = point()
  // A frame may be larger than the window.
  if (!isInView(centred)) {
    scrollBy({ left: centred.x - innerWidth / 2, top: centred.y - innerHeight / 2, behavior: 'instant' })
  }
  return point()
}
