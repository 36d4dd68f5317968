import { Cron } from 'croner'
import { messageOf } from '../core/error.ts'

/** Something that happens by itself. Running it twice, late or after a crash does no harm. */
export interface Job {
  name: string
  /** A cron pattern with seconds. */
  pattern: string
  run(): Promise<void>
}

export interface Runner {
  /** Starts no more runs, and waits for those under way. */
  stop(): Promise<void>
}

/** Runs each job by its pattern, never two runs of one job at once. A failed run is reported and tried at the next time. */
export function runJobs(jobs: readonly Job[], report: (error: unknown, job: string) => void): Runner {
  const underWay = new Set<Promise<void>>()
  const crons = jobs.map(
    (job) =>
      new Cron(job.pattern, { protect: true }, () => {
        const run = job.run().catch((error: unknown) => report(error, `${job.name}: ${messageOf(error)}`))
        underWay.add(run)
        return run.finally(() => underWay.delete(run))
      }),
  )
  return {
    async stop() {
      for (const cron of crons) cron.stop()
      await Promise.all(underWay)
    },
  }
}
