import type { ElementHandle, Frame, Page } from 'puppeteer-core'
import type { Browsing } from '../../browser/browsing.ts'
import { TooLate, until, within } from '../../browser/waiting.ts'
import type { KnownElement } from '../element.ts'
import { type KnownStep, type RecordedStep, type Selector, selectorText } from '../recording.ts'
import type { StepType } from '../recording-steps.ts'
import { isEmptyError, navigationSentence, StepFault } from './fault.ts'
import { findElement, Search, type SearchedFrames } from './find.ts'
import { type Discretion, describe, describeFrame, likeFrame } from './known-element.ts'
import { loaded, refusalOf } from './page-steps.ts'
import { frameIn, framePath, framesBelow, placeOf } from './place.ts'
import { SecretGuard } from './secret-guard.ts'
import type { Doing, StepKind } from './step.ts'
import { STEP_KINDS } from './step-kinds.ts'

/** Time for a step whose recording names none. */
const STEP_MS = 5000
/** Time for a document to come; slow pages are not broken ones. */
const NAVIGATION_MS = 30_000
/** A step that found its element at the last moment may be done; one that takes longer hangs. */
const GRACE_MS = 5000
/** So long a tab or frame must have exactly the recorded address. */
const EXACT_PLACE_MS = 1000
const LOOK_EVERY_MS = 100

/** A step to be done. */
export interface Task {
  /** With its variables filled in. */
  step: RecordedStep
  /** Its selectors as they are recorded, by which people know them. */
  selectorTexts: readonly string[]
  known: KnownElement | null
  refused: readonly string[]
  /** Of the recording, for steps that have none. */
  timeout: number | undefined
  hasTouch: boolean
  discreet: Discretion
  browsing: Browsing
  /** Hosts that may get the secrets which the step mentions; null: it mentions none. */
  secretHosts: readonly string[] | null
  stopping: AbortSignal
}

/** What was done; filled in while it is, so that a step that fails shows how far it came. */
export interface Done {
  /** The tab that the step was done in; null: none yet. */
  page: Page | null
  element: KnownElement | null
  healed: { before: string; after: string } | null
}

/** Does a step. Fails with a `StepFault`, or with what the browser threw. */
export async function perform(task: Task, done: Done): Promise<void> {
  const { step, stopping } = task
  const doing = doingOf(task, done)
  const kind = STEP_KINDS[step.type as StepType] as StepKind<StepType>
  const isAsserted = step.type !== 'navigate' && step.type !== 'close' && navigationsOf(step).length > 0
  const work = isAsserted ? withNavigation(kind, doing, task) : kind.do(step as KnownStep, doing)
  const limitMs = (isAsserted ? NAVIGATION_MS : 0) + doing.limitMs + GRACE_MS
  await within(work, limitMs, stopping)
}

const navigationsOf = ({ assertedEvents }: RecordedStep) =>
  ((assertedEvents ?? []) as { type: string; status?: number }[]).filter(({ type }) => type === 'navigation')

/** The status that the page of a step is to answer; null: any below 400. */
export const wantedStatus = (step: RecordedStep): number | null =>
  navigationsOf(step).findLast(({ status }) => status !== undefined)?.status ?? null

/** A step is shorter than what it opens. */
function limitOf({ step, timeout }: Task): number {
  const own = step.timeout as number | undefined
  return step.type === 'navigate' ? (own ?? Math.max(timeout ?? 0, NAVIGATION_MS)) : (own ?? timeout ?? STEP_MS)
}

function doingOf(task: Task, done: Done): Doing {
  const { browsing, step, stopping } = task
  const limitMs = limitOf(task)
  const startedAt = performance.now()
  const knownFrame = framePath(step).length > 0 ? task.known?.frame : undefined
  const isKnown = knownFrame ? likeFrame(knownFrame, task.discreet) : null
  // A navigation gives them to the address that it opens.
  const guard = new SecretGuard(step.type === 'navigate' ? null : task.secretHosts)
  const placeFault = () => guard.fault ?? faultOfPlace(step)
  const isExact = () => performance.now() - startedAt < Math.min(EXACT_PLACE_MS, limitMs / 2)
  const tabNow = () => placeOf(browsing, step, isExact())
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

/** Where an element may be: in the frame that was recorded, and in others, should that have another index now. */
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

/** Does a step that opened another document when it was recorded, and waits for that. */
async function withNavigation(kind: StepKind<StepType>, doing: Doing, task: Task): Promise<void> {
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
    await kind.do(task.step as KnownStep, doing)
    await within(navigation, doing.limitMs, doing.stopping).catch((error: unknown) => {
      if (!(error instanceof TooLate) || !isUnderWay()) throw error
      return within(navigation, NAVIGATION_MS, doing.stopping)
    })
  } catch (error) {
    if (page.isClosed() || isEmptyError(error)) return
    doing.stopping.throwIfAborted()
    if (error instanceof StepFault) throw error
    if (error instanceof TooLate) throw new StepFault('no other page came, as it did when this was recorded')
    throw new StepFault(refusalOf(doing, page.url()) ?? navigationSentence(error, page.url()))
  } finally {
    ended.abort()
  }
  await loaded(doing)
}

/** The selectors of a recorded step as texts. */
export const selectorTextsOf = (step: RecordedStep): string[] =>
  ((step.selectors ?? []) as Selector[]).map(selectorText)
