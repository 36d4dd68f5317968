import type { Frame, Page } from 'puppeteer-core'
import { SECOND_MS } from '../core/clock.ts'
import { secretPattern } from './mask.ts'
import { apart } from './puppeteer-internals.ts'

/** A page whose scripts never end draws nothing more. */
const LIMIT_MS = 10 * SECOND_MS
/** Larger viewports, and screens with several pixels for one, are shown smaller. */
const MAX_PIXELS = 2_000_000
/** A frame that hangs costs the picture no more than this. */
const FRAME_MS = 2 * SECOND_MS
const HANGS = 'The page hangs: it can not be drawn'

/**
 * A PNG of what the page's viewport shows, at most 2 million pixels, with black boxes over what shows a secret: texts, the
 * values of fields, and what stands in their place, also in frames and open shadow roots. Fails after `limitMs`, by default 10 s, when the page hangs.
 * A frame that hangs by itself is hidden.
 */
export async function screenshotOf(page: Page, secrets: readonly string[], limitMs = LIMIT_MS): Promise<Uint8Array> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(HANGS)), limitMs)
  const drawn = draw(page, secrets)
  drawn.catch(() => undefined)
  try {
    return await Promise.race([drawn, late])
  } finally {
    clearTimeout(timer)
  }
}

async function draw(page: Page, secrets: readonly string[]): Promise<Uint8Array> {
  const pattern = secretPattern(secrets)
  const session = await page.createCDPSession()
  const uncovering = pattern ? await Promise.all(page.frames().map((frame) => coverFrame(frame, pattern))) : []
  try {
    const { cssVisualViewport: view } = await session.send('Page.getLayoutMetrics')
    const ratio = await apart(page.mainFrame()).evaluate(() => devicePixelRatio)
    const pixels = view.clientWidth * view.clientHeight * ratio ** 2
    const { data } = await session.send('Page.captureScreenshot', {
      format: 'png',
      clip: {
        ...{ x: view.pageX, y: view.pageY, width: view.clientWidth, height: view.clientHeight },
        scale: Math.min(1, Math.sqrt(MAX_PIXELS / pixels)),
      },
    })
    return Buffer.from(data, 'base64')
  } finally {
    await Promise.allSettled([...uncovering.map((uncover) => uncover()), session.detach()])
  }
}

const LAYER = 'tagwarden-cover'

/** Covers what of a frame shows a secret, the whole frame when it hangs; returns a function that undoes it. */
async function coverFrame(frame: Frame, pattern: RegExp): Promise<() => Promise<void>> {
  const { promise: late, resolve } = Promise.withResolvers<'late'>()
  const timer = setTimeout(() => resolve('late'), FRAME_MS)
  const covered = apart(frame).evaluate(cover, pattern.source, pattern.flags, LAYER)
  // Of a frame that goes away there is nothing to be seen.
  const outcome = await Promise.race([covered.catch(() => null), late])
  clearTimeout(timer)
  if (outcome === 'late') return hideFrame(frame)
  return () => apart(frame).evaluate((layer) => document.querySelector(layer)?.remove(), LAYER)
}

async function hideFrame(frame: Frame): Promise<() => Promise<void>> {
  if (!frame.parentFrame()) throw new Error(HANGS)
  const element = await frame.frameElement()
  const before = await element?.evaluate((node) => {
    const style = node.getAttribute('style')
    node.setAttribute('style', `${style ?? ''};visibility:hidden!important`)
    return style
  })
  return async () => {
    await element?.evaluate((node, style) => {
      if (style === null || style === undefined) node.removeAttribute('style')
      else node.setAttribute('style', style)
    }, before)
  }
}

/** Runs in the page, apart from its scripts. Lays one box over each part of it that shows what the pattern matches. */
function cover(source: string, flags: string, layer: string): void {
  const pattern = new RegExp(source, flags)
  const shows = (text: string | null | undefined) => typeof text === 'string' && text.search(pattern) !== -1
  const boxes: DOMRect[] = []
  const texts: { node: Text; start: number }[] = []
  let all = ''
  const visit = (root: Node): void => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT)
    for (let node: Node | null = walker.currentNode; node; node = walker.nextNode()) {
      if (node instanceof Text) {
        texts.push({ node, start: all.length })
        all += node.data
      }
      if (!(node instanceof Element)) continue
      const { value } = node as Element & { value?: unknown }
      const named = ['value', 'placeholder', 'alt', 'label', 'title', 'srcdoc'].map((name) => node.getAttribute(name))
      if ([typeof value === 'string' ? value : null, ...named].some(shows)) boxes.push(...node.getClientRects())
      if (node.shadowRoot) visit(node.shadowRoot)
    }
  }
  visit(document)
  for (const { 0: found, index } of all.matchAll(pattern)) {
    for (const { node, start } of texts) {
      const [from, to] = [Math.max(0, index - start), Math.min(node.data.length, index + found.length - start)]
      if (from >= to) continue
      const range = document.createRange()
      range.setStart(node, from)
      range.setEnd(node, to)
      boxes.push(...range.getClientRects())
    }
  }
  if (boxes.length === 0) return
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
  // Above dialogs, which are above every other element.
  host.showPopover()
}
