import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { answerConsentBanner } from '../../browser/answer-consent-banner.ts'
import type { Task } from '../../browser/browser-task.ts'
import type { Browsing } from '../../browser/browsing.ts'
import { harOf } from '../../browser/build-har.ts'
import { openBrowsing } from '../../browser/open-browsing.ts'
import { within } from '../../browser/time-limit.ts'
import type { SeenEvent, Traffic } from '../../browser/traffic.ts'
import { systemClock } from '../../core/clock.ts'
import { type CompiledExpectation, compileExpectations, unmet } from '../match-expectations.ts'
import { placeholdersIn, type RecordedStep, withValues } from '../recorder-export.ts'
import type { StepType } from '../recording-steps.ts'
import type { RunEvent, StepResult } from '../run-result.ts'
import { titleOf } from '../step-title.ts'
import type { WalkMessage, WalkPlan } from '../walk-plan.ts'
import { Tabs } from './browser-tabs.ts'
import { type Discretion, discretionOf } from './describe-element.ts'
import { type Done, runStep, selectorTextsOf, wantedStatus } from './run-step.ts'
import { StepFault, secondsText, sentenceOf } from './step-fault.ts'
import { STEP_KINDS } from './step-kinds.ts'

/** Timeout for a screenshot. A page that hangs has no screenshot. */
const SCREENSHOT_MS = 5000
/** Minimum length of a value that is replaced in selectors. Shorter values occur in selectors by chance. */
const MIN_VALUE = 3

/** Executes a recording in a new browser. Reports each step, its events and the outcome. */
export const walk: Task<WalkPlan, WalkMessage> = async (plan, tell, stopping) => {
  await using browsing = await openBrowsing(plan.browsing, stopping)
  await walkIn(browsing, plan, tell, stopping)
}

/** Like `walk`, but uses a browser that is already open. */
export async function walkIn(
  browsing: Browsing,
  plan: WalkPlan,
  tell: (message: WalkMessage) => void,
  stopping: AbortSignal,
): Promise<void> {
  await mkdir(plan.folder, { recursive: true })
  using run = new Walk(browsing, plan, tell, stopping)
  await run.walk()
}

class Walk implements Disposable {
  private readonly tabs: Tabs
  private readonly expectations: CompiledExpectation[]
  private readonly discreet: Discretion
  /** Aborted with a reason when the recording can't be continued. */
  private readonly end = new AbortController()
  private readonly timer: Timer
  private readonly stopListening: () => void
  private readonly caught: { seen: SeenEvent; step: number }[] = []
  private told = 0
  private current = 0
  private pausedMs = 0
  /** Hosts on which a consent banner was answered or did not appear. */
  private readonly hosts = new Map<string, 'answered' | 'none'>()

  constructor(
    private readonly browsing: Browsing,
    private readonly plan: WalkPlan,
    private readonly tell: (message: WalkMessage) => void,
    private readonly stopping: AbortSignal,
  ) {
    this.expectations = compileExpectations(plan.expectations, plan.labels)
    const typed = plan.recording.steps.flatMap(({ value }) => (typeof value === 'string' ? [value] : []))
    this.discreet = discretionOf(browsing.mask, [...Object.values(plan.values), ...typed])
    this.stopListening = browsing.traffic.onEvent((seen) => this.caught.push({ seen, step: this.current }))
    const stop = (why: string) => this.end.abort(new StepFault(why))
    this.tabs = new Tabs(browsing, () => stop('the page crashed'))
    this.timer = setTimeout(
      () => stop(`the run exceeded its time limit of ${secondsText(plan.timeoutMs)}`),
      plan.timeoutMs,
    )
    browsing.gone.then((why) => stop(`the browser ended: ${why}`))
    if (stopping.aborted) stop('it was stopped')
    else stopping.addEventListener('abort', () => stop('it was stopped'), { once: true, signal: this.end.signal })
  }

  [Symbol.dispose](): void {
    clearTimeout(this.timer)
    this.stopListening()
    this.tabs[Symbol.dispose]()
  }

