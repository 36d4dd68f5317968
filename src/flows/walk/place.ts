import type { Frame, Page } from 'puppeteer-core'
import type { Browsing } from '../../browser/browsing.ts'
import type { RecordedStep } from '../recording.ts'

/** Where a step is done. */
export interface Place {
  page: Page
  frame: Frame
}

/** How alike an address and a recorded one must be, strictest first: an address may carry what changes at each visit. */
const LIKENESS: readonly ((address: URL, recorded: URL) => boolean)[] = [
  (address, recorded) => address.href === recorded.href,
  (address, recorded) => address.host === recorded.host && pathOf(address) === pathOf(recorded),
  (address, recorded) => address.host === recorded.host && address.pathname === recorded.pathname,
  (address, recorded) => address.pathname === recorded.pathname,
]

const pathOf = ({ pathname, search }: URL): string => pathname + search

/**
 * Returns where a step is done now; null when there is no such tab or frame yet.
 * @param isExact false: a tab or frame that is the only one to be like the recorded one will do
 */
export function placeOf(browsing: Browsing, step: RecordedStep, isExact: boolean): Place | null {
  const target = typeof step.target === 'string' ? step.target : 'main'
  const root = target === 'main' ? mainPlace(browsing) : targetPlace(browsing, target, isExact)
  if (!root) return null
  let frame: Frame | undefined = root.frame
  for (const index of (step.frame ?? []) as number[]) frame = frame?.childFrames()[index]
  return frame ? { page: root.page, frame } : null
}

function mainPlace({ page }: Browsing): Place | null {
  return page.isClosed() ? null : { page, frame: page.mainFrame() }
}

/** The Recorder names a tab, or a frame of another site, by its address. */
function targetPlace(browsing: Browsing, target: string, isExact: boolean): Place | null {
  const tabs = browsing.tabs().filter((page) => !page.isClosed())
  const all = tabs.flatMap((page) => page.frames().map((frame) => ({ page, frame })))
  // The first tab's own document is called `main`: no other address means it, however alike.
  const places = isExact ? all : all.filter(({ frame }) => frame !== browsing.page.mainFrame())
  const recorded = URL.parse(target)
  if (recorded) {
    for (const isAlike of isExact ? LIKENESS.slice(0, 1) : LIKENESS) {
      const alike = places.filter(({ frame }) => {
        const address = URL.parse(frame.url())
        return address !== null && isAlike(address, recorded)
      })
      const [first] = alike
      if (first && (isExact || alike.length === 1)) return first
    }
  }
  const opened = isExact ? [] : tabs.filter((page) => page !== browsing.page)
  const [only] = opened
  return only && opened.length === 1 ? { page: only, frame: only.mainFrame() } : null
}
