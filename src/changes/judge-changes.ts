import { alertsChangedSince } from '../alerts/alert-store.ts'
import type { ChangeStatus } from '../contract/statuses.ts'
import { combinedError } from '../core/attempt-each.ts'
import { type Clock, type Instant, SECOND_MS } from '../core/clock.ts'
import type { Db } from '../store/database.ts'
import type { History } from '../warehouse/warehouse.ts'
import { ENOUGH_EVENTS, type Verdict } from './change.ts'
import { compareSides, ERROR, effectsOf } from './change-verdict.ts'
import { type ChangeWindow, evaluationTimesOf } from './change-window.ts'
import { readChangeData, versionIn } from './read-change-data.ts'
import { dueChanges, postponeEvaluation, storeVerdict, type WatchedChange } from './store.ts'

export interface JudgeChangesDeps {
  db: Db
  clock: Clock
  warehouse: History
  /** Returns the time up to which events are complete. */
  watermark(): Instant
}

/** Maximum number of changes evaluated per round. The remaining ones are evaluated in the next round. */
const AT_ONCE = 20
const RETRY_MS = 10 * SECOND_MS

/**
 * Evaluates the changes that are due, during and at the end of their watch windows. When one evaluation fails, it is
 * retried later and the others continue; the returned promise then rejects at the end of the round. Repeating a round
 * has no further effect.
 */
export async function judgeChanges(parts: JudgeChangesDeps, stopping?: AbortSignal): Promise<void> {
  const { db, clock } = parts
  const errors: unknown[] = []
  for (const change of dueChanges(db, parts.watermark(), AT_ONCE)) {
    if (stopping?.aborted) return
    try {
      await judgeChange(parts, change)
    } catch (error) {
      if (stopping?.aborted) return
      errors.push(error)
      postponeEvaluation(db, change.id, clock.now() + RETRY_MS)
    }
  }
  if (errors.length > 0) throw combinedError('evaluations of changes', errors)
}

async function judgeChange({ db, warehouse, watermark }: JudgeChangesDeps, change: WatchedChange): Promise<void> {
  const { id, orgId, domainId, occurredAt, endsAt } = change
  const windowMs = endsAt - occurredAt
  const looks = evaluationTimesOf(windowMs)
  const now = watermark()
  const next = looks.find((ms) => occurredAt + ms > now) ?? null
  const lengthMs = Math.min(now, endsAt) - occurredAt
  if (next !== null && lengthMs < (looks[0] ?? 0)) return postponeEvaluation(db, id, occurredAt + next)
  const isEnd = next === null
  const findings = await findingsOf({ orgId, domainId, at: occurredAt, lengthMs }, change, {
    history: warehouse,
    youngAlerts: alertsChangedSince(db, orgId, occurredAt - lengthMs),
    // The final evaluation may use half of the error probability, and all earlier evaluations together the other half.
    error: isEnd ? ERROR / 2 : ERROR / 2 / Math.max(1, looks.length - 1),
  })
  const kept = retainedFindings(change, findings)
  const status = statusOf(kept, isEnd)
  storeVerdict(db, id, { status, findings: kept, lookAt: isEnd ? null : occurredAt + (next ?? windowMs) })
}

async function findingsOf(
  window: ChangeWindow,
  { source, ref }: WatchedChange,
  { history, youngAlerts, error }: { history: History; youngAlerts: readonly string[]; error: number },
): Promise<Verdict> {
  const version = source === 'version' ? versionIn(ref) : null
  const around = await readChangeData(window, { version, youngAlerts }, history)
  const look = compareSides(around.tables)
  const past = await around.past(look.suspicious)
  return { items: effectsOf(look, past, error), comparedEvents: around.compared }
}

/** Returns the findings to store. A regressed change remains regressed and its effects remain stored. */
function retainedFindings({ status, findings }: WatchedChange, present: Verdict): Verdict {
  if (status !== 'regressed' || present.items.some(({ harmful }) => harmful)) return present
  const former = findings.items.filter(({ harmful }) => harmful)
  return { ...present, items: [...former, ...present.items].sort((a, b) => b.effect - a.effect) }
}

function statusOf({ items, comparedEvents: { before, after } }: Verdict, isEnd: boolean): ChangeStatus {
  if (items.some(({ harmful }) => harmful)) return 'regressed'
  if (!isEnd) return 'watching'
  return Math.min(before, after) < ENOUGH_EVENTS ? 'unclear' : 'clean'
}
