import { targetOf } from '../../../conditions/condition.ts'
import { countText } from '../../../core/text.ts'
import type { Matcher, Plan, Unmet } from './plan.ts'

/** Sessions that fail at the same expectation. */
export interface Miss {
  unmet: Unmet
  /** Whole, at least 1. */
  sessions: number
  /** True when every one of them has the expected event, in the wrong order. */
  misplaced: boolean
}

/**
 * Returns one sentence without a full stop: `12 of 240 sessions missed Meta Pixel Purchase after page /thanks`.
 * `misses` has at least one, the most frequent first; `failed`: all sessions that fail, `total`: all that reached the
 * step.
 */
export function journeySummary(plan: Plan, misses: readonly [Miss, ...Miss[]], failed: number, total: number): string {
  const [most, ...others] = misses
  const share = `${countText(failed)} of ${countText(total)} ${total === 1 ? 'session' : 'sessions'}`
  const fault = `${most.misplaced ? 'showed' : 'missed'} ${nameOf(most.unmet.matcher)}${most.misplaced ? ' out of order' : ''}`
  const what = fault + placeOf(plan, most.unmet)
  return others.length === 0
    ? `${share} ${what}`
    : `${share} did not go as expected, ${countText(most.sessions)} of them ${what}`
}

function placeOf(plan: Plan, { anchor }: Unmet): string {
  if (anchor === null) return ''
  return ` ${plan.form === 'legacy' ? 'before' : 'after'} ${nameOf(anchor)}`
}

function nameOf({ page, label, vendor, event, data }: Matcher): string {
  if (page) return { equals: 'page ', contains: 'a page with ', starts_with: 'a page under ' }[page.op] + page.path
  const name = [vendor, event, ...(label === null ? [] : [`${vendor || event ? 'of ' : ''}label ${label}`])]
  const parts = [...name.filter(Boolean), ...(data.length > 0 ? [`with the expected ${dataOf(data)}`] : [])]
  return parts.length > 0 ? parts.join(' ') : 'any event'
}

/** Values are left out: the rule may treat them as personal. */
function dataOf(data: Matcher['data']): string {
  const isNamed = data.every((condition) => targetOf(condition).kind !== 'any')
  return isNamed ? [...new Set(data.map(({ parameter }) => parameter))].join(', ') : 'data'
}
