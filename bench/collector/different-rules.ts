import type { AlertInput } from '../../src/alerts/alert.ts'
import type { Condition } from '../../src/conditions/condition.ts'

type Rule = Pick<AlertInput, 'filters' | 'conditions' | 'conditionGroups'>

/** Parameters of each event in the generated load; see `batch.ts`. */
const KEYS = [
  'page_location',
  'page_title',
  'currency',
  'value',
  'transaction_id',
  'client_id',
  'session_id',
  'language',
]

const any = (...items: Condition[]): Rule => ({ conditions: { logic: 'any', items } })
const is = (parameter: string, op: Condition['op'], ...values: string[]): Condition => ({ parameter, op, values })

/** True for every event in the load, so filters with this condition exclude none. */
const sent = is('$status', 'equals', 'ok')
const named = is('$event', 'equals', 'page_view', 'purchase', 'add_to_cart', 'scroll')

/** Typical rules. Together, they use every kind of condition, and no two have the same structure. */
const SHAPES: readonly ((n: number, key: string) => Rule)[] = [
  (n) => ({ filters: [named], ...any(is(`absent_${n}`, 'not_blank')) }),
  (n, key) => ({ filters: [named], ...any(is(key, 'equals', `bad ${n}`)) }),
  (n) => any(is('page_location', 'not_starts_with', 'https://', `http${n}://`)),
  (n) => any(is('value', 'lt', `${-n}`)),
  (n, key) => any(is(key, 'regex', `^x${n}[0-9]+$`)),
  (n) => any(is('page_location', 'regex', `[?&]utm_source=(mail|ads)${n}(&|$)`)),
  (n, key) => any(is(key, 'contains', `staging-${n}`, `localhost:${n}`)),
  (n) => any(is('*', 'contains', `[object ${n}]`)),
  (n, key) => any(is(key, 'length_gt', `${300 + n}`)),
  (n, key) => any(is(key, 'ends_with', `.${n}~`)),
  (n) => ({ filters: [is('$event', 'equals', `event_${n}`)], ...any(is(`key_${n}`, 'is_blank')) }),
  (n) => ({
    filters: [named],
    conditionGroups: [
      { op: 'any', items: [is('language', 'is_blank')] },
      { op: 'all', items: [is('session_id', 'is_blank'), is(`key_${n}`, 'is_blank')] },
    ],
  }),
  (n) => ({ filters: [sent], ...any(is('currency', 'not_equals', 'EUR', 'USD', `X${n}`)) }),
  (n, key) => any(is(key, 'contains_email'), is(`mail_${n}`, 'contains_email')),
  (n) => ({ filters: [is('$path', 'starts_with', `/account/${n}`)], ...any(is('transaction_id', 'is_blank')) }),
  (n) => ({
    conditions: { logic: 'all', items: [is('$event', 'equals', 'purchase'), is('value', 'gt', `${1000 + n}`)] },
  }),
  (n) => ({ filters: [sent], ...any(is('$host', 'not_contains', 'shop', `x${n}`)) }),
  (n) => any(is('page_title', 'regex', `(?i)error ${n}|not found ${n}`)),
  (n) => ({ filters: [named], ...any(is('transaction_id', 'regex', `^T-[0-9]+-${n}$`)) }),
  (n, key) => ({
    filters: [named],
    conditionGroups: [
      { op: 'all', items: [is('$account', 'not_equals', 'G-ABCDE12345', `G-${n}`), is(key, 'not_blank')] },
    ],
  }),
]

/**
 * Returns the rule with number n; all numbers give different rules. Every event in the load is in scope of every rule
 * and violates none.
 */
export function differentRule(n: number): Rule {
  const shape = SHAPES[n % SHAPES.length] as (typeof SHAPES)[number]
  return shape(n, KEYS[Math.floor(n / SHAPES.length) % KEYS.length] as string)
}
