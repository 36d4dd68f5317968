import { Cron } from 'croner'
import { clockSteps, SECOND_MS } from '../core/clock.ts'
import { messageOf } from '../core/error.ts'

/** A task that runs by itself. Running it twice, late or after a crash does no harm. */
export interface Job {
  name: string
  /** A cron pattern with seconds. */
  pattern: string
  /** `stopping`: aborted when the program ends; long runs then end early, where that does no harm. */
  run(stopping?: AbortSignal): Promise<void>
}

export interface Runner {
  /** Starts no more runs, aborts those under way, and waits for them. */
  stop(): Promise<void>
}

/**
 * Runs each job by its pattern, never two runs of one job at once. A failed run is reported and retried at the next
 * time; a run that fails after a stop is not reported. When the clock is set, all times are computed anew, because
 * croner waits for a time of the clock, which may be years away by then; and the first job of the list runs at once,
 * before any other uses the new time.
 */
export function runJobs(jobs: readonly Job[], report: (error: unknown, job: string) => void): Runner {
  const underWay = new Map<Job, Promise<void>>()
  const stopping = new AbortController()
  const wasSet = clockSteps()
  let crons: Cron[] = []
  const start = (job: Job) => {
    if (wasSet()) return reschedule()
    if (underWay.has(job)) return
    const run = job.run(stopping.signal).catch((error: unknown) => {
      if (!stopping.signal.aborted) report(error, `${job.name}: ${messageOf(error)}`)
    })
    underWay.set(
      job,
      run.finally(() => underWay.delete(job)),
    )
  }
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
