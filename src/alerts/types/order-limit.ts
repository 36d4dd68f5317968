import type { Condition } from '../../conditions/condition.ts'
import type { Instant } from '../../core/clock.ts'
import { AppError } from '../../core/error.ts'
import { Closed, parser, Text, Type } from '../../core/schema.ts'
import { countText } from '../../core/text.ts'
import { type Binder, type Query, query } from '../../warehouse/query.ts'
import { type Alert, domainsOf } from '../alert.ts'
import type { Window } from '../finding.ts'
import { organizationOf, type WindowType } from './alert-type.ts'
import { scopeOfIssue, scopeTests } from './event-scope.ts'
import { type EventFilter, type EvidenceContext, NO_BOUNDS } from './evidence.ts'
import { UNLIMITED } from './history-query.ts'
import { rejectConditions } from './reject-conditions.ts'

const OrderLimitSchema = Closed(
  {
    parameter: Text(1, 200, { description: 'Parameter that contains the value of an order', examples: ['value'] }),
    most: Type.Number({ exclusiveMinimum: 0, description: 'Maximum value of an order', examples: [100] }),
    secret: Type.Optional(
      Text(1, 200, { description: 'Parameter whose values are always masked', examples: ['card'] }),
    ),
  },
  {
    $id: 'OrderLimit',
    description: 'For `order_limit`: maximum value of an order',
    examples: [{ parameter: 'value', most: 100 }],
  },
)
const readLimit = parser(OrderLimitSchema)

/** Orders in one domain above one alert's limit. */
interface OrderRow {
  domainId: string
  orders: number
  firstAt: Instant
  lastAt: Instant
  lastSeq: number
}

const ALL = { vendors: [], event: null }
const NO_WINDOW: Window = { from: 0, to: 0, complete: true }
const ABOVE = 'orders above the limit'

/** Fires for each domain with an order whose value exceeds the alert's limit. */
export const orderLimit: WindowType<OrderRow> = {
  kind: 'order_limit',
  evaluated: 'by window',
  form: {
    title: 'Order limit',
    judges: 'orders, by `limit`',
    guide: { fires: 'for orders above a limit', needs: '`limit`: `{"parameter": "value", "most": 100}`' },
    notes: { conditions: 'Not used by `order_limit`' },
    configuration: { field: 'limit', schema: OrderLimitSchema, read: readLimit },
    example: {
      name: 'Orders above 100',
      alertType: 'order_limit',
      limit: { parameter: 'value', most: 100 },
      period: '1h',
      channels: [{ type: 'email', target: 'ann@example.com' }],
    },

    check(input) {
      rejectConditions(input, 'not allowed in an order_limit alert')
      if (readLimit(input.limit, 'limit').parameter !== '*') return
      throw new AppError('invalid', 'limit.parameter: must name one parameter')
    },
  },

  messages: {
    unit: { one: 'order', many: 'orders', meaning: ABOVE },
    title: ({ name, where }) => `${name}: there are ${ABOVE}${where}`,
    summary: ({ summary }) => `order values exceed the limit, most recently ${summary}`,
    expected: 'no order above the limit',
    countsFirings: false,
    explainsDrops: false,
    isRise: () => null,
    summarize: () => null,
  },

  evidence: {
    seriesDescription: ABOVE,
    series: (incident) => {
      const { rule } = incident
      if (rule === null) return null
      const boundsOf = () => ({ ...NO_BOUNDS, expected: 0, high: 1 })
      return { by: 'hours', over: 'events', where: (binder) => ordersOf({ ...incident, rule }, '>', binder), boundsOf }
    },
    violating: ({ rule, ...others }, binder) => (rule ? ordersOf({ ...others, rule }, '>', binder) : { sql: 'false' }),
    validMatchesViolating: true,
    valid: (incident) => ({ where: (binder) => ordersOf(incident, '<=', binder) }),
  },

  partial: true,
  settlingMs: 0,
  countedRanges: () => null,

  ownConditions({ limit }): Condition[] {
    const { secret } = readLimit(limit, 'limit')
    return secret === undefined ? [] : [{ parameter: secret, op: 'custom_pii_regex', values: ['.+'] }]
  },

  scope: () => ALL,
  scanKey: ({ id }) => id,

  measure: ordersQuery,

  // One window per query.
  history: {
    limits: { events: UNLIMITED, windows: 1, rows: UNLIMITED },
    query: (alert, [window]) => ({
      method: 'sql',
      query: ordersQuery([alert], window ?? NO_WINDOW),
      rowsOf: (rows) => [[...rows]],
      isComplete: () => true,
    }),
  },

  judge(alert, rows) {
    const { most } = readLimit(alert.limit, 'limit')
    return rows.map(({ domainId, orders, firstAt, lastAt, lastSeq }) => ({
      domainId,
      subject: '',
      vendor: null,
      event: null,
      observed: null,
      expected: null,
      hosts: [],
      sample: null,
      occurrences: orders,
      summary: `${countText(orders)} ${orders === 1 ? 'order' : 'orders'} above ${countText(most)}`,
      firstAt,
      lastAt,
      sampleSeq: lastSeq,
    }))
  },
}

function ordersQuery(alerts: readonly Alert[], window: Window): Query {
  const [alert] = alerts
  if (!alert) throw new Error('no alert')
  return query('test.order-limit', {
    orgId: organizationOf(alerts),
    window,
    write(binder) {
      const { sql, ...reads } = worthOf(alert, '>', binder)
      const tests = [...scopeTests({ domainIds: domainsOf(alert), ...ALL }, binder), sql]
      return {
        ...reads,
        sql: `SELECT domainId, sum(weight) AS orders, min(receivedAt) AS firstAt, max(receivedAt) AS lastAt, max(seq) AS lastSeq
          FROM events WHERE ${tests.join(' AND ')} GROUP BY domainId ORDER BY domainId`,
      }
    },
  })
}

function worthOf({ limit }: Alert, op: '>' | '<=', binder: Binder): EventFilter {
  const { dialect } = binder
  const { parameter, most } = readLimit(limit, 'limit')
  return {
    sql: `${dialect.readNumber(dialect.key(parameter))} ${op} ${binder.bind(most)}`,
    keys: [parameter],
  }
}

function ordersOf(incident: EvidenceContext & { rule: Alert }, op: '>' | '<=', binder: Binder): EventFilter {
  const { sql, ...reads } = worthOf(incident.rule, op, binder)
  return { ...reads, sql: [...scopeTests(scopeOfIssue(incident, ALL), binder), sql].join(' AND ') }
}
