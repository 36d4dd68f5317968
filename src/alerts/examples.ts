const domainId = 'dom_01ke7jm2q0d3k8f1z6y5b7n4ta'
const channels = [{ type: 'email', target: 'ann@example.com' }]

/** An alert of each type, as it is made. `docs/alerts.md` has more. */
export const ALERT_EXAMPLES = [
  {
    name: 'Purchase without transaction id',
    domainId,
    alertType: 'data_validation',
    severity: 'high',
    vendors: ['Google Analytics 4'],
    filters: [{ parameter: '$event', op: 'equals', values: ['purchase'] }],
    conditions: { logic: 'any', items: [{ parameter: 'ep.transaction_id', op: 'is_blank' }] },
    period: '1h',
    throttle: { count: 1, per: 4, unit: 'hours' },
    channels,
    impactValue: 900,
  },
  {
    name: 'Fewer than 20 purchases a day',
    domainId,
    alertType: 'volume_threshold',
    severity: 'high',
    vendors: ['Google Analytics 4'],
    volume: { op: 'lte', count: 19, event: 'purchase' },
    period: '1d',
    timezone: 'Europe/Berlin',
    channels,
  },
  {
    name: 'Meta Pixel sends half as much again',
    domainId,
    alertType: 'tag_volume_change',
    severity: 'medium',
    vendors: ['Meta Pixel'],
    volume: { direction: 'increase', percent: 50 },
    period: '1d',
    channels,
  },
  {
    name: 'Page views are not as usual',
    domainId,
    alertType: 'volume_anomaly',
    severity: 'critical',
    volume: { vendor: 'Google Analytics 4', event: 'page_view', sensitivity: 5 },
    period: '1h',
    channels,
  },
  {
    name: 'Thank-you page without conversion',
    domainId,
    alertType: 'journey',
    severity: 'high',
    journey: {
      version: 2,
      steps: [
        {
          anchor: { kind: 'page', path: '/checkout/thanks', op: 'starts_with' },
          expect: [
            { vendor: 'Google Analytics 4', event: 'purchase' },
            { vendor: 'Meta Pixel', event: 'Purchase' },
          ],
        },
      ],
    },
    period: '1h',
    channels,
  },
]
