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
 * Returns the tab that a step names, or the frame of another site that it names so; null when there is none yet.
 * @param isExact false: a tab or frame that is the only one to be like the recorded one will do
 */
export function placeOf(browsing: Browsing, step: RecordedStep, isExact: boolean): Place | null {
  const target = typeof step.target === 'string' ? step.target : 'main'
  return target === 'main' ? mainPlace(browsing) : targetPlace(browsing, target, isExact)
}

/** Whether a frame is the one that a step was done in before. */
export type IsKnown = (frame: Frame) => boolean

/**
 * Returns the frame of a step; null when it is not there yet.
 * @param isKnown its frame may have another index than when it was recorded: strictest first; null: nothing is known of it
 * @param isExact false: the one at the recorded index will do, whichever it is
 */
export function frameIn(
  root: Frame,
  step: RecordedStep,
  isKnown: readonly IsKnown[] | null,
  isExact: boolean,
): Frame | null {
  let frame: Frame | undefined = root
  for (const index of framePath(step)) frame = frame?.childFrames()[index]
  const known = isKnown ? knownFrame(root, frame, isKnown) : undefined
  return known ?? (isKnown && isExact ? null : (frame ?? null))
}

/** The way to a step's frame: index of a child frame, of its child, and so on. */
export const framePath = (step: RecordedStep): readonly number[] => (step.frame ?? []) as number[]

/** The frame at the recorded index, when it is the known one; else the only one of the page that is. */
function knownFrame(root: Frame, recorded: Frame | undefined, isKnown: readonly IsKnown[]): Frame | undefined {
  const frames = framesBelow(root)
  for (const isLike of isKnown) {
    const alike = frames.filter(isLike)
    if (recorded && alike.includes(recorded)) return recorded
    if (alike.length === 1) return alike[0]
  }
  return undefined
}

/** All frames in a frame, at any depth. */
export function framesBelow(root: Frame): Frame[] {
  return root.childFrames().flatMap((frame) => [frame, ...framesBelow(frame)])
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