  async walk(): Promise<void> {
    let error: string | null = null
    for (const [index, step] of this.plan.recording.steps.entries()) {
      const title = this.browsing.mask(titleOf(step))
      const blank = { index, type: step.type, title, durationMs: null, healed: null, screenshot: false, error: null }
      if (error !== null || this.end.signal.aborted) {
        error ??= reasonOf(this.end.signal)
        this.tell({ kind: 'step', step: { ...blank, status: 'skipped', startedAt: null }, element: null })
        continue
      }
      const fault = await this.walkStep(index, step, title)
      if (fault !== null) error = `step ${index + 1}, ${title}: ${fault}`
    }
    if (error === null) await this.waitForRest()
    this.tellEvents()
    await this.writeHar()
    const errors = [...this.browsing.traffic.errors, ...this.tabs.notes]
    this.tell({ kind: 'done', error, errors, pausedMs: this.pausedMs })
  }

  /** Executes a step. Returns the reason why it failed; null when it did not fail. */
  private async walkStep(index: number, recorded: RecordedStep, title: string): Promise<string | null> {
    const startedAt = systemClock.now()
    const step = withValues(recorded, this.plan.values)
    const done: Done = { page: null, element: null, healed: null }
    await this.answerBanner(false).catch(() => {})
    this.current = index
    this.tabs.forgetAnswers()
    let durationMs = 0
    let error: string | null = null
    try {
      await runStep(this.taskOf(index, recorded, step), done)
      await this.answerBanner(true)
      durationMs = systemClock.now() - startedAt
      if (this.causesTags(index)) {
        await this.pauseForTags(this.expectations.filter(({ expectation }) => expectation.step === index))
      }
      this.requirePages(step)
    } catch (thrown) {
      durationMs ||= systemClock.now() - startedAt
      error = this.faultOf(thrown)
    }
    const screenshot = (error !== null || this.causesTags(index)) && (await this.photograph(index, done))
    this.tellEvents()
    const status = error !== null ? 'failed' : done.healed ? 'healed' : 'passed'
    const healed = done.healed && this.withoutValues(done.healed)
    const result: StepResult = {
      index,
      type: recorded.type,
      title,
      status,
      startedAt,
      durationMs,
      error,
      healed,
      screenshot,
    }
    this.tell({ kind: 'step', step: result, element: done.element })
    return error
  }

  private taskOf(index: number, recorded: RecordedStep, step: RecordedStep) {
    const { plan, browsing, discreet } = this
    const { device } = plan.browsing
    return {
      step,
      selectorTexts: selectorTextsOf(recorded),
      known: plan.elements[index] ?? null,
      refused: plan.refused[index] ?? [],
      timeout: plan.recording.timeout,
      hasTouch: device === 'mobile' || (typeof device === 'object' && device.mobile === true),
      discreet,
      browsing,
      secretHosts: secretHostsOf(recorded, plan.secretHosts),
      stopping: this.end.signal,
    }
  }

  /**
   * Returns whether to wait for tags after a step. In a sequence of key steps, the runner waits only after the last
   * one.
   */
  private causesTags(index: number): boolean {
    const [type, next] = [index, index + 1].map((at) => this.plan.recording.steps[at]?.type)
    if (type?.startsWith('key') && next?.startsWith('key')) return false
    return STEP_KINDS[type as StepType].causesTags
  }

  private async pauseForTags(expected: readonly CompiledExpectation[]): Promise<void> {
    const events = () => this.caught.map(({ seen, step }) => ({ ...seen, step }))
    const patience = () => Math.max(0, ...unmet(expected, events()).map(({ expectation }) => expectation.withinMs))
    this.pausedMs += await waitForTags(this.browsing.traffic, patience, this.end.signal)
  }

  /** Waits after the last step for events that are expected in the run as a whole. */
  private async waitForRest(): Promise<void> {
    const whole = this.expectations.filter(({ expectation }) => expectation.step === undefined)
    const isMissing =
      unmet(
        whole,
        this.caught.map(({ seen, step }) => ({ ...seen, step })),
      ).length > 0
    if (isMissing) await this.pauseForTags(whole).catch(() => {})
  }

  /**
   * Answers a host's consent banner once. If no banner appears at first, the runner checks for one again before each
   * step.
   */
  private async answerBanner(isNewPage: boolean): Promise<void> {
    const { consent } = this.plan
    if (consent.mode === 'none' || this.browsing.page.isClosed()) return
    const url = URL.parse(this.browsing.page.url())
    if (!url?.protocol.startsWith('http')) return
    const before = this.hosts.get(url.host)
    if (before === 'answered' || (before === 'none' && isNewPage)) return
    if (before === undefined && !isNewPage) return
    const waitMs = before === undefined ? undefined : 0
    const isAnswered = await answerConsentBanner(this.browsing, this.browsing.page, consent, this.end.signal, waitMs)
    this.hosts.set(url.host, isAnswered ? 'answered' : 'none')
  }

