import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { SEVERITIES } from '../contract/severities.ts'
import {
  accuracyOf,
  availabilityOf,
  complianceOf,
  type DomainHealth,
  type SignalHealth,
  scoreOf,
} from './score-formulas.ts'

const healthy: DomainHealth = {
  name: 'Shop',
  hasEvents: true,
  signals: [
    { vendor: 'GA', event: 'page_view', state: 'normal', observed: 90, expected: 100 },
    { vendor: 'GA', event: 'purchase', state: 'high', observed: 9, expected: 3 },
    { vendor: 'Meta', event: 'PageView', state: 'learning', observed: 80, expected: null },
  ],
  vendors: [
    { vendor: 'GA', known: 1000, failed: 10 },
    { vendor: 'Meta', known: 0, failed: 0 },
  ],
  rules: [{ alert: 'Has a value', severity: 'high', vendor: 'GA', event: 'purchase', violating: 1, total: 5000 }],
  findings: [],
  gapShare: 0,
}

const scoresOf = (...domains: DomainHealth[]) => ({
  availability: scoreOf(domains.map(availabilityOf), 'fine').score,
  accuracy: scoreOf(domains.map(accuracyOf), 'fine').score,
  compliance: scoreOf(domains.map(complianceOf), 'fine').score,
})

test('a healthy domain has at least 95 points in each score', () => {
  for (const score of Object.values(scoresOf(healthy))) expect(score).toBeGreaterThanOrEqual(95)
})

test.each<[string, keyof ReturnType<typeof scoresOf>, Partial<DomainHealth>]>([
  [
    'half of the requests to one vendor fail',
    'availability',
    { vendors: [{ vendor: 'Meta', known: 100, failed: 50 }] },
  ],
  ['one signal is silent', 'availability', { signals: [signal('GA', 'silent')] }],
  ['nothing was collected for three hours', 'availability', { gapShare: 0.125 }],
  ['30 % of the events violate a rule', 'accuracy', { rules: [broken(30, 100)] }],
  ['one e-mail address in a parameter', 'compliance', { findings: [{ vendor: 'GA', key: 'dl', kind: 'email' }] }],
  ['a key that a custom pattern matches', 'compliance', { findings: [{ vendor: 'GA', key: 'dl', kind: 'member_no' }] }],
])(
  '%s: the score drops by at least 5 points, for the domain alone and among ten healthy domains',
  (_, score, change) => {
    const bad = { ...healthy, ...change }
    for (const others of [[], Array.from({ length: 10 }, () => healthy)]) {
      expect(scoresOf(...others, bad)[score]).toBeLessThanOrEqual(scoresOf(...others, healthy)[score] - 5)
    }
  },
)

test('availability is zero without an event in 24 hours', () => {
  expect(scoreOf([availabilityOf({ ...healthy, hasEvents: false })], 'fine')).toEqual({
    score: 0,
    detail: 'No event was received from Shop in 24 hours.',
  })
})

describe('the description of a score', () => {
  test('lists the three largest causes and the number of further causes', () => {
    const findings = ['email', 'card', 'iban', 'phone', 'phone'].map((kind, n) => ({
      vendor: 'GA',
      key: `k${n}`,
      kind,
    }))
    expect(scoreOf([complianceOf({ ...healthy, findings })], 'fine').detail).toBe(
      'A card number in k1 of GA on Shop; an IBAN in k2 of GA on Shop; a phone number in k3 of GA on Shop; and 2 more.',
    )
  })

  test('describes a consent problem', () => {
    const findings = [{ vendor: 'Meta', key: '$consent', kind: 'after_denial' }]
    expect(scoreOf([complianceOf({ ...healthy, findings })], 'fine').detail).toBe(
      'Meta on Shop: requests after consent was denied.',
    )
  })

  test('uses the given text for a full score', () => {
    expect(scoreOf([complianceOf(healthy)], 'All is well.')).toEqual({ score: 100, detail: 'All is well.' })
  })

  test.each<[Partial<DomainHealth>, string]>([
    [{ vendors: [{ vendor: 'Meta', known: 1000, failed: 333 }], signals: [] }, '33 % of Meta events failed on Shop.'],
    [{ signals: [signal('GA', 'silent')] }, 'GA buy is silent on Shop.'],
    [{ vendors: [], signals: [], gapShare: 0.05 }, 'No events could be collected for 5 % of the time.'],
  ])('is as expected for a domain with %j', (change, detail) => {
    expect(scoreOf([availabilityOf({ ...healthy, ...change })], 'fine').detail).toBe(detail)
  })
})

