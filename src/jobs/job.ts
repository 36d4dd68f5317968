import { setTimeout } from 'node:timers/promises'
import { Cron } from 'croner'
import { clockStepDetector, SECOND_MS } from '../core/clock.ts'
import type { Emitter } from '../core/emitter.ts'
import { messageOf } from '../core/error.ts'

/** A task that runs by itself. Running it twice, late or after a crash does no harm. */
export interface Job {
  name: string
  /** A cron pattern with seconds. */
  pattern: string
  /** Rings when there is something to do before the pattern's next time. */
  trigger?: Emitter
  /** `stopping`: aborted when the program ends; long runs then end early, where that does no harm. */
  run(stopping?: AbortSignal): Promise<void>
}

/** What rings within this time is one run. */
const SHORTEST_REST_MS = 10
/** A job rests so many times as long as its last run took before its bell begins another: a quarter of the time at most. */
const REST_SHARE = 3
/** The first job of the list is late: the program did not run for a while, and it has to run before the others. */
const LATE_MS = 2 * SECOND_MS

type Report = (error: unknown, job: string) => void

export interface Runner {
  /** Starts no more runs, aborts those under way, and waits for them. */
  stop(): Promise<void>
}

/**
 * Runs each job by its pattern, and soon after its bell rang; never two runs of one job at once. A failed run is reported
 * and retried at the next time; a run that fails after a stop is not reported. When the clock is set, all times are computed anew, because
 * croner waits for a time of the clock, which may be years away by then; and the first job of the list runs at once,
 * before any other uses the new time.
 */
export function runJobs(jobs: readonly Job[], report: Report): Runner {
  const stopping = new AbortController()
  const turns = jobs.map((job) => new JobRunner(job, stopping.signal, report))
  const [first] = turns
  const wasSet = clockStepDetector()
  let crons: Cron[] = []
  const start = (turn: JobRunner) => (wasSet() ? reschedule() : turn.begin())
  const schedule = () => {
    for (const cron of crons) cron.stop()
    crons = turns.map((turn) => new Cron(turn.job.pattern, () => start(turn)))
  }
  const reschedule = () => {
    schedule()
    if (first) start(first)
  }
  const isLate = () => first !== undefined && performance.now() - first.begunAt >= LATE_MS
  for (const turn of turns) turn.job.trigger?.subscribe(() => void turn.ring(() => isLate() || start(turn)))
  schedule()
  const clockCheck = setInterval(() => wasSet() && reschedule(), SECOND_MS)
  return {
    async stop() {
      clearInterval(clockCheck)
      for (const cron of crons) cron.stop()
      stopping.abort()
      await Promise.all(turns.map(({ underWay }) => underWay))
    },
  }
}

/** The runs of one job, one after the other. */
class JobRunner {
  /** The run that goes on; null between two. */
  underWay: Promise<void> | null = null
  /** When the last run began, or the program, by `performance.now()`. */
  begunAt = performance.now()
  private restUntil = 0
  private isRung = false

  constructor(
    readonly job: Job,
    private readonly stopping: AbortSignal,
    private readonly report: Report,
  ) {}

  /** Begins a run, unless one is under way. */
  begin(): void {
    if (this.underWay) return
    this.begunAt = performance.now()
    this.underWay = this.job
      .run(this.stopping)
      .catch((error: unknown) => {
        if (!this.stopping.aborted) this.report(error, `${this.job.name}: ${messageOf(error)}`)
      })
      .finally(() => {
        this.underWay = null
        const now = performance.now()
        this.restUntil = now + (now - this.begunAt) * REST_SHARE
      })
  }

  /** Calls `start` once for all that ring until then, after the run under way and a rest; never after a stop. */
  async ring(start: () => void): Promise<void> {
    if (this.isRung) return
    this.isRung = true
    // The run under way may have looked before there was something to do.
    await this.underWay
    await setTimeout(Math.max(SHORTEST_REST_MS, this.restUntil - performance.now()), undefined, { ref: false })
    this.isRung = false
    if (!this.stopping.aborted) start()
  }
}
