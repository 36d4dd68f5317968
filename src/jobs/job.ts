import { Cron } from 'croner'
import { clockSteps, SECOND_MS } from '../core/clock.ts'
import { messageOf } from '../core/error.ts'

/** Something that happens by itself. Running it twice, late or after a crash does no harm. */
export interface Job {
  name: string
  /** A cron pattern with seconds. */
  pattern: string
  /** `stopping`: aborted when the program ends; what takes long ends early then, where that does no harm. */
  run(stopping?: AbortSignal): Promise<void>
}

export interface Runner {
  /** Starts no more runs, tells those under way, and waits for them. */
  stop(): Promise<void>
}

/**
 * Runs each job by its pattern, never two runs of one job at once. A failed run is reported and tried at the next time; of
 * one that a stop cut short nothing is said.
 * When the clock is set, the next times are found anew, because croner waits for a time of the clock, which may be years
 * away by then; and the first job of the list runs at once, before any other sees what the clock shows now.
 */
export function runJobs(jobs: readonly Job[], report: (error: unknown, job: string) => void): Runner {
  const underWay = new Map<Job, Promise<void>>()
  const stopping = new AbortController()
  const wasSet = clockSteps()
  let crons: Cron[] = []
  const start = (job: Job) => {
    if (wasSet()) return beginAnew()
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
  const beginAnew = () => {
    schedule()
    if (jobs[0]) start(jobs[0])
  }
  schedule()
  const looking = setInterval(() => wasSet() && beginAnew(), SECOND_MS)
  return {
    async stop() {
      clearInterval(looking)
      for (const cron of crons) cron.stop()
      stopping.abort()
      await Promise.all(underWay.values())
    },
  }
}
