import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS } from '../core/clock.ts'
import { Yielder } from '../core/yield-to-event-loop.ts'
import { hasNoIds, type OrderKeys, orderKeys, orderNamesQuery } from '../insights/reported-orders-query.ts'
import { latestPaidOrders, type PaidOrder, type Posting, paidOrdersPage, postingsPage } from '../orders/store.ts'
import { gapsBetween } from '../signals/gap-store.ts'
import type { Db } from '../store/database.ts'
import type { History } from '../warehouse/warehouse.ts'
import { type CaptureCount, NO_ORDERS } from './capture-count.ts'
import { type CapturedRow, capturedIdsQuery, capturedOrdersQuery, type SettledOrder } from './capture-query.ts'
import { FINE_MS, replaceHours, type StoredRule } from './store.ts'

export interface CountDeps {
  db: Db
  history: History
  /** Retention time of events. */
  retentionMs: number
}

/** Time that is counted for a new rule. */
export const HISTORY_MS = 84 * DAY_MS
/** Maximum number of orders that are read and compared at a time, so that the event loop is not blocked. */
const PAGE = 1000
/** Maximum time between an order and its posting. A report counts until the settling time after the posting. */
const MAX_POSTING_MS = 2 * DAY_MS
/** Orders this close to a collection gap are not judged. */
const GAP_MARGIN_MS = 5 * MINUTE_MS
const STEP_MS = 5 * MINUTE_MS
/** Number of hours that are counted and stored together. */
const CHUNK_HOURS = 24
const DEFAULT_TOLERANCE = 0.01

export const settlingMs = ({ settlingMinutes }: StoredRule) => settlingMinutes * MINUTE_MS

/**
 * Counts the orders that have settled between the last evaluation and `until`, and stores the counts of their hours.
 * Counts are computed from all orders of an hour, so that repetitions and interruptions do no harm. An order settles
 * after the settling time, measured from its posting if that is later (at most two days). Reports received from the
 * settling time before the order until it settles count.
 * @param currency orders in other currencies have no value; null: the currency does not matter
 */
export async function countOrders(
  deps: CountDeps,
  rule: StoredRule,
  { until, currency }: { until: Instant; currency: string | null },
): Promise<void> {
  const { db } = deps
  const keys = await orderKeysIn(deps, rule, until)
  // Without queries, nothing else lets other work run.
  const yielder = new Yielder()
  for (const hours of chunksOf(await changedHours(deps, rule, until))) {
    const counts = new Map<Instant, CaptureCount>()
    const delays = new Map<Instant, number[]>()
    for (const { from, to } of spansOf(hours)) {
      let after: PaidOrder | undefined
      do {
        const page = paidOrdersPage(db, { ...rule, from, to }, { after, limit: PAGE })
        const settled = settledOrders(deps, rule, page, { until, currency })
        tally(counts, delays, settled)
        for (const row of await capturedIn(deps, rule, keys, settled)) addCaptured(counts, row)
        after = page.length === PAGE ? page.at(-1) : undefined
        if (yielder.isDue) await yielder.yieldNow()
      } while (after)
    }
    replaceHours(
      db,
      rule.id,
      hours,
      [...counts.values()].map((count) => ({ ...count, delayMs: medianOf(delays.get(count.startAt) ?? []) })),
    )
  }
}

/** Returns up to `limit` ids of settled orders that were not reported in time, newest first. */
export async function missingOrders(
  deps: CountDeps,
  rule: StoredRule,
  { since, until, limit }: { since: Instant; until: Instant; limit: number },
): Promise<string[]> {
  const latest = latestPaidOrders(deps.db, { ...rule, from: since, to: until }, PAGE)
  const orders = settledOrders(deps, rule, latest, { until, currency: null })
  const keys = await orderKeysIn(deps, rule, until)
  const captured = new Set<string>()
  if (orders.length > 0 && !hasNoIds(keys)) {
    const rows = await deps.history.query<{ id: string }>(capturedIdsQuery(inputOf(rule, keys, orders)))
    for (const { id } of rows) captured.add(id)
  }
  return orders.flatMap(({ id }) => (captured.has(id) ? [] : [id])).slice(0, limit)
}

interface Settled extends SettledOrder {
  at: Instant
  delayMs: number | null
}

function settledOrders(
  { db }: CountDeps,
  rule: StoredRule,
  orders: readonly PaidOrder[],
  { until, currency }: { until: Instant; currency: string | null },
): Settled[] {
  const [first, last] = [orders[0]?.at ?? 0, orders.at(-1)?.at ?? 0]
  const [from, to] = [Math.min(first, last) - GAP_MARGIN_MS, Math.max(first, last) + GAP_MARGIN_MS]
  const gaps = orders.length === 0 ? [] : gapsBetween(db, from, to)
  const isInGap = (at: Instant) =>
    gaps.some(({ fromAt, toAt }) => at >= fromAt - GAP_MARGIN_MS && at < toAt + GAP_MARGIN_MS)
  return orders.flatMap((order) => {
    const { id, at, value, postedAt } = order
    const deadline = Math.max(at, Math.min(postedAt ?? at, at + MAX_POSTING_MS)) + settlingMs(rule)
    if (deadline > until || isInGap(at)) return []
    const stepMs = at >= until - FINE_MS ? STEP_MS : HOUR_MS
    const isCounted = currency === null || order.currency === null || order.currency === currency
    return [
      {
        id,
        at,
        slot: Math.floor(at / stepMs) * stepMs,
        value,
        money: isCounted ? (value ?? 0) : 0,
        deadline,
        delayMs: postedAt === null ? null : postedAt - at,
      },
    ]
  })
}

