import { mkdirSync, rmSync } from 'node:fs'
import { ActiveRuns } from '../browser/active-runs.ts'
import { type Browsers, INTERNAL_FAULT, type ServerBrowsing } from '../browser/browser-pool.ts'
import type { Privacy } from '../conditions/privacy-settings.ts'
import { type Clock, SECOND_MS } from '../core/clock.ts'
import { AppError, messageOf } from '../core/error.ts'
import type { SecretBox } from '../core/secret-box.ts'
import { applyRunFindings } from '../issues/apply-run-findings.ts'
import type { Enqueue } from '../issues/issue.ts'
import { FLOW_TEST } from '../issues/issue-kinds.ts'
import { membersOf } from '../labels/store.ts'
import { type Db, tx } from '../store/database.ts'
import { judgeRun } from './judge-run.ts'
import type { KnownElement } from './known-element.ts'
import { membersOfNamed } from './match-expectations.ts'
import type { Recording } from './recorder-export.ts'
import { withStartUrl } from './recorder-export.ts'
import { type Rules, ruleFindings } from './rule-findings.ts'
import type { RunFiles } from './run-files.ts'
import { headlineOf } from './run-headline.ts'
import type { RunEvent, StepResult } from './run-result.ts'
import { secretsOfRun } from './run-secrets.ts'
import {
  beginAttempt,
  endRun,
  failInterruptedRuns,
  findRun,
  type RunFacts,
  type StoredRun,
  summaryOf,
  waitingRuns,
} from './run-store.ts'
import { learnedFrom } from './step-healing.ts'
import { titleOf } from './step-title.ts'
import { type StoredFlowTest, saveLearned, storedFlowTest, type Versioned, versionOf } from './store.ts'
import type { WalkMessage, WalkPlan } from './walk-plan.ts'

export interface FlowRunDeps {
  db: Db
  box: SecretBox
  clock: Clock
  browsers: Pick<Browsers, 'run'>
  files: RunFiles
  /** Returns the active rules of an organization. */
  rulesOf(orgId: string): Rules
  privacyOf(orgId: string): Privacy
  enqueue: Enqueue
  report(error: unknown, where: string): void
}

/** Additional time for starting the browser and writing the files of an attempt. */
const AROUND_WALK_MS = 30 * SECOND_MS

/** Result of one attempt in a run. */
interface Attempt {
  facts: RunFacts
  error: string | null
  pausedMs: number | null
}

/** Executes queued runs, each in its own browser once a slot is free. One instance per process. */
export class FlowRuns {
  private readonly underWay = new ActiveRuns<StoredRun>()

  /** Marks runs that were interrupted by a shutdown or crash as failed. */
  constructor(private readonly parts: FlowRunDeps) {
    failInterruptedRuns(parts.db, parts.clock.now())
  }

  /** Starts queued runs. Returns immediately. */
  start(): void {
    if (this.underWay.isClosed) return
    for (const run of waitingRuns(this.parts.db)) {
      this.underWay.begin(run, (stopping) => this.carryOut(run, stopping).catch((fault) => this.failFor(run, fault)))
    }
  }

  /** Stops the runs of a deleted test. */
  cancel(testId: string): void {
    this.underWay.cancel((run) => run.testId === testId)
  }

  /** Stops the browser of a cancelled run. */
  stop(runId: string): void {
    this.underWay.cancel((run) => run.id === runId)
  }

  /** Resolves when no run is active. */
  idle(): Promise<void> {
    return this.underWay.idle()
  }

  /** Interrupts active runs, which are marked as failed at the next startup. */
  close(): Promise<void> {
    return this.underWay.close()
  }

  private async carryOut(run: StoredRun, stopping: AbortSignal): Promise<void> {
    const kept = storedFlowTest(this.parts.db, { orgId: run.orgId, id: run.testId })
    for (let left = kept.test.retries; ; left--) {
      const attempt = await this.walk(run, kept, stopping)
      if (stopping.aborted) return
      if (isPassed(attempt) || left === 0) return this.settle(run, attempt)
    }
  }

  /** Stores the result of the run and what was learned about the test. Opens or resolves issues. */
  private settle(run: StoredRun, { facts, error, pausedMs }: Attempt): void {
    const { db, clock, enqueue, privacyOf } = this.parts
    const { orgId, id: runId } = run
    const { steps, findings, events } = facts
    const passed = isPassed({ facts, error })
    tx(db, () => {
      const kept = storedFlowTest(db, { orgId, id: run.testId })
      const now = Math.max(clock.now(), findRun(db, { orgId, id: runId }).startedAt ?? 0)
      const summary = summaryOf(facts, steps.length)
      const status = passed ? 'passed' : 'failed'
      const headline = headlineOf({ steps, findings, error })
      const end = { status, finishedAt: now, pausedMs, summary, headline, error } as const
      if (!endRun(db, runId, end, facts)) return
      const isPresent = kept.test.versionId === run.versionId
      const { elements } = facts
      saveLearned(db, kept, {
        status,
        ...(isPresent ? learnedFrom(kept, { runId, at: now, passed, steps, elements }) : {}),
      })
      const isWhole = error === null && steps.every(({ status }) => status === 'passed' || status === 'healed')
      const ended = { id: runId, at: now, findings, isWhole, hosts: hostsOf(events), events }
      applyRunFindings({ db, now, privacy: privacyOf(orgId), enqueue }, { kind: FLOW_TEST, ...kept.test }, ended)
    })
  }

