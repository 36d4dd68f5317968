import type { CDPSession, Frame, Page } from 'puppeteer-core'
import { SECOND_MS } from '../core/clock.ts'
import type { FindHidden } from './find-sensitive-text.ts'
import { type Box, drawCover, pageTexts } from './page-texts.ts'
import { apart } from './puppeteer-internals.ts'

/** Timeout for a screenshot. A page whose scripts never end can't be drawn. */
const LIMIT_MS = 10 * SECOND_MS
/** Maximum number of pixels. Screenshots of larger viewports and high-density screens are scaled down. */
const MAX_PIXELS = 2_000_000
/** Maximum time to wait for an unresponsive frame. */
const FRAME_MS = 2 * SECOND_MS
const HANGS = 'No screenshot could be taken, because the page hangs'
/** Maximum number of attempts when the parts to cover keep moving. */
const ATTEMPTS = 4
const MOVES = 'No screenshot could be taken, because the page keeps moving or changing and its text cannot be covered'

/**
 * Returns a PNG of the page's viewport with at most 2 million pixels. Black boxes cover the parts that `find` finds in
 * texts and fields, including those in frames and open shadow roots. An unresponsive frame is hidden. Rejects after
 * `limitMs`, by default 10 s, when the page hangs. Also rejects when the parts to cover change or move during every
 * attempt.
 */
export async function screenshotOf(page: Page, find: FindHidden, limitMs = LIMIT_MS): Promise<Uint8Array> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(HANGS)), limitMs)
  const drawn = draw(page, find)
  drawn.catch(() => undefined)
  try {
    return await Promise.race([drawn, late])
  } finally {
    clearTimeout(timer)
  }
}

async function draw(page: Page, find: FindHidden): Promise<Uint8Array> {
  const session = await page.createCDPSession()
  try {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const frames = page.frames()
      const covers = await Promise.all(frames.map((frame) => coverFrame(frame, find)))
      try {
        const png = await capture(page, session)
        const stays = await Promise.all(covers.map((cover) => cover.isStill()))
        if (stays.every(Boolean) && page.frames().every((frame) => frames.includes(frame))) return png
      } finally {
        await Promise.allSettled(covers.map((cover) => cover.remove()))
      }
    }
    throw new Error(MOVES)
  } finally {
    await session.detach().catch(() => undefined)
  }
}

async function capture(page: Page, session: CDPSession): Promise<Uint8Array> {
  const { cssVisualViewport: view } = await session.send('Page.getLayoutMetrics')
  const ratio = await apart(page.mainFrame()).evaluate(() => devicePixelRatio)
  const pixels = view.clientWidth * view.clientHeight * ratio ** 2
  const { data } = await session.send('Page.captureScreenshot', {
    format: 'png',
    clip: {
      x: view.pageX,
      y: view.pageY,
      width: view.clientWidth,
      height: view.clientHeight,
      scale: Math.min(1, Math.sqrt(MAX_PIXELS / pixels)),
    },
  })
  return Buffer.from(data, 'base64')
}

/** Cover of a frame during a screenshot. */
interface Cover {
  /** Resolves to true when the parts to cover have neither changed nor moved. */
  isStill(): Promise<boolean>
  remove(): Promise<unknown>
}

const LAYER = 'tagwarden-cover'
/** A detached frame is not visible. A frame that could not be read makes the screenshot invalid. */
const unseen = (frame: Frame): Cover => ({ isStill: async () => frame.detached, remove: async () => undefined })

/** Covers the hidden parts of a frame, or the whole frame when it hangs. */
async function coverFrame(frame: Frame, find: FindHidden): Promise<Cover> {
  const boxes = await hiddenBoxes(frame, find)
  if (boxes === 'late') return hideFrame(frame)
  if (boxes === null) return unseen(frame)
  const drawn = await inTime(apart(frame).evaluate(drawCover, boxes, LAYER))
  if (drawn === 'late') return hideFrame(frame)
  if (drawn === null) return unseen(frame)
  return {
    async isStill() {
      const now = await hiddenBoxes(frame, find)
      return now === null ? frame.detached : now !== 'late' && Bun.deepEquals(now, boxes)
    },
    remove: () => apart(frame).evaluate((layer) => document.querySelector(layer)?.remove(), LAYER),
  }
}

/** Resolves to `late` when the frame does not respond in time, and to null when it fails. */
async function inTime<T>(work: Promise<T>): Promise<T | 'late' | null> {
  const { promise: late, resolve } = Promise.withResolvers<'late'>()
  const timer = setTimeout(() => resolve('late'), FRAME_MS)
  try {
    return await Promise.race([work.catch(() => null), late])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Returns the boxes to cover in a frame. `late` when the frame does not respond in time; null when it can't be read.
 */
async function hiddenBoxes(frame: Frame, find: FindHidden): Promise<Box[] | 'late' | null> {
  const texts = await inTime(apart(frame).evaluateHandle(pageTexts))
  if (texts === null || texts === 'late') return texts
  try {
    const pieces = await inTime(texts.evaluate((one) => one.read()))
    if (pieces === null || pieces === 'late') return pieces
    const parts = find(pieces)
    return parts.length === 0 ? [] : await inTime(texts.evaluate((one, hidden) => one.boxesOf(hidden), parts))
  } catch {
    return null
  } finally {
    texts.dispose().catch(() => undefined)
  }
}

async function hideFrame(frame: Frame): Promise<Cover> {
  if (!frame.parentFrame()) throw new Error(HANGS)
  const element = await frame.frameElement()
  const before = await element?.evaluate((node) => {
    const style = node.getAttribute('style')
    node.setAttribute('style', `${style ?? ''};visibility:hidden!important`)
    return style
  })
  return {
    isStill: async () => true,
    async remove() {
      await element?.evaluate((node, style) => {
        if (style === null || style === undefined) node.removeAttribute('style')
        else node.setAttribute('style', style)
      }, before)
    },
  }
}
