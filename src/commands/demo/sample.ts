import type { AlertInput } from '../../alerts/alert.ts'

/** Alerts of the sample organization, one of each type there is. */
export function sampleAlerts(domainId: string, webhookUrl: string): AlertInput[] {
  const channels: AlertInput['channels'] = [
    { type: 'email', target: 'marketing@shop.example' },
    { type: 'webhook', target: webhookUrl },
  ]
  const shared = { domainIds: [domainId], channels }
  return [
    {
      ...shared,
      name: 'E-mail address in a page address',
      alertType: 'data_validation',
      severity: 'critical',
      vendors: ['Google Analytics 4'],
      conditions: { logic: 'any', items: [{ parameter: 'dl', op: 'contains_email' }] },
      period: '1m',
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
      period: '1m',
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
      period: '1m',
    },
  ]
}