  /** Throws when a tab shows an error instead of a page, unless the step expects the status of the response. */
  private requirePages(step: RecordedStep): void {
    const wanted = wantedStatus(step)
    for (const page of this.browsing.tabs()) {
      const answer = this.tabs.answerOf(page)
      if (answer && (wanted === null ? answer.status >= 400 : answer.status !== wanted)) {
        const answered = `the page ${answer.url} responded with ${answer.status} ${answer.statusText}`.trimEnd()
        throw new StepFault(wanted === null ? answered : `${answered} instead of ${wanted}`)
      }
      const refused = this.browsing.traffic.requests.findLast(({ resourceType }) => resourceType === 'document')
      // For a response without a body, the browser shows its own error page.
      const isUnanswered = page.url().startsWith('chrome-error:') && !(answer && answer.status >= 400)
      if (isUnanswered) throw new StepFault(refused?.error ?? 'the page could not be opened')
    }
  }

  private faultOf(thrown: unknown): string {
    return this.browsing.mask(this.end.signal.aborted ? reasonOf(this.end.signal) : sentenceOf(thrown))
  }

  private async photograph(index: number, { page }: Done): Promise<boolean> {
    const shown = page && !page.isClosed() ? page : this.browsing.tabs().at(-1)
    // No screenshots are taken after a run is stopped.
    if (this.stopping.aborted || !shown || shown.isClosed() || shown.url() === 'about:blank') return false
    try {
      const png = await within(this.browsing.screenshot(shown), SCREENSHOT_MS, new AbortController().signal)
      await writeFile(join(this.plan.folder, `step-${index}.png`), png)
      return true
    } catch {
      return false
    }
  }

  private tellEvents(): void {
    for (const { seen, step } of this.caught.slice(this.told)) {
      const { request: _, ...event } = seen
      this.tell({ kind: 'event', event: { ...event, step } satisfies RunEvent })
    }
    this.told = this.caught.length
  }

  /** Replaces values with their names in selectors found on the page. */
  private withoutValues({ before, after }: { before: string; after: string }): { before: string; after: string } {
    const values = Object.entries(this.plan.values).filter(([, value]) => value.length >= MIN_VALUE)
    const name = (text: string) => values.reduce((left, [key, value]) => left.replaceAll(value, `{{${key}}}`), text)
    return { before: this.browsing.mask(name(before)), after: this.browsing.mask(name(after)) }
  }

  private async writeHar(): Promise<void> {
    const har = harOf(this.browsing.traffic.requests)
    await writeFile(join(this.plan.folder, 'requests.har'), JSON.stringify(har))
  }
}

/** Returns the hosts that may receive every secret used in a step; null when the step uses no secrets. */
function secretHostsOf(step: RecordedStep, hosts: WalkPlan['secretHosts']): readonly string[] | null {
  const names = placeholdersIn(step).filter((name) => Object.hasOwn(hosts, name))
  const [first, ...others] = names.map((name) => hosts[name] ?? [])
  return first?.filter((host) => others.every((list) => list.includes(host))) ?? null
}

const reasonOf = (signal: AbortSignal): string => sentenceOf(signal.reason)

/**
 * Period without requests after which a step ends. Requests that are delayed by less than this period are attributed to
 * the step that caused them.
 */
const SILENCE_MS = 500
/** Maximum time to wait for a period without requests, because some pages never stop sending requests. */
const MOST_SILENCE_MS = 3000
const LOOK_EVERY_MS = 25

/**
 * Waits for the tags of a step: first for expected events, then for a period without requests. Returns the time waited
 * in milliseconds.
 * @param patience returns how long after the step to wait for missing events, in milliseconds; 0 to stop waiting
 */
async function waitForTags(traffic: Traffic, patience: () => number, stopping: AbortSignal): Promise<number> {
  const from = performance.now()
  const waited = () => performance.now() - from
  while (patience() > waited()) await sleep(LOOK_EVERY_MS, null, { signal: stopping })
  await traffic.quiet(SILENCE_MS, MOST_SILENCE_MS, stopping)
  return Math.round(waited())
}
