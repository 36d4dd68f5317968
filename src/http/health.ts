import { Elysia } from 'elysia'
import type { Instant } from '../core/clock.ts'

/** One line of `/metrics`. Units stand in the name, as Prometheus asks (https://prometheus.io/docs/practices/naming/). */
export interface Metric {
  name: string
  type: 'counter' | 'gauge'
  help: string
  value: number
}

export interface HealthParts {
  /** When events were last moved into the warehouse and alerts last judged; null: not yet since the start. */
  lastFlushAt(): Instant | null
  lastEvaluationAt(): Instant | null
  now(): Instant
  metrics(): Metric[]
}

/** For load balancers and monitoring: nothing secret, no credential needed. */
export function healthRoutes({ lastFlushAt, lastEvaluationAt, now, metrics }: HealthParts) {
  const ageMs = (at: Instant | null) => (at === null ? null : now() - at)
  return new Elysia({ normalize: false })
    .get('/healthz', () => ({ ok: true }), { detail: { summary: 'The process is up', tags: ['Health'] } })
    .get(
      '/readyz',
      () => ({ ok: true, lastFlushAgeMs: ageMs(lastFlushAt()), lastEvaluationAgeMs: ageMs(lastEvaluationAt()) }),
      { detail: { summary: 'The stores are open, and how old the last flush and evaluation are', tags: ['Health'] } },
    )
    .get(
      '/metrics',
      ({ set }) => {
        set.headers['content-type'] = 'text/plain; version=0.0.4'
        return `${metrics().map(lineOf).join('\n')}\n`
      },
      { detail: { summary: 'Prometheus metrics', tags: ['Health'] } },
    )
}

function lineOf({ name, type, help, value }: Metric): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${name} ${value}`
}
