import type { Finding } from '../alerts/finding.ts'
import { type Clock, HOUR_MS, type Instant, MINUTE_MS } from '../core/clock.ts'
import { messageOf } from '../core/error.ts'
import { newId } from '../core/id.ts'
import { momentText } from '../core/moment-text.ts'
import { Yielder } from '../core/yield-to-event-loop.ts'
import { findDomain } from '../domains/store.ts'
import type { Enqueue } from '../issues/issue.ts'
import { ORDER_CAPTURE } from '../issues/issue-kinds.ts'
import { reconcile } from '../issues/reconcile-issues.ts'
import { applyChanges, presentIssues } from '../issues/store.ts'
import { lastArrival } from '../orders/store.ts'
import { currencyOf, timezoneOf } from '../org/store.ts'
import { tx } from '../store/database.ts'
import type { CaptureCount } from './capture-count.ts'
import { type CountDeps, countOrders, HISTORY_MS, missingOrders, settlingMs } from './count-orders.ts'
import { type FeedHour, hasFeedStopped } from './judge-feed.ts'
import { type CaptureProblem, judgeRule } from './judge-rule.ts'
import {
  countsSame,
  countsSince,
  enabledRules,
  findRule,
  mergeHours,
  type StoredRule,
  saveEvaluation,
} from './store.ts'

export interface EvaluateDeps extends CountDeps {
  clock: Clock
  enqueue: Enqueue
  /** Returns the time up to which events are complete. */
  watermark(): Instant
  report(error: unknown, where: string): void
}

/** Maximum number of missing orders stored with an issue. */
const MAX_MISSING = 20
/** A rule is evaluated this often within its settling time. */
const EVALUATIONS = 12

/**
 * Evaluates the rules that are due: counts settled orders, judges them, and stores the counted time together with the
 * issues, so that an interrupted evaluation is repeated as a whole.
 */
export async function evaluateCaptureRules(deps: EvaluateDeps, stopping?: AbortSignal): Promise<void> {
  const yielder = new Yielder()
  for (const rules of Map.groupBy(enabledRules(deps.db), ({ domainId }) => domainId).values()) {
    let isEvaluated = false
    for (const rule of rules) {
      if (stopping?.aborted) return
      try {
        isEvaluated = (await evaluateRule(deps, rule, yielder)) || isEvaluated
      } catch (error) {
        if (!stopping?.aborted) deps.report(error, `order capture rule ${rule.id}: ${messageOf(error)}`)
      }
    }
    if (isEvaluated) evaluateFeed(deps, rules)
    if (yielder.isDue) await yielder.yieldNow()
  }
}

/** Returns false when the rule is not due. */
async function evaluateRule(deps: EvaluateDeps, rule: StoredRule, yielder: Yielder): Promise<boolean> {
  const { db, clock, watermark } = deps
  const until = Math.min(clock.now(), watermark())
  const stepMs = Math.max(MINUTE_MS, settlingMs(rule) / EVALUATIONS)
  // After the clock was set back, the rule continues from the present time.
  if (until >= rule.countedTo && until - rule.countedTo < stepMs) return false
  const currency = currencyOf(db, rule.orgId)
  await countOrders(deps, { ...rule, countedTo: Math.min(rule.countedTo, until) }, { until, currency })
  const settledTo = until - settlingMs(rule)
  const counts = countsSince(db, rule.id, until - HISTORY_MS)
  const history = { counts, state: rule.state, settledTo, currency }
  const { state, problems } = await judgeRule(rule, history, () => yielder.yieldNow())
  const lost = problems.find(({ subject }) => subject === 'missing')
  const missing = lost ? await missingOrders(deps, rule, { since: lost.since, until, limit: MAX_MISSING }) : []
  const findings = problems.map((problem) => findingOf(rule, problem, { settledTo, missing, currency }))
  tx(db, () => {
    const present = findRule(db, rule.id)
    // The rule was changed during the evaluation.
    if (!present?.enabled || present.countedTo !== rule.countedTo || !countsSame(present, rule)) return
    mergeHours(db, rule.id, until)
    saveEvaluation(db, rule.id, until, state)
    applyTo(deps, { ...present, name: `Orders in ${rule.vendor}` }, findings, settledTo)
  })
  return true
}

