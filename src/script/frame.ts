import type { CaptureConfig } from '../capture/capture-config.ts'
import { isSampled, type Session } from './session.ts'

/**
 * One stay on a page; frames of the same stay share it. Addresses are without query and fragment: those may say who the
 * visitor is, and are not stored.
 */
export interface Page {
  url: string
  referrer: string
  title: string
}

/** What the page told of itself. */
export interface Declared {
  env: 'prod' | 'dev'
  customerId?: string
  version?: number
}

/** What the items of one batch have in common. */
export interface Frame {
  declared: Declared
  sessionId: string
  sampleRate: number
  page: Page
  /** False: nothing of this session is captured. */
  isSampled: boolean
  /** When it began, on the page's own clock (ms since the page began to load). */
  from: number
}

export interface Frames {
  /** The frame of now: another one after the page's address, the session or what it told has changed. */
  current(): Frame
  /** The frame at an instant of the page's own clock. */
  at(instant: number): Frame
  tell(declared: Partial<Declared>): void
}

/** Earlier frames that are kept for what is reported late. */
const MAX_FRAMES = 20

export interface FrameParts {
  window: { document: Pick<Document, 'title' | 'referrer'>; location: Pick<Location, 'href'> }
  config: Pick<CaptureConfig, 'sampleRate'>
  session: Pick<Session, 'idAt'>
  /** Ms since the page began to load, and since the epoch. */
  now(): number
  date(): number
  /** Called when a stay is over because the page has another address. */
  left(page: Page): void
}

/** `https://shop.example/cart?id=7#top` → `https://shop.example/cart`; empty for what is no address of a page. */
export function pageAddress(href: string): string {
  return /^https?:/.test(href) ? (href.split(/[?#]/, 1)[0] ?? '').slice(0, 4000) : ''
}

export function makeFrames({ window, config, session, now, date, left }: FrameParts): Frames {
  const { document, location } = window
  let declared: Declared = { env: 'prod' }
  let frames: Frame[] = []
  let href = ''
  let url = ''

  const begin = (sessionId: string, last: Frame | undefined): Frame => {
    const sampleRate = config.sampleRate[declared.env]
    const samePage = last?.page.url === url ? last.page : null
    const referrer = last?.page.url ?? pageAddress(document.referrer)
    const frame: Frame = {
      declared,
      sessionId,
      sampleRate,
      page: samePage ?? { url, referrer, title: document.title },
      isSampled: isSampled(sessionId, sampleRate),
      from: last ? now() : 0,
    }
    frames = [...frames.slice(1 - MAX_FRAMES), frame]
    if (last && !samePage) left(last.page)
    return frame
  }
  const current = () => {
    const sessionId = session.idAt(date())
    if (location.href !== href) {
      href = location.href
      url = pageAddress(href)
    }
    const last = frames.at(-1)
    const isSame = last?.sessionId === sessionId && last.page.url === url && last.declared === declared
    return isSame && last.sampleRate === config.sampleRate[declared.env] ? last : begin(sessionId, last)
  }
  return {
    current,
    at: (instant) => frames.findLast((frame) => frame.from <= instant) ?? frames[0] ?? current(),
    tell(more) {
      const next = { ...declared, ...more }
      // Tag managers say the same at every event, and what is said anew begins another batch.
      if (JSON.stringify(next) !== JSON.stringify(declared)) declared = next
    },
  }
}
