import { describe, expect, test } from 'bun:test'
import { HOUR_MS, MINUTE_MS } from '../core/clock.ts'
import { findingOf, issueOfAlert, NOON, volumeAlert } from '../issues/issue.fixture.ts'
import type { IssueRecord } from '../issues/issue.ts'
import { CAUSE_KINDS, causesOf, type IssueFacts } from './determine-cause.ts'

let made = 0

/** Returns an issue about the vendor `ga4` in one domain. It began at noon and has no further facts. */
function issueOf(values: Partial<IssueRecord> = {}, vendor = 'ga4'): IssueRecord {
  const evidence = findingOf({ vendor })
  return issueOfAlert(volumeAlert, { id: `iss_${++made}`, firstSeenAt: NOON, evidence, ...values })
}

function factsOf(values: Partial<IssueFacts> = {}): IssueFacts {
  const issue = issueOf()
  return {
    issue,
    domain: 'Shop',
    gap: null,
    traffic: null,
    container: null,
    consent: null,
    failures: null,
    change: null,
    ...values,
  }
}

const causes = (...facts: IssueFacts[]) =>
  causesOf(
    facts,
    facts.map(({ issue }) => issue),
  )

const stopped = { reports: { before: 50, since: 0 }, others: { before: 80, since: 75 }, reported: 1200 }
/** For each kind of cause, facts that are sufficient for it. */
const holds: Record<string, Partial<IssueFacts>> = {
  pipeline: { gap: { fromAt: NOON - MINUTE_MS } },
  traffic: { traffic: { issueId: 'iss_whole', title: 'The traffic of Shop fell' } },
  container: { container: stopped },
  consent: { consent: { vendor: 'ga4', kind: 'after_denial', firstSeenAt: NOON - HOUR_MS } },
  vendor: { failures: { before: 0.05, since: 0.4 } },
  release: { change: { id: 'chg_1', title: 'Release 42', occurredAt: NOON - HOUR_MS } },
  tag: {},
}

describe('the order of causes', () => {
  test.each(CAUSE_KINDS.map((kind, at) => [kind, CAUSE_KINDS.slice(at)] as const))(
    'the kind %s applies on its own, and takes precedence over all later kinds',
    (kind, below) => {
      expect(causes(factsOf(holds[kind]))).toMatchObject([{ kind }])
      const several = Object.assign({}, ...below.map((one) => holds[one]))
      expect(causes(factsOf(several))).toMatchObject([{ kind }])
    },
  )

  test.each<[string, Partial<IssueFacts>]>([
    ['the tag manager still reports', { container: { ...stopped, reports: { before: 50, since: 10 } } }],
    ['everything stopped', { container: { ...stopped, others: { before: 80, since: 5 } } }],
    ['the tag manager rarely reported', { container: { ...stopped, reported: 5 } }],
    ['a few more failures', { failures: { before: 0.06, since: 0.11 } }],
    ['twice a very small share of failures', { failures: { before: 0.01, since: 0.05 } }],
  ])('%s: the only cause is the tag', (_, values) => {
    expect(causes(factsOf(values))).toMatchObject([{ kind: 'tag' }])
  })
})

describe('the vendor', () => {
  const elsewhere = (minutes: number, vendor?: string) =>
    factsOf({
      issue: issueOf({ domainId: 'dom_blog', firstSeenAt: NOON + minutes * MINUTE_MS }, vendor),
      domain: 'Blog',
    })

  test('is the cause when its issues in two domains began within two hours of each other', () => {
    expect(causes(factsOf(), elsewhere(119))).toMatchObject([
      { kind: 'vendor', vendor: 'ga4', domainId: null, detail: '2 issues with ga4 began within 2 hours in 2 domains.' },
    ])
  })

  test.each([
    ['later', elsewhere(121)],
    ['about another vendor', elsewhere(0, 'meta')],
    ['in the same domain', factsOf()],
  ])('is not the cause when the other issue is %s', (_, other) => {
    for (const { kind } of causes(factsOf(), other)) expect(kind).toBe('tag')
  })
})

test('ten issues caused by one release share one cause, with their highest severity and total value', () => {
  const facts = Array.from({ length: 10 }, (_, n) =>
    factsOf({
      issue: issueOf({ severity: n === 3 ? 'critical' : 'low', impactValue: n === 0 ? null : 10 }, `vendor ${n}`),
      ...holds.release,
    }),
  )
  expect(causes(...facts, factsOf())).toEqual([
    {
      kind: 'release',
      title: 'Release 42',
      detail: '10 issues began in the watch window of this change.',
      since: NOON - HOUR_MS,
      domainId: 'dom_shop',
      vendor: null,
      changeId: 'chg_1',
      issueIds: facts.map(({ issue }) => issue.id),
      severity: 'critical',
      impactValue: 90,
    },
    expect.objectContaining({ kind: 'tag', title: 'ga4 on Shop', severity: 'high', impactValue: 500 }),
  ])
})

test('each issue has exactly one cause, whatever the facts', () => {
  const kinds = Object.values(holds)
  const facts = Array.from({ length: 128 }, (_, bits) =>
    factsOf(Object.assign({}, ...kinds.filter((_, at) => (bits >> at) & 1))),
  )
  const listed = causes(...facts).flatMap(({ issueIds }) => issueIds)
  expect(listed.toSorted()).toEqual(facts.map(({ issue }) => issue.id).toSorted())
})
