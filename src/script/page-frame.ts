import type { CaptureConfig } from '../capture/capture-config.ts'
import { isSampled, type Session } from './visitor-session.ts'

/**
 * One page view. Frames of the same page view share it. URLs omit query and fragment, which may identify the visitor
 * and are not stored.
 */
export interface Page {
  url: string
  referrer: string
  title: string
}

/** Values that the page declared with `configure`. */
export interface Declared {
  env: 'prod' | 'dev'
  customerId?: string
  version?: number
}

/** The values that the items of one batch share. */
export interface Frame {
  declared: Declared
  sessionId: string
  sampleRate: number
  page: Page
  /** Language of the page, or of the browser if the page does not declare one. */
  language: string
  /** False when this session is not captured. */
  isSampled: boolean
  /** Start time on the page's monotonic clock, in ms since the page began to load. */
  from: number
}

export interface Frames {
  /** Returns the current frame, or a new one after the URL, the session or the declared values changed. */
  current(): Frame
  /** Returns the frame at a given time on the page's monotonic clock. */
  at(instant: number): Frame
  tell(declared: Partial<Declared>): void
}

/** Maximum number of earlier frames stored for entries that are received late. */
const MAX_FRAMES = 20

export interface FrameDeps {
  window: {
    document: Pick<Document, 'title' | 'referrer'> & { documentElement: Pick<HTMLElement, 'lang'> }
    navigator: Pick<Navigator, 'language'>
  }
  location: Pick<Location, 'href'>
  config: Pick<CaptureConfig, 'sampleRate'>
  session: Pick<Session, 'idAt'>
  /** Returns milliseconds since the page began to load; `date` returns milliseconds since the epoch. */
  now(): number
  date(): number
  /** Called when a page view ends because the URL changed. */
  left(page: Page): void
}

/** `https://shop.example/cart?id=7#top` → `https://shop.example/cart`. Empty if the URL is not an HTTP or HTTPS URL. */
export function pageAddress(href: string): string {
  return /^https?:/.test(href) ? (href.split(/[?#]/, 1)[0] ?? '').slice(0, 4000) : ''
}

export function makeFrames({
  window: { document, navigator },
  location,
  config,
  session,
  now,
  date,
  left,
}: FrameDeps): Frames {
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
      language: document.documentElement.lang || navigator.language,
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
      // Tag managers declare the same values with every event, and replacing them would start another batch.
      if (JSON.stringify(next) !== JSON.stringify(declared)) declared = next
    },
  }
}
