import { Histogram, LabelledCounter, type Metric } from '../core/metric.ts'
import type { Job } from '../jobs/job.ts'

const REQUEST_BUCKETS_S = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const JOB_BUCKETS_S = [0.001, 0.01, 0.1, 0.5, 1, 5, 30, 120]

/** Durations of requests and jobs since startup. */
export class Timings {
  private readonly requests = new Histogram(REQUEST_BUCKETS_S, 'group')
  private readonly responses = new LabelledCounter()
  // Not `job`, because Prometheus uses that label for the scraped target.
  private readonly jobs = new Histogram(JOB_BUCKETS_S, 'task')
  private readonly failures = new LabelledCounter()

  /** @param group of routes: from a fixed set, never a path of a request */
  noteRequest(group: string, status: number, ms: number): void {
    this.requests.observe(ms / 1000, group)
    this.responses.add({ group, status: `${Math.floor(status / 100)}xx` })
  }

  /** Returns the job with its durations measured. */
  timed(job: Job): Job {
    return {
      ...job,
      run: async (stopping) => {
        const begun = performance.now()
        try {
          await job.run(stopping)
        } catch (error) {
          this.failures.add({ task: job.name })
          throw error
        } finally {
          this.jobs.observe((performance.now() - begun) / 1000, job.name)
        }
      },
    }
  }

  metrics(): Metric[] {
    return [
      {
        name: 'tagwarden_http_request_duration_seconds',
        type: 'histogram',
        help: 'Time in seconds until the response to a request begins, by group of routes.',
        series: this.requests.series(),
      },
      {
        name: 'tagwarden_http_requests_total',
        type: 'counter',
        help: 'Answered requests since startup, by group of routes and status, such as 2xx.',
        samples: this.responses.samples(),
      },
      {
        name: 'tagwarden_job_duration_seconds',
        type: 'histogram',
        help: 'Duration of background jobs in seconds, by task.',
        series: this.jobs.series(),
      },
      {
        name: 'tagwarden_job_failures_total',
        type: 'counter',
        help: 'Failed runs of background jobs since startup, by task. They are retried.',
        samples: this.failures.samples(),
      },
    ]
  }
}
