import type { AlertInput } from '../../src/alerts/alert.ts'

type Rule = Pick<AlertInput, 'alertType' | 'period'> & Partial<AlertInput>

const blank = (parameter: string): NonNullable<AlertInput['conditions']> => ({
  logic: 'any',
  items: [{ parameter, op: 'is_blank' }],
})

/** Each list element is an alert type with its share of the alerts. */
const SHAPES: readonly { share: number; rule: (n: number, vendor: string) => Rule }[] = [
  {
    share: 12,
    rule: (n, vendor) => ({
      alertType: 'data_validation',
      period: '1m',
      vendors: [vendor],
      conditions:
        // Two rules in twenty are violated, so that issues are opened and messages sent.
        n % 10 === 0
          ? blank(`missing_${n}`)
          : {
              logic: 'any',
              items: [
                { parameter: '*', op: 'contains', values: [`[object ${n}]`] },
                { parameter: '$event', op: 'regex', values: [`^broken-${n}-[0-9]+$`] },
              ],
            },
    }),
  },
  {
    share: 3,
    rule: (n, vendor) => ({
      alertType: 'volume_threshold',
      period: '1m',
      vendors: [vendor],
      volume: { op: 'gte', count: n % 20 === 12 ? n : 100_000_000 },
    }),
  },
  {
    share: 2,
    rule: (_, vendor) => ({
      alertType: 'tag_volume_change',
      period: '1m',
      vendors: [vendor],
      volume: { direction: 'increase', percent: 900 },
    }),
  },
  { share: 2, rule: (_, vendor) => ({ alertType: 'volume_anomaly', period: '1h', volume: { vendor } }) },
  {
    share: 1,
    rule: (_, vendor) => ({
      alertType: 'journey',
      period: '1m',
      journey: {
        version: 2,
        steps: [{ anchor: { kind: 'page', path: '/' }, expect: [{ vendor, event: 'page_view' }] }],
      },
    }),
  },
]
const TURN = SHAPES.flatMap(({ share, rule }) => Array.from({ length: share }, () => rule))

/** Returns alerts of all types, in turn for each domain and vendor. Three in twenty fire. */
export function soakAlerts(
  count: number,
  {
    domains,
    vendors,
    channels,
  }: { domains: readonly string[]; vendors: readonly string[]; channels: AlertInput['channels'] },
): AlertInput[] {
  return Array.from({ length: count }, (_, n) => {
    const rule = TURN[n % TURN.length] as (typeof TURN)[number]
    const turn = Math.floor(n / TURN.length)
    return {
      name: `Alert ${n}`,
      domainId: domains[n % domains.length],
      channels,
      ...rule(n, vendors[turn % vendors.length] ?? ''),
    } as AlertInput
  })
}