function findingOf(
  { domainId, vendor }: StoredRule,
  { subject, since, summary, expectation, observation, loss }: CaptureProblem,
  { settledTo, missing, currency }: { settledTo: Instant; missing: readonly string[]; currency: string | null },
): Finding {
  return {
    ...NO_SAMPLE,
    domainId,
    subject,
    vendor,
    summary,
    expectation,
    observation,
    firstAt: since,
    lastAt: settledTo - 1,
    ...(loss && { orderCapture: { ...loss, missingOrders: [...missing], currency } }),
  }
}

const NO_SAMPLE = {
  event: null,
  occurrences: 1,
  observed: null,
  expected: null,
  hosts: [],
  sample: null,
  sampleSeq: null,
}

type Subject = Pick<StoredRule, 'id' | 'orgId' | 'channels'> & { name: string }

/** Opens, continues and resolves the issues of a rule or feed. Each subject has its own value. */
function applyTo(
  { db, clock, enqueue }: EvaluateDeps,
  { id, orgId, name, channels }: Subject,
  findings: readonly Finding[],
  to: Instant,
): void {
  const now = clock.now()
  const known = presentIssues(db, id, now)
  const subjects = new Set([...known, ...findings].map(({ subject }) => subject))
  const windowStartAt = Math.floor((to - 1) / HOUR_MS) * HOUR_MS
  for (const subject of subjects) {
    const own = findings.filter((finding) => finding.subject === subject)
    const value = own[0]?.orderCapture?.missingValue ?? null
    const changes = reconcile({
      alert: {
        id,
        orgId,
        name,
        alertType: ORDER_CAPTURE.kind,
        severity: 'high',
        impactValue: value === null ? null : Math.round(value),
        periodMs: 0,
      },
      timezone: timezoneOf(db, orgId),
      issues: known.filter((issue) => issue.subject === subject),
      findings: own,
      window: { from: windowStartAt, to, complete: true },
      windowStartAt,
      inRunWindow: true,
      channels,
      now,
      newId: () => newId('iss', now),
    })
    applyChanges(db, changes, enqueue)
  }
}

/** Judges whether the shop still posts orders, once per domain. */
function evaluateFeed(deps: EvaluateDeps, rules: readonly StoredRule[]): void {
  const { db, clock } = deps
  const [first] = rules
  const rule = first && findRule(db, first.id)
  if (!rule?.enabled || rule.countedTo === 0) return
  const { orgId, domainId } = rule
  const now = clock.now()
  const last = lastArrival(db, domainId)
  const hours = hoursOf(countsSince(db, rule.id, now - HISTORY_MS))
  const isStopped = last !== null && hasFeedStopped(hours, last.at, now)
  const findings = isStopped
    ? [
        {
          ...NO_SAMPLE,
          domainId,
          subject: 'feed',
          vendor: null,
          summary: `No orders have arrived from the shop since ${momentText(last.postedAt, timezoneOf(db, orgId))}`,
          firstAt: last.postedAt,
          lastAt: now - 1,
        },
      ]
    : []
  const channels = distinct(rules.flatMap(({ channels }) => channels))
  tx(db, () =>
    applyTo(
      deps,
      { id: domainId, orgId, channels, name: `Orders of ${findDomain(db, { orgId, id: domainId }, now).name}` },
      findings,
      now,
    ),
  )
}

function distinct<T>(items: readonly T[]): T[] {
  return [...new Map(items.map((item) => [JSON.stringify(item), item])).values()]
}

function hoursOf(counts: readonly CaptureCount[]): FeedHour[] {
  const hours = new Map<Instant, FeedHour>()
  for (const { startAt, orders, delayMs } of counts) {
    const at = Math.floor(startAt / HOUR_MS) * HOUR_MS
    const hour = hours.get(at) ?? { at, orders: 0, delayMs: null }
    const delay = delayMs === null ? hour.delayMs : Math.max(delayMs, hour.delayMs ?? 0)
    hours.set(at, { at, orders: hour.orders + orders, delayMs: delay })
  }
  return [...hours.values()]
}