  /** Marks a run as failed because of an internal error. */
  private failFor(run: StoredRun, fault: unknown): void {
    const { db, clock, report } = this.parts
    // The test and its runs have been deleted.
    if (fault instanceof AppError && fault.code === 'notFound') return
    report(fault, `run of a flow test: ${messageOf(fault)}`)
    const facts: RunFacts = { steps: [], findings: [], events: [], errors: [], elements: {} }
    const error = INTERNAL_FAULT
    const headline = `The run ended early: ${error}`
    const end = { status: 'failed', finishedAt: clock.now(), pausedMs: null, headline, error } as const
    endRun(db, run.id, { ...end, summary: run.summary }, facts)
  }

  private planOf(
    run: StoredRun,
    kept: StoredFlowTest,
    version: Pick<Versioned, 'recording' | 'startUrl'>,
    own: ServerBrowsing,
  ) {
    const { test, elements, refused } = kept
    const { values: secrets, hosts } = secretsOfRun(this.parts.box, kept, version, run)
    const { device, vendorRequests, consent } = test
    return {
      browsing: {
        ...own,
        device,
        vendorRequests,
        secrets: Object.values(secrets).filter(Boolean),
        privacy: this.parts.privacyOf(run.orgId),
        userAgentSuffix: '',
      },
      values: { ...test.variables, ...run.variables, ...secrets },
      secretHosts: hosts,
      consent: { mode: consent.mode, selectors: consent.selectors ?? [] },
      elements,
      refused,
    }
  }

  /** Executes the recording once and evaluates the result. */
  private async walk(run: StoredRun, kept: StoredFlowTest, stopping: AbortSignal): Promise<Attempt> {
    const { db, clock, browsers, files, privacyOf } = this.parts
    const { orgId } = run
    const { expectations, ...version } = versionOf(db, run.versionId) ?? kept.test
    const recording = withStartUrl(version.recording, run.startUrl ?? version.startUrl)
    const labels = membersOfNamed(expectations, membersOf(db, orgId))
    const folder = files.of(run.id)
    const timeoutMs = kept.test.timeoutS * SECOND_MS
    const walked = new Walked()
    const { error: cause } = await browsers.run<WalkPlan, WalkMessage>({
      orgId,
      task: 'walk',
      limitMs: timeoutMs + AROUND_WALK_MS,
      stopping,
      plan: (own) => ({ ...this.planOf(run, kept, version, own), recording, expectations, labels, timeoutMs, folder }),
      onStart() {
        if (!beginAttempt(db, run.id, clock.now())) throw new AppError('notFound', 'the run no longer exists')
        rmSync(folder, { recursive: true, force: true })
        mkdirSync(folder, { recursive: true, mode: 0o700 })
      },
      onMessage: (message) => walked.take(message),
    })
    const error = walked.errorOf(cause)
    const steps = walked.stepsOf(recording)
    const { events, errors, elements } = walked
    const judged = { runId: run.id, orgId, domainId: kept.test.domainId, steps, events }
    const findings = [
      ...judgeRun({ steps, events, error, expectations, labels, privacy: privacyOf(orgId) }),
      ...(await ruleFindings(judged, this.parts.rulesOf(orgId))),
    ]
    return { facts: { steps, findings, events, errors, elements }, error, pausedMs: walked.pausedMs }
  }
}

const isPassed = ({ facts, error }: Pick<Attempt, 'facts' | 'error'>): boolean =>
  error === null && facts.findings.length === 0

/** Returns the hosts of the pages that sent events, most frequent first. */
function hostsOf(events: readonly RunEvent[]): string[] {
  const byHost = Map.groupBy(events, ({ host }) => host)
  return [...byHost].sort(([, a], [, b]) => b.length - a.length).flatMap(([host]) => host ?? [])
}

/** Maximum number of events stored per run. */
const MAX_EVENTS = 5000

/** Collects the messages sent during an attempt. */
class Walked {
  private readonly told = new Map<number, StepResult>()
  readonly events: RunEvent[] = []
  readonly elements: Record<number, KnownElement> = {}
  private end: Extract<WalkMessage, { kind: 'done' }> | null = null

  take(message: WalkMessage): void {
    if (message.kind === 'done') this.end = message
    else if (message.kind === 'event') {
      if (this.events.length < MAX_EVENTS) this.events.push(message.event)
    } else {
      const { step, element } = message
      this.told.set(step.index, step)
      if (element) this.elements[step.index] = element
    }
  }

  /** Time that the attempt waited for tags, in milliseconds; null when the attempt was interrupted. */
  get pausedMs(): number | null {
    return this.end?.pausedMs ?? null
  }

  get errors(): readonly string[] {
    return this.end?.errors ?? []
  }

  /**
   * Returns the reason why the attempt ended early; null when all steps were executed. `cause` is the reason why the
   * browser process ended early, or null.
   */
  errorOf(cause: string | null): string | null {
    if (this.end) return this.end.error
    return cause ?? 'the walk ended for an unknown reason'
  }

  /** Returns all steps of the recording in order. Steps without a message are marked as skipped. */
  stepsOf({ steps }: Recording): StepResult[] {
    return steps.map((step, index) => {
      const none = { startedAt: null, durationMs: null, error: null, healed: null, screenshot: false }
      return this.told.get(index) ?? { index, type: step.type, title: titleOf(step), status: 'skipped', ...none }
    })
  }
}
