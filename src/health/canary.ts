import type { AlertChannel, AlertInput } from '../alerts/alert.ts'
import { alertsOf, createAlert } from '../alerts/alert-store.ts'
import { dataValidation } from '../alerts/types/data-validation/data-validation.ts'
import type { Clock, Instant } from '../core/clock.ts'
import { Histogram } from '../core/metric.ts'
import type { SecretBox } from '../core/secret-box.ts'
import { hasDomains } from '../domains/domain-directory.ts'
import { createDomain } from '../domains/store.ts'
import type { CheckResult, ReadinessCheck } from '../http/health-routes.ts'
import { EVENTS_PATH } from '../ingest/collector.ts'
import type { Message } from '../integrations/message/message.ts'
import { deleteIssuesOf, hasIssues } from '../issues/store.ts'
import { ensureInternalOrg, INTERNAL_ORG_ID } from '../org/internal-org.ts'
import { type Db, prepared, tx } from '../store/database.ts'

export interface CanaryDeps {
  db: Db
  box: SecretBox
  clock: Clock
  /** Handles a request to the collector. */
  collect(request: Request): Promise<Response>
  /** To be called after the internal organization's domain or rule was created. */
  created(alertId: string): void
  /** True while no canary events are sent, because the disk is full or the server must not send anything. */
  isPaused(): boolean
}

/** Number of consecutive lost canary events after which the check fails. */
const MAX_MISSES = 3

const BUCKETS_S = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

/** A URL, so that the outbox has a separate lane for canary events, which no slow receiver can occupy. */
const CHANNEL = { type: 'canary' as AlertChannel['type'], target: 'https://canary.invalid' }

const RULE: AlertInput = {
  name: 'Canary event',
  alertType: dataValidation.kind,
  conditions: { logic: 'any', items: [{ parameter: 'canary', op: 'equals', values: ['sent'] }] },
  period: '1h',
  channels: [CHANNEL],
}

const BATCH = JSON.stringify({
  events: [{ vendor: 'Tagwarden', event: 'canary', params: { canary: 'sent' } }],
})

/**
 * Sends a canary event through the whole pipeline once a minute: collector, spool, rule, issue and outbox of the internal
 * organization. Canary events are dropped when their segment is flushed, and their issue is deleted before the next one,
 * so that nothing accumulates.
 */
export class Canary {
  readonly latency = new Histogram(BUCKETS_S)
  /** Lost canary events since startup. */
  missed = 0
  /** Number of consecutive lost canary events. */
  private misses = 0
  /** Where the last lost canary event got stuck. */
  private stuck = ''
  private pending: { sentAt: Instant; begun: number; refusal: string | null } | null = null
  /** Token of the internal organization's domain; null before the first canary event. */
  private token: string | null = null

  constructor(private readonly deps: CanaryDeps) {}

  /** Counts the previous canary event as lost unless it has arrived, and sends the next one. */
  async run(): Promise<void> {
    const { db, clock, collect, isPaused } = this.deps
    // A server without domains has nothing to monitor, and its engine need not run.
    if (isPaused() || !hasDomains(db)) {
      this.pending = null
      return
    }
    if (this.pending) this.noteMiss(this.pending.refusal)
    const token = this.prepare()
    const own = { sentAt: clock.now(), begun: performance.now(), refusal: null as string | null }
    this.pending = own
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const response = await collect(
      new Request(`http://localhost${EVENTS_PATH}`, { method: 'POST', headers, body: BATCH }),
    )
    if (response.status !== 202) own.refusal = `the collector answered with status ${response.status}`
  }

  /** To be called when the outbox delivers the notification of a canary event. */
  arrived(message: Message): void {
    const { pending } = this
    // A canary event that arrives after the next one was sent counts as lost.
    if (!pending || (message.firstBadAt ?? 0) < pending.sentAt) return
    this.pending = null
    this.misses = 0
    this.latency.observe((performance.now() - pending.begun) / 1000)
  }

  readonly check: ReadinessCheck = {
    name: 'canary',
    check: (): CheckResult =>
      this.misses < MAX_MISSES
        ? { ok: true, message: 'canary events pass through the server' }
        : { ok: false, message: `the last ${this.misses} canary events were lost: ${this.stuck}` },
  }

  private noteMiss(refusal: string | null): void {
    this.missed++
    this.misses++
    const isJudged = hasIssues(this.deps.db, INTERNAL_ORG_ID)
    this.stuck = refusal ?? (isJudged ? 'its notification was not sent' : 'it was not evaluated within a minute')
  }

  /** Deletes the issue of the previous canary event, and returns the token with which the next one is sent. */
  private prepare(): string {
    const { db, box, clock, created } = this.deps
    deleteIssuesOf(db, INTERNAL_ORG_ID)
    this.token ??= tx(db, () => {
      ensureInternalOrg(db, box, clock)
      if (tokenOf(db) === null) createDomain(db, clock, INTERNAL_ORG_ID, { name: 'Canary events' })
      const alert = alertsOf(db, INTERNAL_ORG_ID)[0] ?? createAlert(db, clock, INTERNAL_ORG_ID, RULE)
      created(alert.id)
      return tokenOf(db) ?? ''
    })
    return this.token
  }
}

function tokenOf(db: Db): string | null {
  const find = prepared<[string], { token: string }>(db, 'SELECT token FROM domain WHERE orgId = ?')
  return find.get(INTERNAL_ORG_ID)?.token ?? null
}
