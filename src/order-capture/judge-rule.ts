import { DAY_MS, HOUR_MS, type Instant } from '../core/clock.ts'
import { amountText, countText } from '../core/text.ts'
import type { CaptureCount } from './capture-count.ts'
import type { CaptureRule } from './capture-rule.ts'
import { exceedsLimit, INITIAL_SHARE, judgeShare, type ShareState, type ShareVerdict } from './judge-share.ts'
import type { Slice } from './usual-share.ts'

/** Result of the last evaluation of a rule. */
export interface CaptureState {
  missing: ShareState
  duplicates: ShareState
  values: ShareState
  /** Learned usual share of missing orders; null while it is being learned. */
  usual: ShareVerdict['usual']
}

export const INITIAL_STATE: CaptureState = {
  missing: INITIAL_SHARE,
  duplicates: INITIAL_SHARE,
  values: INITIAL_SHARE,
  usual: null,
}

/** A problem that an evaluation found. Texts are phrases without full stops. */
export interface CaptureProblem {
  subject: 'missing' | 'duplicates' | 'values'
  since: Instant
  summary: string
  expectation: string
  observation: string
  /** Present for missing orders. */
  loss: Loss | null
}

interface Loss {
  capturePct: number
  usualPct: number | null
  /** Value of missing orders beyond the usual share since the start; null if no order has a value. */
  missingValue: number | null
  missingValuePerHour: number | null
}

/** Minimum number of orders for a comparison of their total value. */
const MIN_VALUED = 20

/**
 * Judges the counts of a rule. Each share takes up to 20 ms when 12 weeks are learned, so other work runs after each one.
 * Pure, apart from that.
 * @param counts counts of at most 12 weeks, oldest first
 * @param settledTo end of the counted time
 * @param pause lets other work run
 */
export async function judgeRule(
  rule: CaptureRule,
  {
    counts,
    state,
    settledTo,
    currency,
  }: {
    counts: readonly CaptureCount[]
    state: CaptureState
    settledTo: Instant
    currency: string | null
  },
  pause: () => Promise<void>,
): Promise<{ state: CaptureState; problems: CaptureProblem[] }> {
  const judge = async (of: (count: CaptureCount) => Omit<Slice, 'at'>, before: ShareState) => {
    const verdict = judgeShare(slicesOf(counts, of), before)
    await pause()
    return verdict
  }
  const missing = await judge(missingOf, state.missing)
  const duplicates = await judge(({ captured, duplicated }) => ({ count: captured, bad: duplicated }), state.duplicates)
  const values = await judge(({ valued, deviating }) => ({ count: valued, bad: deviating }), state.values)
  const since = (from: Instant) => counts.filter(({ startAt }) => startAt >= from)
  const lastDay = since(settledTo - DAY_MS)
  const problems = [
    missingProblem(rule, { counts, verdict: missing, settledTo, currency }),
    duplicatesProblem(rule, { verdict: duplicates, lastDay, since }),
    valuesProblem(rule, { verdict: values, lastDay, since }),
  ].filter((problem) => problem !== null)
  return {
    state: { missing: missing.state, duplicates: duplicates.state, values: values.state, usual: missing.usual },
    problems,
  }
}

const missingOf = ({ orders, captured }: CaptureCount) => ({ count: orders, bad: orders - captured })

const slicesOf = (counts: readonly CaptureCount[], of: (count: CaptureCount) => Omit<Slice, 'at'>): Slice[] =>
  counts.map((count) => ({ at: count.startAt, ...of(count) }))

const percentText = (share: number) => `${oneDecimal(share * 100)} %`
export const oneDecimal = (value: number) => Math.round(value * 10) / 10
const cents = (value: number) => Math.round(value * 100) / 100

const total = (counts: readonly CaptureCount[], field: Exclude<keyof CaptureCount, 'delayMs'>) =>
  counts.reduce((sum, count) => sum + count[field], 0)

