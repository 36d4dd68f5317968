import type { Instant } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { type Metric, renderMetrics } from '../core/metric.ts'
import { Closed, InstantSchema, Int, Nullable, OneOf, type Static, Type } from '../core/schema.ts'
import { OK, OkSchema, publicRoute, type Route } from './route.ts'

const tag = 'Health'

const CheckSchema = Closed({
  name: Type.String({ description: 'What was checked', examples: ['disk'] }),
  ok: Type.Boolean(),
  message: Type.String({ description: 'The result in one sentence', examples: ['48.1 GiB free (61 %)'] }),
})

const ReadinessSchema = Closed(
  {
    ok: Type.Boolean(),
    lastFlushAgeMs: Nullable(Int()),
    lastEvaluationAgeMs: Nullable(Int()),
    clockPutBack: Type.Optional(
      Closed(
        { at: InstantSchema, latestAt: InstantSchema },
        {
          description:
            'Present when the clock was set back to `at` and stored data extends to `latestAt`; omitted when no data is dated in the future',
        },
      ),
    ),
    damagedFiles: Type.Array(Type.String(), {
      description: 'Damaged files of the event history, which queries skip. At most 100.',
      examples: [['c0-51f3b0a4c2d9e687.parquet']],
    }),
    failingMerges: Int({ description: 'Merges of event files that failed and will be retried' }),
    backup: Type.Optional(
      OneOf(['ok', 'stale', 'failed', 'none'], {
        description:
          'State of the backups. `stale`: the last two scheduled backups are missing; `failed`: the most recent attempt failed',
      }),
    ),
    lastBackupAgeMs: Type.Optional(Nullable(Int())),
    quiet: Type.Optional(
      Closed(
        { since: InstantSchema, reason: Type.String() },
        { description: 'Present while the server sends nothing, because its data folder was copied or restored' },
      ),
    ),
    checks: Type.Optional(
      Type.Array(CheckSchema, { description: 'All checks. One that fails makes the response a 503' }),
    ),
  },
  { $id: 'Readiness' },
)

/** Maximum number of damaged files listed. The route is public, so its response must be bounded. */
const MOST_DAMAGED = 100

/** `Retry-After` in seconds while the server is not ready. */
const RETRY_AFTER_S = 10

/** The result of a check. */
export type CheckResult = Omit<Static<typeof CheckSchema>, 'name'>

/** A check that decides whether the server is ready. Rooms list their checks in `Room.checks`. */
export interface ReadinessCheck {
  /** Unique name in lower case. */
  name: string
  /**
   * Returns the current result. The route is public, so this must be cheap, and the message must contain no paths and no
   * data of organizations.
   */
  check(): CheckResult
}

export interface HealthDeps {
  /**
   * Times of the most recent move of events into the warehouse and of the most recent alert evaluation. Null before the
   * first one since startup.
   */
  lastFlushAt(): Instant | null
  lastEvaluationAt(): Instant | null
  /**
   * Time at which the clock was set back, and the latest time recorded before that. Null or omitted when no data is
   * dated in the future.
   */
  clockPutBack?(): { at: Instant; latestAt: Instant } | null
  /** Paths of damaged files, which queries skip. */
  damagedFiles(): readonly string[]
  /** Number of event file merges that failed and will be retried. */
  failingMerges(): number
  /** State of the backups, and the last one that succeeded. */
  backup?(): { state: 'ok' | 'stale' | 'failed' | 'none'; lastSuccess: { startedAt: Instant } | null }
  /** Why the server sends nothing; null or omitted if it does. */
  quiet?(): { since: Instant; reason: string } | null
  checks(): readonly ReadinessCheck[]
  now(): Instant
  metrics(): Promise<readonly Metric[]>
}

/** Runs all checks. A check that throws has failed. */
export function runChecks(checks: readonly ReadinessCheck[]): Static<typeof CheckSchema>[] {
  return checks.map(({ name, check }) => {
    try {
      return { name, ...check() }
    } catch {
      return { name, ok: false, message: 'the check itself failed; see the server log' }
    }
  })
}

/**
 * Returns the routes for load balancers and monitoring. Their responses contain no secrets and require no credential.
 */
export function healthRoutes({
  lastFlushAt,
  lastEvaluationAt,
  clockPutBack,
  damagedFiles,
  failingMerges,
  backup,
  quiet,
  checks,
  now,
  metrics,
}: HealthDeps): Route[] {
  const ageMs = (at: Instant | null) => (at === null ? null : now() - at)
  return [
    publicRoute({
      id: 'getHealth',
      method: 'GET',
      path: '/healthz',
      tag,
      summary: 'Check whether the process is running',
      answer: OkSchema,
      handle: () => OK,
    }),
    publicRoute({
      id: 'getReadiness',
      method: 'GET',
      path: '/readyz',
      tag,
      summary: 'Check whether the server can do its work',
      description:
        'Lists the checks and their results. 503 when a check fails: the disk is full, the query engine does not ' +
        'answer, events or evaluations have been waiting for more than 2 minutes, or canary events are lost. The error ' +
        'then names each failed check.',
      answer: ReadinessSchema,
      handle() {
        const results = runChecks(checks())
        const failed = results.filter(({ ok }) => !ok)
        if (failed.length > 0) {
          const faults = failed.map(({ name, message }) => `${name}: ${message}`)
          throw new AppError('unavailable', faults.join('; '), RETRY_AFTER_S)
        }
        return {
          ok: true,
          lastFlushAgeMs: ageMs(lastFlushAt()),
          lastEvaluationAgeMs: ageMs(lastEvaluationAt()),
          ...clockNote(clockPutBack?.() ?? null),
          damagedFiles: damagedFiles().slice(0, MOST_DAMAGED),
          failingMerges: failingMerges(),
          ...backupNote(backup?.() ?? null, ageMs),
          ...quietNote(quiet?.() ?? null),
          checks: results,
        }
      },
    }),
    publicRoute({
      id: 'getMetrics',
      method: 'GET',
      path: '/metrics',
      tag,
      summary: 'Get Prometheus metrics',
      produces: 'text/plain; version=0.0.4',
      answer: Type.String({
        examples: ['# TYPE tagwarden_events_stored_total counter\ntagwarden_events_stored_total 1200\n'],
      }),
      handle: async () => renderMetrics(await metrics()),
    }),
  ]
}

const clockNote = (clockPutBack: { at: Instant; latestAt: Instant } | null) => (clockPutBack ? { clockPutBack } : {})

function backupNote(
  status: ReturnType<NonNullable<HealthDeps['backup']>> | null,
  ageMs: (at: Instant | null) => number | null,
) {
  return status ? { backup: status.state, lastBackupAgeMs: ageMs(status.lastSuccess?.startedAt ?? null) } : {}
}

const quietNote = (quiet: { since: Instant; reason: string } | null) => (quiet ? { quiet } : {})
