import type { Frame, Page } from 'puppeteer-core'
import type { Browsing } from '../../browser/browsing.ts'
import type { RecordedStep } from '../recorder-export.ts'

/** The tab and frame of a step. */
export interface StepLocation {
  page: Page
  frame: Frame
}

/**
 * Functions that compare a URL with the recorded one, strictest first. Looser comparisons are needed because parts of a
 * URL may change with each visit.
 */
const LIKENESS: readonly ((address: URL, recorded: URL) => boolean)[] = [
  (address, recorded) => address.href === recorded.href,
  (address, recorded) => address.host === recorded.host && pathOf(address) === pathOf(recorded),
  (address, recorded) => address.host === recorded.host && address.pathname === recorded.pathname,
  (address, recorded) => address.pathname === recorded.pathname,
]

const pathOf = ({ pathname, search }: URL): string => pathname + search

/**
 * Returns the tab or cross-site frame specified in a step; null when it does not exist yet.
 * @param isExact when false, a tab or frame is also accepted if it is the only one with a similar URL
 */
export function locationOf(browsing: Browsing, step: RecordedStep, isExact: boolean): StepLocation | null {
  const target = typeof step.target === 'string' ? step.target : 'main'
  return target === 'main' ? mainPlace(browsing) : targetPlace(browsing, target, isExact)
}

/** Returns whether a frame is the one in which the step ran before. */
export type IsKnown = (frame: Frame) => boolean

/**
 * Returns the frame of a step; null when the frame does not exist yet.
 * @param isKnown functions that recognise a frame whose index may have changed, strictest first; null when nothing is
 * known about the frame
 * @param isExact when false, any frame at the recorded index is accepted
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

/** Returns the path to a step's frame: the index of a child frame, then of one of its child frames, and so on. */
export const framePath = (step: RecordedStep): readonly number[] => (step.frame ?? []) as number[]

/**
 * Returns the recorded frame if one of the functions recognises it, otherwise the only other frame in the page that the
 * function recognises.
 */
function knownFrame(root: Frame, recorded: Frame | undefined, isKnown: readonly IsKnown[]): Frame | undefined {
  const frames = framesBelow(root)
  for (const isLike of isKnown) {
    const alike = frames.filter(isLike)
    if (recorded && alike.includes(recorded)) return recorded
    if (alike.length === 1) return alike[0]
  }
  return undefined
}

/** Returns all frames inside a frame, at any depth. */
export function framesBelow(root: Frame): Frame[] {
  return root.childFrames().flatMap((frame) => [frame, ...framesBelow(frame)])
}

function mainPlace({ page }: Browsing): StepLocation | null {
  return page.isClosed() ? null : { page, frame: page.mainFrame() }
}

/** Returns the tab or cross-site frame with this URL. The Recorder identifies tabs and frames by URL. */
function targetPlace(browsing: Browsing, target: string, isExact: boolean): StepLocation | null {
  const tabs = browsing.tabs().filter((page) => !page.isClosed())
  const all = tabs.flatMap((page) => page.frames().map((frame) => ({ page, frame })))
  // The Recorder calls the document of the first tab `main`, so a URL that is merely similar never refers to that
  // document.
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