function signal(vendor: string, state: SignalHealth['state'], observed = 0, expected = 50): SignalHealth {
  return { vendor, event: 'buy', state, observed, expected }
}

function broken(violating: number, total: number) {
  return { alert: 'Rule', severity: 'low' as const, vendor: 'GA', event: 'buy', violating, total }
}

const count = fc.integer({ min: 0, max: 1000 })
const vendor = fc.constantFrom('A', 'B', 'C')
const aSignal = fc.record({
  vendor,
  event: fc.constantFrom('x', 'y', 'z'),
  state: fc.constantFrom('learning', 'normal', 'high', 'low', 'silent'),
  observed: fc.option(count),
  expected: fc.option(count),
})
const aStatus = fc.record({ vendor, ok: count, failed: count }).map(({ vendor, ok, failed }) => ({
  vendor,
  failed,
  known: ok + failed,
}))
const aRule = fc
  .record({ severity: fc.constantFrom(...SEVERITIES), event: fc.constantFrom('x', 'y'), good: count, violating: count })
  .map(({ good, ...rule }) => ({ ...rule, alert: 'R', vendor: 'A', total: good + rule.violating }))
const aFinding = fc.record({ vendor, key: fc.string(), kind: fc.constantFrom('email', 'card', 'own', 'no_signal') })
const aDomain: fc.Arbitrary<DomainHealth> = fc.record({
  name: fc.constant('Shop'),
  hasEvents: fc.constant(true),
  signals: fc.array(aSignal, { maxLength: 8 }),
  vendors: fc.uniqueArray(aStatus, { selector: (status) => status.vendor }),
  rules: fc.array(aRule, { maxLength: 5 }),
  findings: fc.array(aFinding, { maxLength: 5 }),
  gapShare: fc.double({ min: 0, max: 1, noNaN: true }),
})

/** Changes that make a domain worse. `at` selects one of several variants of a change. */
const worse: Record<string, (domain: DomainHealth, at: number) => DomainHealth> = {
  'one more failure': (domain, at) => changed(domain, 'vendors', at, (one) => more(one, 'known', 'failed')),
  'one more violation': (domain, at) => changed(domain, 'rules', at, (one) => more(one, 'total', 'violating')),
  'another event violates a rule': (domain) => ({
    ...domain,
    rules: [...domain.rules, { alert: 'R', severity: 'low', vendor: 'A', event: 'new', violating: 1, total: 1e6 }],
  }),
  'a signal falls silent': (domain, at) => changed(domain, 'signals', at, (one) => ({ ...one, state: 'silent' })),
  'a low signal falls further': (domain, at) =>
    changed(domain, 'signals', at, (one) => ({ ...one, observed: one.observed && Math.floor(one.observed / 2) })),
  'one more finding': (domain) => ({
    ...domain,
    findings: [...domain.findings, { vendor: 'A', key: 'k', kind: 'own' }],
  }),
  'a longer gap': (domain) => ({ ...domain, gapShare: (domain.gapShare + 1) / 2 }),
  'no events': (domain) => ({ ...domain, hasEvents: false }),
}

function changed<K extends 'vendors' | 'rules' | 'signals'>(
  domain: DomainHealth,
  field: K,
  at: number,
  change: (one: DomainHealth[K][number]) => DomainHealth[K][number],
): DomainHealth {
  return { ...domain, [field]: domain[field].map((one, index) => (index === at ? change(one) : one)) }
}

const more = <T>(one: T, ...fields: (keyof T)[]): T => ({
  ...one,
  ...Object.fromEntries(fields.map((field) => [field, Number(one[field]) + 1])),
})

test.each(Object.entries(worse))('%s never raises a score', (_, change) => {
  fc.assert(
    fc.property(fc.array(aDomain, { minLength: 1, maxLength: 3 }), fc.nat(7), fc.nat(2), (domains, at, which) => {
      const before = scoresOf(...domains)
      const after = scoresOf(...domains.map((one, index) => (index === which % domains.length ? change(one, at) : one)))
      for (const name of ['availability', 'accuracy', 'compliance'] as const) {
        expect(after[name]).toBeLessThanOrEqual(before[name])
      }
    }),
    { numRuns: 500 },
  )
})