function missingProblem(
  { minCapturePct }: CaptureRule,
  {
    counts,
    verdict,
    settledTo,
    currency,
  }: {
    counts: readonly CaptureCount[]
    verdict: ShareVerdict
    settledTo: Instant
    currency: string | null
  },
): CaptureProblem | null {
  const maximum = minCapturePct === null ? null : 1 - minCapturePct / 100
  const learned = verdict.state.since
  const since = learned ?? (maximum === null ? null : exceedsLimit(slicesOf(counts, missingOf), maximum))
  if (since === null) return null
  const own = counts.filter(({ startAt }) => startAt >= since)
  const orders = total(own, 'orders')
  const share = total(own, 'captured') / Math.max(1, orders)
  const usual = verdict.usual?.share ?? null
  // A share that is usual but below the minimum is compared with the minimum.
  const reference = learned === null && maximum !== null ? Math.min(usual ?? 1, maximum) : (usual ?? 0)
  const value = total(own, 'value')
  const missingValue = value === 0 ? null : cents(Math.max(0, value - total(own, 'capturedValue') - reference * value))
  const hours = Math.max(1 / 12, (settledTo - since) / HOUR_MS)
  const missingValuePerHour = missingValue === null ? null : cents(missingValue / hours)
  const expected = [
    ...(usual === null ? [] : [`usually ${percentText(1 - usual)}`]),
    ...(minCapturePct === null ? [] : [`at least ${minCapturePct} %`]),
  ].join(', ')
  const money =
    missingValue === null || missingValuePerHour === null
      ? ''
      : `; ${amountText(missingValuePerHour, currency)} missing per hour, ${amountText(missingValue, currency)} so far`
  return {
    subject: 'missing',
    since,
    summary: `${percentText(share)} of orders captured, ${expected}${money}`,
    expectation: expected,
    observation: `${percentText(share)} of ${countText(orders)} orders`,
    loss: {
      capturePct: oneDecimal(share * 100),
      usualPct: usual === null ? null : oneDecimal((1 - usual) * 100),
      missingValue,
      missingValuePerHour,
    },
  }
}

interface RecentCounts {
  verdict: ShareVerdict
  lastDay: readonly CaptureCount[]
  since: (from: Instant) => readonly CaptureCount[]
}

function duplicatesProblem(
  { maxDuplicates }: CaptureRule,
  { verdict: { state, usual }, lastDay, since }: RecentCounts,
): CaptureProblem | null {
  if (state.since === null || usual === null || maxDuplicates === null) return null
  const duplicates = total(lastDay, 'duplicates')
  if (duplicates <= maxDuplicates) return null
  const own = since(state.since)
  const share = total(own, 'duplicated') / Math.max(1, total(own, 'captured'))
  const expectation = `usually ${percentText(usual.share)}`
  return {
    subject: 'duplicates',
    since: state.since,
    summary: `${percentText(share)} of captured orders reported more than once, ${expectation}; ${countText(duplicates)} duplicates in 24 hours`,
    expectation,
    observation: `${percentText(share)} of ${countText(total(own, 'captured'))} captured orders`,
    loss: null,
  }
}

function valuesProblem(
  { maxValueDeviationPct }: CaptureRule,
  { verdict: { state, usual }, lastDay, since }: RecentCounts,
): CaptureProblem | null {
  const shop = total(lastDay, 'shopValue')
  const deviation = shop === 0 ? 0 : ((total(lastDay, 'reportedValue') - shop) / Math.abs(shop)) * 100
  const isOver =
    maxValueDeviationPct !== null &&
    total(lastDay, 'valued') >= MIN_VALUED &&
    Math.abs(deviation) > maxValueDeviationPct
  const from = state.since ?? (isOver ? (lastDay[0]?.startAt ?? null) : null)
  if (from === null) return null
  const own = since(from)
  const share = total(own, 'deviating') / Math.max(1, total(own, 'valued'))
  const limit = maxValueDeviationPct ?? 1
  const expectation = usual === null ? `at most ${limit} % in total` : `usually ${percentText(usual.share)}`
  const sum = `${deviation > 0 ? '+' : ''}${oneDecimal(deviation)} %`
  return {
    subject: 'values',
    since: from,
    summary: `${percentText(share)} of captured orders reported with a value that differs by more than ${limit} %, ${expectation}; total of 24 hours ${sum}`,
    expectation,
    observation: `${percentText(share)} of ${countText(total(own, 'valued'))} captured orders with a value`,
    loss: null,
  }
}
