import type { ElementHandle, Frame, Page } from 'puppeteer-core'
import type { Browsing } from '../../browser/browsing.ts'
import { TimeLimitExceeded, until, within } from '../../browser/time-limit.ts'
import type { KnownElement } from '../known-element.ts'
import { type CheckedStep, type RecordedStep, type Selector, selectorText } from '../recorder-export.ts'
import type { StepType } from '../recording-steps.ts'
import { secretHostOf } from '../secret-reach.ts'
import { type Discretion, describe, describeFrame, likeFrame } from './describe-element.ts'
import { findElement, Search, type SearchedFrames } from './find-element.ts'
import { loaded, refusalOf } from './page-steps.ts'
import type { StepContext, StepKind } from './step.ts'
import { isEmptyError, navigationSentence, StepFault } from './step-fault.ts'
import { STEP_KINDS } from './step-kinds.ts'
import { frameIn, framePath, framesBelow, locationOf } from './step-location.ts'

/** Timeout of steps when the recording specifies none. */
const STEP_MS = 5000
/** Timeout of a navigation, which is longer because a slow page is not broken. */
const NAVIGATION_MS = 30_000
/**
 * Additional time for a step that found its element just before its timeout. A step that exceeds this time is treated
 * as hung.
 */
const GRACE_MS = 5000
/** Time during which a tab or frame is accepted only if its URL equals the recorded one. */
const EXACT_PLACE_MS = 1000
const LOOK_EVERY_MS = 100

/** A step to execute, and its context. */
export interface Task {
  /** The step with its variables replaced. */
  step: RecordedStep
  /** Recorded selectors, for messages. */
  selectorTexts: readonly string[]
  known: KnownElement | null
  refused: readonly string[]
  /** Default timeout from the recording. */
  timeout: number | undefined
  hasTouch: boolean
  discreet: Discretion
  browsing: Browsing
  /** Hosts that may receive the secrets used by the step; null when the step uses no secrets. */
  secretHosts: readonly string[] | null
  stopping: AbortSignal
}

/** Progress of a running step, which is available even when the step fails. */
export interface Done {
  /** The tab in which the step runs; null until there is one. */
  page: Page | null
  element: KnownElement | null
  healed: { before: string; after: string } | null
}

/** Executes a step. Rejects with a `StepFault` or an error from the browser. */
export async function runStep(task: Task, done: Done): Promise<void> {
  const { step, stopping } = task
  const doing = doingOf(task, done)
  const kind = STEP_KINDS[step.type as StepType] as StepKind<StepType>
  const isAsserted = step.type !== 'navigate' && step.type !== 'close' && navigationsOf(step).length > 0
  const work = isAsserted ? withNavigation(kind, doing, task) : kind.do(step as CheckedStep, doing)
  const limitMs = (isAsserted ? NAVIGATION_MS : 0) + doing.limitMs + GRACE_MS
  await within(work, limitMs, stopping)
}

const navigationsOf = ({ assertedEvents }: RecordedStep) =>
  ((assertedEvents ?? []) as { type: string; status?: number }[]).filter(({ type }) => type === 'navigation')

/** Returns the HTTP status expected by the step. Null means that any status below 400 is accepted. */
export const wantedStatus = (step: RecordedStep): number | null =>
  navigationsOf(step).findLast(({ status }) => status !== undefined)?.status ?? null

/**
 * Returns the timeout of a step, in milliseconds. The recording's default never shortens the timeout of a navigation.
 */
function limitOf({ step, timeout }: Task): number {
  const own = step.timeout as number | undefined
  return step.type === 'navigate' ? (own ?? Math.max(timeout ?? 0, NAVIGATION_MS)) : (own ?? timeout ?? STEP_MS)
}

function doingOf(task: Task, done: Done): StepContext {
  const { browsing, step, stopping } = task
  const limitMs = limitOf(task)
  const startedAt = performance.now()
  const knownFrame = framePath(step).length > 0 ? task.known?.frame : undefined
  const isKnown = knownFrame ? likeFrame(knownFrame, task.discreet) : null
  // A navigation sends its secrets to the URL that it opens, not to the current frame.
  const guard = new SecretGuard(step.type === 'navigate' ? null : task.secretHosts)
  const placeFault = () => guard.fault ?? faultOfPlace(step)
  const isExact = () => performance.now() - startedAt < Math.min(EXACT_PLACE_MS, limitMs / 2)
  const tabNow = () => locationOf(browsing, step, isExact())
  const frameNow = (): Frame | null => {
    const tab = tabNow()
    if (tab) done.page = tab.page
    const frame = tab && frameIn(tab.frame, step, isKnown, isExact())
    return frame && guard.admits(frame) ? frame : null
  }
  const page = async (): Promise<Page> => {
    const found = await until(async () => tabNow(), limitMs, stopping, LOOK_EVERY_MS)
    if (!found) throw new StepFault(faultOfPlace(step))
    if (done.page !== found.page && browsing.tabs().length > 1) await found.page.bringToFront()
    done.page = found.page
    return found.page
  }
  const frame = async (): Promise<Frame> => {
    await page()
    const found = await until(async () => frameNow(), limitMs, stopping, LOOK_EVERY_MS)
    if (!found) throw new StepFault(placeFault())
    return found
  }
  const frames = (): SearchedFrames => {
    const { recorded, others } = framesNow(frameNow(), done, step)
    return { recorded, others: others.filter((frame) => guard.admits(frame)) }
  }
  return {
    browsing,
    page,
    frame,
    frameNow,
    placeFault,
    requireSecretHost: (address) => new SecretGuard(task.secretHosts).requireAddress(address),
    element: (use) => elementOf(task, done, { frames, placeFault, limitMs, use }),
    hasTouch: task.hasTouch,
    limitMs,
    stopping,
  }
}

