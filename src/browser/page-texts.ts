import type { HiddenPart, Piece } from './find-sensitive-text.ts'

/** A box, in pixels relative to a frame's viewport. */
export interface Box {
  left: number
  top: number
  width: number
  height: number
}

/** Reads the texts of a frame. Runs inside that frame. */
export interface PageTexts {
  /**
   * Returns the visible texts: text nodes, field values and texts of pseudo-elements, including those in open shadow
   * roots.
   */
  read(): Piece[]
  /** Returns the boxes of parts of the texts that `read` returned most recently. */
  boxesOf(parts: readonly HiddenPart[]): Box[]
}

/**
 * Runs in an isolated world of the page. The function is sent to the browser as source code, so it can't use anything
 * else from this file.
 */
export function pageTexts(): PageTexts {
  const fields = 'input:not([type=file],[type=hidden]),textarea,select'
  let sources: (Text | Element)[] = []
  const isInView = ({ left, top, right, bottom, width, height }: DOMRect) =>
    width > 0 && height > 0 && right > 0 && bottom > 0 && left < innerWidth && top < innerHeight
  const rectsOf = (source: Text | Element): DOMRectList => {
    if (source instanceof Element) return source.getClientRects()
    const range = document.createRange()
    range.selectNodeContents(source)
    return range.getClientRects()
  }
  const blocks = new WeakMap<Element, Element>()
  const blockOf = (element: Element): Element => {
    const known = blocks.get(element)
    if (known) return known
    const { parentElement } = element
    const block =
      parentElement && /^(?:inline$|contents|ruby)/.test(getComputedStyle(element).display)
        ? blockOf(parentElement)
        : element
    blocks.set(element, block)
    return block
  }
  const shownIn = (field: Element): string => {
    if (field instanceof HTMLSelectElement) {
      const shown = field.size > 1 || field.multiple ? field.options : field.selectedOptions
      return [...shown].map(({ label, text }) => `${label} ${text}`).join('\n')
    }
    const { value, placeholder = '' } = field as HTMLInputElement
    return value === '' ? placeholder : value
  }
  const keyOf = (field: Element) =>
    field.getAttribute('type') === 'tel' ? 'phone' : field.getAttribute('name') || field.id
  const generated = (element: Element, pseudo: string): string => {
    const { content } = getComputedStyle(element, pseudo)
    if (content === 'none' || content === 'normal') return ''
    const parts = content.matchAll(/"((?:[^"\\]|\\.)*)"|attr\(\s*([\w-]+)/g)
    return [...parts].map(([, text, name]) => text ?? element.getAttribute(name ?? '') ?? '').join('')
  }
  return {
    read() {
      sources = []
      const pieces: Piece[] = []
      let block: Element | null = null
      const add = (source: Text | Element, piece: Piece) => {
        sources.push(source)
        pieces.push(piece)
      }
      const addText = (node: Text) => {
        if (![...rectsOf(node)].some(isInView)) return
        const around = node.parentElement ? blockOf(node.parentElement) : null
        add(node, { text: node.data, key: '', startsLine: around !== block, isField: false })
        block = around
      }
      const addElement = (element: Element) => {
        if (element.localName === 'br') block = null
        if (![...element.getClientRects()].some(isInView)) return
        if (element.matches(fields)) {
          add(element, { text: shownIn(element), key: keyOf(element), startsLine: true, isField: true })
          block = null
          return
        }
        const others = [generated(element, '::before'), generated(element, '::after'), element.getAttribute('alt')]
        const text = others.filter(Boolean).join('\n')
        if (text) add(element, { text, key: '', startsLine: true, isField: false })
      }
      const visit = (root: Node): void => {
        const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT)
        for (let node: Node | null = walker.currentNode; node; node = walker.nextNode()) {
          if (node instanceof Text) addText(node)
          if (!(node instanceof Element)) continue
          addElement(node)
          if (node.shadowRoot) visit(node.shadowRoot)
        }
      }
      visit(document)
      return pieces
    },
    boxesOf: (parts) =>
      parts.flatMap(({ piece, start, end }) => {
        const source = sources[piece]
        if (!source) return []
        let rects = rectsOf(source)
        if (source instanceof Text) {
          const range = document.createRange()
          range.setStart(source, Math.min(start, source.length))
          range.setEnd(source, Math.min(end, source.length))
          rects = range.getClientRects()
        }
        return [...rects].map(({ left, top, width, height }) => ({ left, top, width, height }))
      }),
  }
}

/**
 * Runs in the page. Draws a black rectangle over each box, above everything else on the page, in an element named
 * `layer`.
 */
export function drawCover(boxes: readonly Box[], layer: string): true {
  document.querySelector(layer)?.remove()
  if (boxes.length === 0) return true
  const host = document.createElement(layer)
  host.popover = 'manual'
  host.style.cssText =
    'all:initial!important;position:fixed!important;inset:0!important;width:100%!important;height:100%!important;' +
    'display:block!important;pointer-events:none!important;z-index:2147483647!important;background:none!important'
  const inside = host.attachShadow({ mode: 'closed' })
  for (const { left, top, width, height } of boxes) {
    const box = document.createElement('div')
    box.style.cssText = `position:fixed;background:#000;left:${left - 1}px;top:${top - 1}px;width:${width + 2}px;height:${height + 2}px`
    inside.append(box)
  }
  document.documentElement.append(host)
  // Popovers are displayed above dialogs, and dialogs are displayed above all other elements.
  host.showPopover()
  return true
}
