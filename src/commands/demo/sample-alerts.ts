import type { AlertInput } from '../../alerts/alert.ts'

export const UNTITLED_VIDEO = 'Video without a title'
export const LEAKING_FORM = 'E-mail address in a form field'
export const CART_WITHOUT_CURRENCY = 'Cart without a currency'

const MARKETING = { type: 'email', target: 'marketing@shop.example' } as const

/**
 * Returns the alerts that the sample organization created on its first day, each about an event in its history.
 * `onCall` is the id of a webhook.
 */
export function firstAlerts(domains: { shop: string; magazine: string }, onCall: string): AlertInput[] {
  const shared = {
    alertType: 'data_validation',
    vendors: ['Google Analytics 4'],
    period: '1d',
    channels: [MARKETING],
  } satisfies Partial<AlertInput>
  return [
    {
      ...shared,
      name: UNTITLED_VIDEO,
      domainIds: [domains.magazine],
      severity: 'low',
      filters: [{ parameter: '$event', op: 'equals', values: ['video_start'] }],
      conditions: { logic: 'any', items: [{ parameter: 'ep.video_title', op: 'is_blank' }] },
    },
    {
      ...shared,
      name: LEAKING_FORM,
      domainIds: [domains.shop],
      severity: 'high',
      conditions: { logic: 'any', items: [{ parameter: 'ep.form_field', op: 'contains_email' }] },
      channels: [MARKETING, { type: 'webhook', target: onCall }],
      impactValue: 4000,
    },
    {
      ...shared,
      name: CART_WITHOUT_CURRENCY,
      domainIds: [domains.shop],
      severity: 'medium',
      filters: [{ parameter: '$event', op: 'equals', values: ['add_to_cart'] }],
      conditions: { logic: 'any', items: [{ parameter: 'ep.currency', op: 'is_blank' }] },
      impactValue: 3100,
    },
  ]
}

/** Returns the current alerts, one of each type. `onCall` is the id of a webhook. */
export function sampleAlerts(domainId: string, onCall: string): AlertInput[] {
  const channels: AlertInput['channels'] = [MARKETING, { type: 'webhook', target: onCall }]
  const shared = { domainIds: [domainId], channels }
  return [
    {
      ...shared,
      name: 'E-mail address in a page URL',
      alertType: 'data_validation',
      severity: 'critical',
      vendors: ['Google Analytics 4'],
      conditions: { logic: 'any', items: [{ parameter: 'dl', op: 'contains_email' }] },
      period: '1h',
      throttle: { count: 2, per: 1, unit: 'hours' },
      impactValue: 5000,
    },
    {
      ...shared,
      name: 'Purchase without transaction id',
      alertType: 'data_validation',
      severity: 'high',
      vendors: ['Google Analytics 4'],
      filters: [{ parameter: '$event', op: 'equals', values: ['purchase'] }],
      conditions: { logic: 'any', items: [{ parameter: 'ep.transaction_id', op: 'is_blank' }] },
      period: '1h',
      throttle: { count: 2, per: 1, unit: 'hours' },
      impactValue: 12_000,
    },
    {
      ...shared,
      name: 'Meta Pixel is silent',
      alertType: 'volume_threshold',
      severity: 'medium',
      vendors: ['Meta Pixel'],
      volume: { op: 'lte', count: 0 },
      period: '1h',
    },
    {
      ...shared,
      name: 'Page views fell by half',
      alertType: 'tag_volume_change',
      severity: 'high',
      vendors: ['Google Analytics 4'],
      volume: { direction: 'decrease', percent: 50, event: 'page_view' },
      period: '1d',
    },
    {
      ...shared,
      name: 'Google Analytics 4 has an unusual volume',
      alertType: 'volume_anomaly',
      severity: 'medium',
      volume: { vendor: 'Google Analytics 4', sensitivity: 4 },
      period: '1h',
    },
    {
      ...shared,
      name: 'Purchases are also sent to Meta',
      alertType: 'journey',
      severity: 'high',
      journey: {
        version: 2,
        steps: [
          {
            anchor: { kind: 'page', path: '/thank-you' },
            expect: [{ vendor: 'Meta Pixel', event: 'Purchase', data: [{ parameter: 'cd[value]', op: 'not_blank' }] }],
          },
        ],
      },
      period: '1h',
    },
  ]
}