function faultOfPlace({ target, frame }: RecordedStep): string {
  const tab = target === undefined || target === 'main' ? 'the tab' : `the tab or frame ${target}`
  return frame ? `${tab} has no frame ${JSON.stringify(frame)}` : `${tab} is not open`
}

/**
 * Returns the frames that may contain an element: the recorded frame and, because frame indexes may have changed, the
 * other frames.
 */
function framesNow(recorded: Frame | null, { page }: Done, step: RecordedStep): SearchedFrames {
  const isInFrame = framePath(step).length > 0 && page !== null && !page.isClosed()
  return { recorded, others: isInFrame ? framesBelow(page.mainFrame()).filter((frame) => frame !== recorded) : [] }
}

interface Use<T> {
  frames: () => SearchedFrames
  placeFault: () => string
  limitMs: number
  use: (element: ElementHandle<Element>) => Promise<{ ready: T } | { fault: string }>
}

async function elementOf<T>(task: Task, done: Done, { frames, placeFault, limitMs, use }: Use<T>) {
  const selectors = (task.step.selectors ?? []) as Selector[]
  const { selectorTexts: texts, known, refused } = task
  const wanted = { selectors, texts, known, refused, placeFault }
  const search = new Search(wanted, limitMs, task.discreet)
  const found = await findElement(frames, search, use, { limitMs, stopping: task.stopping })
  done.healed = found.healed
  done.element = await describe(found.element, task.discreet).catch(() => null)
  const frame = framePath(task.step).length > 0 ? describeFrame(found.element.frame, task.discreet) : null
  if (done.element && frame) done.element = { ...done.element, frame }
  return found
}

/** Executes a step that opened another document when it was recorded, and waits for that document. */
async function withNavigation(kind: StepKind<StepType>, doing: StepContext, task: Task): Promise<void> {
  const { traffic } = task.browsing
  const page = await doing.page()
  const last = traffic.requests.at(-1)?.number ?? 0
  const isUnderWay = () =>
    traffic.requests.some(({ number, resourceType }) => number > last && resourceType === 'document')
  const ended = new AbortController()
  const signal = AbortSignal.any([ended.signal, doing.stopping])
  const navigation = page.waitForNavigation({ waitUntil: 'domcontentloaded', timeout: 0, signal })
  navigation.catch(() => {})
  try {
    await kind.do(task.step as CheckedStep, doing)
    await within(navigation, doing.limitMs, doing.stopping).catch((error: unknown) => {
      if (!(error instanceof TimeLimitExceeded) || !isUnderWay()) throw error
      return within(navigation, NAVIGATION_MS, doing.stopping)
    })
  } catch (error) {
    if (page.isClosed() || isEmptyError(error)) return
    doing.stopping.throwIfAborted()
    if (error instanceof StepFault) throw error
    if (error instanceof TimeLimitExceeded)
      throw new StepFault('no page opened, although one opened when this step was recorded')
    throw new StepFault(refusalOf(doing, page.url()) ?? navigationSentence(error, page.url()))
  } finally {
    ended.abort()
  }
  await loaded(doing)
}

/** Returns the selectors of a recorded step as strings. */
export const selectorTextsOf = (step: RecordedStep): string[] =>
  ((step.selectors ?? []) as Selector[]).map(selectorText)

/** Prevents hosts from receiving secrets that were not entered for them. */
class SecretGuard {
  /** Reason why the most recent frame was rejected, or null. */
  fault: string | null = null

  /**
   * @param hosts hosts that may receive the secrets, in the form of `secretHostOf`; null when the step uses no secrets
   */
  constructor(private readonly hosts: readonly string[] | null) {}

  /** Returns whether the frame may receive the secrets. */
  admits(frame: Frame): boolean {
    this.fault = this.faultOf(addressOf(frame))
    return this.fault === null
  }

  /** Throws a `StepFault` when the URL may not receive the secrets. */
  requireAddress(address: string): void {
    const fault = this.faultOf(address)
    if (fault !== null) throw new StepFault(fault)
  }

  private faultOf(address: string): string | null {
    if (this.hosts === null) return null
    const host = secretHostOf(address)
    if (host !== null && this.hosts.includes(host)) return null
    if (this.hosts.length === 0) {
      return 'the secrets of the step were entered for other expressions in waitForExpression; enter them again'
    }
    const place = host ?? 'a page without a host'
    return `the secrets of the step are not sent to ${place}, because they were entered for ${this.hosts.join(', ')}; add this host to secretHosts and enter the secrets again`
  }
}

/**
 * Returns the URL of a frame's document. When the document has no URL, such as `about:srcdoc`, returns the URL of the
 * surrounding frame.
 */
function addressOf(frame: Frame): string {
  let at: Frame | null = frame
  while (at?.parentFrame() && (at.url() === '' || at.url().startsWith('about:'))) at = at.parentFrame()
  return at?.url() ?? ''
}
