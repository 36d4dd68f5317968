import { setTimeout } from 'node:timers/promises'
import { Cron } from 'croner'
import { clockStepDetector, SECOND_MS } from '../core/clock.ts'
import type { Emitter } from '../core/emitter.ts'
import { messageOf } from '../core/error.ts'

/** A background task. It must be harmless to run it twice, late or after a crash. */
export interface Job {
  name: string
  /** A cron pattern with seconds. */
  pattern: string
  /** True for a job that sends or fetches something. It does not run while the server is quiet. */
  isOutbound?: true
  /** Emits when there is work to do before the next scheduled run. */
  trigger?: Emitter
  /** @param stopping aborted at shutdown, so that long runs can stop early */
  run(stopping?: AbortSignal): Promise<void>
}

/** Triggers that occur within this time start a single run. */
const MIN_REST_MS = 10
/**
 * After a triggered run, the job rests for this many times the duration of the run. It is therefore busy at most a
 * quarter of the time.
 */
const REST_FACTOR = 3
/** If the first job is late by this much, the program was suspended, and the first job must run before the others. */
const LATE_MS = 2 * SECOND_MS

type Report = (error: unknown, job: string) => void

export interface Runner {
  /** Starts no new runs, aborts running ones and waits until they have ended. */
  stop(): Promise<void>
}

/**
 * Runs each job on its schedule and soon after its trigger, but never twice at the same time. A failed run is reported
 * and retried at the next scheduled time; failures after `stop` are not reported. When the clock is set, all scheduled
 * times are recomputed, because croner waits for an absolute time that may now be years away. The first job in the list
 * then runs immediately, before any other job uses the new time.
 */
export function runJobs(jobs: readonly Job[], report: Report): Runner {
  const stopping = new AbortController()
  const runners = jobs.map((job) => new JobRunner(job, stopping.signal, report))
  const [first] = runners
  const wasSet = clockStepDetector()
  let crons: Cron[] = []
  const start = (runner: JobRunner) => (wasSet() ? reschedule() : runner.start())
  const schedule = () => {
    for (const cron of crons) cron.stop()
    crons = runners.map((runner) => new Cron(runner.job.pattern, () => start(runner)))
  }
  const reschedule = () => {
    schedule()
    if (first) start(first)
  }
  const isLate = () => first !== undefined && performance.now() - first.begunAt >= LATE_MS
  for (const runner of runners)
    runner.job.trigger?.subscribe(() => void runner.trigger(() => isLate() || start(runner)))
  schedule()
  const clockCheck = setInterval(() => wasSet() && reschedule(), SECOND_MS)
  return {
    async stop() {
      clearInterval(clockCheck)
      for (const cron of crons) cron.stop()
      stopping.abort()
      await Promise.all(runners.map(({ running }) => running))
    },
  }
}

/** Runs a single job, one run after another. */
class JobRunner {
  /** The current run; null between runs. */
  running: Promise<void> | null = null
  /** Start of the last run, or of the program, as measured by `performance.now()`. */
  begunAt = performance.now()
  private restUntil = 0
  private isTriggered = false

  constructor(
    readonly job: Job,
    private readonly stopping: AbortSignal,
    private readonly report: Report,
  ) {}

  /** Starts a run unless one is already in progress. */
  start(): void {
    if (this.running) return
    this.begunAt = performance.now()
    this.running = this.job
      .run(this.stopping)
      .catch((error: unknown) => {
        if (!this.stopping.aborted) this.report(error, `${this.job.name}: ${messageOf(error)}`)
      })
      .finally(() => {
        this.running = null
        const now = performance.now()
        this.restUntil = now + (now - this.begunAt) * REST_FACTOR
      })
  }

  /**
   * Calls `start` after the current run and a rest. All triggers until then cause a single call, and triggers after a
   * stop cause none.
   */
  async trigger(start: () => void): Promise<void> {
    if (this.isTriggered) return
    this.isTriggered = true
    // The current run may have checked for work before the trigger occurred.
    await this.running
    await setTimeout(Math.max(MIN_REST_MS, this.restUntil - performance.now()), undefined, { ref: false })
    this.isTriggered = false
    if (!this.stopping.aborted) start()
  }
}