function tally(counts: Map<Instant, CaptureCount>, delays: Map<Instant, number[]>, orders: readonly Settled[]): void {
  for (const { slot, money, delayMs } of orders) {
    const count = counts.get(slot) ?? { ...NO_ORDERS, startAt: slot }
    count.orders++
    count.value += money
    counts.set(slot, count)
    if (delayMs === null) continue
    const known = delays.get(slot)
    if (known) known.push(delayMs)
    else delays.set(slot, [delayMs])
  }
}

function addCaptured(counts: Map<Instant, CaptureCount>, { slot, money, ...row }: CapturedRow): void {
  const count = counts.get(slot)
  if (!count) return
  count.captured += row.captured
  count.duplicated += row.duplicated
  count.duplicates += row.duplicates
  count.valued += row.valued
  count.deviating += row.deviating
  count.shopValue += row.shopValue
  count.reportedValue += row.reportedValue
  count.capturedValue += money
}

function medianOf(values: readonly number[]): number | null {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? null
}

function inputOf(rule: StoredRule, keys: OrderKeys, orders: readonly Settled[]) {
  const { orgId, domainId, vendor } = rule
  const from = Math.min(...orders.map(({ at }) => at)) - settlingMs(rule)
  const to = Math.max(...orders.map(({ deadline }) => deadline))
  return { scope: { orgId, domainId, window: { from, to } }, vendor, keys, orders }
}

async function capturedIn(
  { history }: CountDeps,
  rule: StoredRule,
  keys: OrderKeys,
  orders: readonly Settled[],
): Promise<CapturedRow[]> {
  if (orders.length === 0 || hasNoIds(keys)) return []
  const tolerance = rule.maxValueDeviationPct === null ? DEFAULT_TOLERANCE : rule.maxValueDeviationPct / 100
  return history.query<CapturedRow>(capturedOrdersQuery(inputOf(rule, keys, orders), tolerance))
}

async function orderKeysIn({ history }: CountDeps, rule: StoredRule, until: Instant): Promise<OrderKeys> {
  const { orgId, domainId } = rule
  const window = { from: startOf(rule, until) - settlingMs(rule), to: until + 1 }
  const names = await history.query<{ name: string }>(orderNamesQuery({ orgId, domainId, window }))
  return orderKeys(names.map(({ name }) => name))
}

/** Returns the time from which orders may have settled since the last evaluation. */
const startOf = (rule: StoredRule, until: Instant) =>
  rule.countedTo === 0 ? until - HISTORY_MS : rule.countedTo - settlingMs(rule)

const hourOf = (at: Instant) => Math.floor(at / HOUR_MS) * HOUR_MS

/** Returns the hours of orders that may have settled since the last evaluation, oldest first. */
async function changedHours({ db, retentionMs }: CountDeps, rule: StoredRule, until: Instant): Promise<Instant[]> {
  // Events of the oldest day may already be partly deleted.
  const oldest = hourOf(until - Math.min(HISTORY_MS, retentionMs - DAY_MS))
  const [from, to] = [startOf(rule, until), until - settlingMs(rule)]
  const hours = new Set<Instant>()
  for (let hour = Math.max(oldest, hourOf(from)); hour <= to; hour += HOUR_MS) hours.add(hour)
  if (rule.countedTo === 0) return [...hours]
  const yielder = new Yielder()
  let after: Posting | undefined
  do {
    const page = postingsPage(db, { ...rule, from, to: to + 1 }, { after, limit: PAGE })
    for (const { at } of page) if (at >= oldest) hours.add(hourOf(at))
    after = page.length === PAGE ? page.at(-1) : undefined
    if (yielder.isDue) await yielder.yieldNow()
  } while (after)
  return [...hours].sort((a, b) => a - b)
}

function chunksOf(hours: readonly Instant[]): Instant[][] {
  const count = Math.ceil(hours.length / CHUNK_HOURS)
  return Array.from({ length: count }, (_, at) => hours.slice(at * CHUNK_HOURS, (at + 1) * CHUNK_HOURS))
}

/** Joins adjacent hours. */
function spansOf(hours: readonly Instant[]): { from: Instant; to: Instant }[] {
  const spans: { from: Instant; to: Instant }[] = []
  for (const hour of hours) {
    const last = spans.at(-1)
    if (last?.to === hour) last.to = hour + HOUR_MS
    else spans.push({ from: hour, to: hour + HOUR_MS })
  }
  return spans
}
