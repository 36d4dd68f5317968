import { setTimeout } from 'node:timers/promises'
import { Cron } from 'croner'
import type { Bell } from '../core/bell.ts'
import { clockSteps, SECOND_MS } from '../core/clock.ts'
import { messageOf } from '../core/error.ts'

/** A task that runs by itself. Running it twice, late or after a crash does no harm. */
export interface Job {
  name: string
  /** A cron pattern with seconds. */
  pattern: string
  /** Rings when there is something to do before the pattern's next time. */
  bell?: Bell
  /** `stopping`: aborted when the program ends; long runs then end early, where that does no harm. */
  run(stopping?: AbortSignal): Promise<void>
}

/** What rings within this time is one run. */
const SHORTEST_REST_MS = 10
/** A job rests so many times as long as its last run took before its bell begins another: a quarter of the time at most. */
const REST_SHARE = 3
/** The first job of the list is late: the program did not run for a while, and it has to run before the others. */
const LATE_MS = 2 * SECOND_MS

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
export function runJobs(jobs: readonly Job[], report: (error: unknown, job: string) => void): Runner {
  const underWay = new Map<Job, Promise<void>>()
  const stopping = new AbortController()
  const rung = new Set<Job>()
  const restUntil = new Map<Job, number>()
  const wasSet = clockSteps()
  let firstAt = performance.now()
  let crons: Cron[] = []
  const start = (job: Job) => {
    if (wasSet()) return reschedule()
    if (underWay.has(job)) return
    if (job === jobs[0]) firstAt = performance.now()
    const begun = performance.now()
    const run = job.run(stopping.signal).catch((error: unknown) => {
      if (!stopping.signal.aborted) report(error, `${job.name}: ${messageOf(error)}`)
    })
    underWay.set(
      job,
      run.finally(() => {
        underWay.delete(job)
        const now = performance.now()
        restUntil.set(job, now + (now - begun) * REST_SHARE)
      }),
    )
  }
  const startSoon = async (job: Job) => {
    if (rung.has(job)) return
    rung.add(job)
    // The run under way may have looked before there was something to do.
    await underWay.get(job)
    const restMs = (restUntil.get(job) ?? 0) - performance.now()
    await setTimeout(Math.max(SHORTEST_REST_MS, restMs), undefined, { ref: false })
    rung.delete(job)
    if (!stopping.signal.aborted && performance.now() - firstAt < LATE_MS) start(job)
  }
  for (const job of jobs) job.bell?.listen(() => void startSoon(job))
  const schedule = () => {
    for (const cron of crons) cron.stop()
    crons = jobs.map((job) => new Cron(job.pattern, () => start(job)))
  }
  const reschedule = () => {
    schedule()
    if (jobs[0]) start(jobs[0])
  }
  schedule()
  const clockCheck = setInterval(() => wasSet() && reschedule(), SECOND_MS)
  return {
    async stop() {
      clearInterval(clockCheck)
      for (const cron of crons) cron.stop()
      stopping.abort()
      await Promise.all(underWay.values())
    },
  }
}
