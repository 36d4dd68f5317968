import { type Clock, type Instant, SECOND_MS } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { type Metric, renderMetrics } from '../core/metric.ts'
import { cachedMetrics, processMetrics } from '../health/metrics.ts'
import { diskCheck, waitingCheck } from '../health/readiness.ts'
import { errorResponse } from '../http/error-responses.ts'
import { type CheckResult, type ReadinessCheck, runChecks } from '../http/health-routes.ts'
import { diskSpace } from '../store/disk-space.ts'
import type { Failure } from './patience.ts'

/** `Retry-After` in seconds while the collector is not ready. */
const RETRY_AFTER_S = 5

export interface HealthDeps {
  clock: Clock
  /** Data folder. */
  folder: string
  /** True once rows have been copied. Until then, all property tokens are unknown. */
  isReady(): boolean
  /** True if the last batch could not be written. */
  isRefusing(): boolean
  /** Returns why a job fails at the moment; null if its last run succeeded. */
  failureOf(job: 'sync' | 'forward'): Failure | null
  /** Time at which the oldest event that is not in the event history was received; null if there is none. */
  oldestAt(): Instant | null
  /** Measures the rooms of the collector. */
  measure(): Promise<readonly Metric[]>
}

/** The responses of a collector to load balancers and monitoring. They require no credential. */
export interface CollectorHealth {
  /** Returns the response to a path; null if the path belongs to something else. */
  answer(path: string): Promise<Response> | null
}

/**
 * A collector is ready while it can accept events. An absent control node or event history is only a warning: the
 * collector stores events meanwhile, and a load balancer would otherwise take all collectors out of rotation.
 */
export function collectorHealth(deps: HealthDeps): CollectorHealth {
  const { clock, folder, isRefusing } = deps
  const required: readonly ReadinessCheck[] = [
    { name: 'settings', check: () => settingsCheck(deps) },
    diskCheck(folder, isRefusing),
  ]
  const others: readonly ReadinessCheck[] = [
    { name: 'control', check: () => jobCheck(deps, 'sync', 'the control node answers') },
    { name: 'forward', check: () => jobCheck(deps, 'forward', 'segments are stored in the event history') },
    waitingCheck(
      { name: 'events', what: 'received events', until: 'to be stored in the event history', since: deps.oldestAt },
      clock,
    ),
  ]
  const metrics = cachedMetrics(clock, async () => [
    ...healthMetrics(deps, runChecks([...required, ...others])),
    ...processMetrics(),
    ...(await deps.measure()),
  ])
  const answers: Record<string, () => Response | Promise<Response>> = {
    '/healthz': () => Response.json({ ok: true }),
    '/readyz': () => readiness(runChecks(required), runChecks(others)),
    '/metrics': async () =>
      new Response(renderMetrics(await metrics()), { headers: { 'content-type': 'text/plain; version=0.0.4' } }),
  }
  return {
    answer(path) {
      const answer = Object.hasOwn(answers, path) ? answers[path] : undefined
      return answer ? Promise.resolve(answer()) : null
    },
  }
}

type Results = ReturnType<typeof runChecks>

const linesOf = (checks: Results) => checks.flatMap(({ name, ok, message }) => (ok ? [] : [`${name}: ${message}`]))

function readiness(required: Results, others: Results): Response {
  const faults = linesOf(required)
  if (faults.length > 0) return errorResponse(new AppError('unavailable', faults.join('; '), RETRY_AFTER_S))
  return Response.json({ ok: true, warnings: linesOf(others), checks: [...required, ...others] })
}

function settingsCheck({ isReady, failureOf }: HealthDeps): CheckResult {
  if (isReady()) return { ok: true, message: 'the settings of the control node are copied' }
  const reason = failureOf('sync')?.message
  return { ok: false, message: `no settings have been copied from the control node yet${reason ? ` (${reason})` : ''}` }
}

function jobCheck({ failureOf, clock }: HealthDeps, job: 'sync' | 'forward', success: string): CheckResult {
  const failure = failureOf(job)
  if (!failure) return { ok: true, message: success }
  return { ok: false, message: `${failure.message}, for ${Math.round((clock.now() - failure.since) / SECOND_MS)} s` }
}

function healthMetrics({ folder, failureOf }: HealthDeps, checks: Results): Metric[] {
  return [
    {
      name: 'tagwarden_check_failing',
      type: 'gauge',
      help: '1 while a check of /readyz fails, by check. Only "settings" and "disk" make it a 503.',
      samples: checks.map(({ name, ok }) => ({ labels: { check: name }, value: ok ? 0 : 1 })),
    },
    {
      name: 'tagwarden_collect_token_refused',
      type: 'gauge',
      help: "1 while the control node refuses the collector's token.",
      value: failureOf('sync')?.code === 'unauthorized' ? 1 : 0,
    },
    {
      name: 'tagwarden_disk_free_bytes',
      type: 'gauge',
      help: 'Free space on the disk of the data folder in bytes.',
      value: diskSpace(folder).freeBytes,
    },
  ]
}
