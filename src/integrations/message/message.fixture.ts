import { HOUR_MS } from '../../core/clock.ts'
import { withHistory } from './add-event-history.ts'
import { buildMessage, type Message, type MessageFacts } from './message.ts'

/** 2026-01-05 12:34:56 UTC */
export const NOTIFIED_AT = Date.UTC(2026, 0, 5, 12, 34, 56)

const event = {
  ts: NOTIFIED_AT - 60_000,
  env: 'prod',
  vendor: 'Google Analytics 4',
  event: 'purchase',
  account: 'G-8QX2M1',
  kind: 'event',
  host: 'shop.example',
  path: '/checkout/thank-you',
  title: 'Thank you for your order',
}

export const PURCHASE_FACTS: MessageFacts = {
  transition: 'opened',
  at: NOTIFIED_AT,
  publicUrl: 'https://tags.company.example',
  issue: {
    id: 'iss_01ke7k3h20x6b4n8r1t9v5c7zd',
    title: 'Purchase has a value: Google Analytics 4 purchase events had no `value` on shop.example',
    status: 'open',
    severity: 'critical',
    alertType: 'data_validation',
    occurrences: 128,
    impactValue: 2500,
    firstSeenAt: NOTIFIED_AT - 3 * HOUR_MS,
    lastSeenAt: NOTIFIED_AT - 60_000,
    hosts: ['shop.example', 'm.shop.example'],
  },
  alert: { id: 'alr_1', name: 'Purchase has a value' },
  domain: { id: 'dom_1', name: 'Shop' },
  finding: {
    summary: '128 of 340 purchase events had no `value`; expected none',
    observed: 128,
    expected: 0,
    vendor: 'Google Analytics 4',
    event: 'purchase',
    sample: {
      ...event,
      sessionId: '1736080452.8841',
      params: { currency: 'EUR', value: '', transaction_id: 'T-20931', email: 'j***@m***.com', items: '2' },
    },
  },
  changes: [{ id: 'chg_1', title: 'Release 42 of the checkout', occurredAt: NOTIFIED_AT - 3 * HOUR_MS - 300_000 }],
  timezone: 'Europe/Berlin',
  openNow: 3,
}

/** A message about an issue with individual events. It includes all data from the event history. */
export function purchaseMessage(facts: Partial<MessageFacts> = {}): Message {
  const start = Date.UTC(2026, 0, 4, 13)
  return withHistory(buildMessage({ ...PURCHASE_FACTS, ...facts }), {
    goodSample: {
      ...event,
      ts: NOTIFIED_AT - 200_000,
      sessionId: '1736080102.1177',
      params: { currency: 'EUR', value: '89.90', transaction_id: 'T-20907', items: '1' },
    },
    series: Array.from({ length: 24 }, (_, hour) => ({
      at: start + hour * HOUR_MS,
      value: hour < 20 ? 0 : ([12, 41, 48, 27][hour - 20] ?? 0),
      expected: 0,
    })),
    cause: { sentence: 'The issue began in the watch window of a change: Release 42 of the checkout.' },
    affected: null,
    fields: ['value'],
  })
}

/** A message about an issue with a drop in the number of events. */
export function fallMessage(facts: Partial<MessageFacts> = {}): Message {
  const start = Date.UTC(2026, 0, 3, 12)
  const daily = (hour: number) => Math.round(420 + 310 * Math.sin(((hour - 8) / 24) * 2 * Math.PI))
  const message = buildMessage({
    ...PURCHASE_FACTS,
    issue: {
      ...PURCHASE_FACTS.issue,
      title: 'Page views as usual: far fewer Google Analytics 4 page_view events on shop.example',
      severity: 'high',
      alertType: 'volume_anomaly',
      impactValue: null,
    },
    alert: { id: 'alr_2', name: 'Page views as usual' },
    finding: {
      summary: '61 events, about 684 expected',
      observed: 61,
      expected: 684,
      vendor: 'Google Analytics 4',
      event: 'page_view',
      sample: null,
    },
    changes: [],
    ...facts,
  })
  return withHistory(message, {
    goodSample: { ...event, event: 'page_view', path: '/', title: 'Shop', params: { page_type: 'home' } },
    series: Array.from({ length: 48 }, (_, hour) => ({
      at: start + hour * HOUR_MS,
      value: hour < 45 ? daily(hour + 12) + ((hour * 37) % 40) : ([140, 61, 0][hour - 45] ?? 0),
      expected: daily(hour + 12) + 15,
    })),
    cause: null,
    affected: null,
    fields: null,
  })
}
