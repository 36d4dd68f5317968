import { describe, expect, test } from 'bun:test'
import { plainEvent } from '../../../core/event.fixture.ts'
import type { Alert } from '../../alert.ts'
import { type TotalRow, totalsQuery } from '../../event-totals.ts'
import type { Finding } from '../../finding.ts'
import { explainViolation } from './explain-violation.ts'

const finding: Finding = {
  domainId: 'dom_1',
  subject: '',
  vendor: 'GA4',
  event: 'purchase',
  occurrences: 12,
  summary: '12 events broke the rule',
  observed: 12,
  expected: 0,
  firstAt: 0,
  lastAt: 0,
  hosts: [],
  sample: null,
  sampleSeq: 7,
}
const totals: TotalRow[] = [
  { domainId: 'dom_1', vendor: 'GA4', event: 'purchase', count: 340 },
  { domainId: 'dom_1', vendor: 'GA4', event: 'page_view', count: 1000 },
  { domainId: 'dom_1', vendor: 'Meta', event: 'purchase', count: 5 },
  { domainId: 'dom_2', vendor: 'GA4', event: 'purchase', count: 9999 },
]
const event = plainEvent({ params: { b: '-5' } })
const a = { parameter: 'transaction_id', op: 'is_blank' } as const
const b = { parameter: 'b', op: 'lt', values: ['0'] } as const
const say = (values: Partial<Finding>, conditions: object = { logic: 'any', items: [a] }, rows = totals) => {
  const alert = { conditions } as Alert
  const found = { ...finding, ...values }
  return explainViolation(alert, found, { event, name: found.event, totals: rows, regions: [] }).summary
}

describe('the summary of a finding', () => {
  test.each<[string, string, string]>([
    ['one condition', say({}), '12 of 340 purchase events had no `transaction_id`; expected none'],
    ['one violating event', say({ occurrences: 1 }), '1 of 340 purchase events had no `transaction_id`; expected none'],
    [
      'the only event',
      say({ occurrences: 1 }, undefined, [{ domainId: 'dom_1', vendor: 'GA4', event: 'purchase', count: 1 }]),
      '1 of 1 purchase event had no `transaction_id`; expected none',
    ],
    ['an unknown total', say({}, undefined, []), '12 purchase events had no `transaction_id`; expected none'],
    [
      'a total below the number of violations',
      say({ occurrences: 5000 }),
      '5,000 purchase events had no `transaction_id`; expected none',
    ],
    ['several event names', say({ event: null }), '12 of 1,340 events had no `transaction_id`; expected none'],
    [
      'several vendors',
      say({ vendor: null, event: null }),
      '12 of 1,345 events had no `transaction_id`; expected none',
    ],
    [
      'both of two conditions',
      say({}, { logic: 'all', items: [a, b] }),
      '12 of 340 purchase events had no `transaction_id` and had `b` below 0; expected none',
    ],
    [
      'one of two conditions',
      say({}, { logic: 'any', items: [{ parameter: 'b', op: 'gt', values: ['9'] }, b] }),
      '12 of 340 purchase events broke the rule; the latest had `b` below 0; expected none',
    ],
  ])('names the condition and the number of events for %s', (_name, summary, expected) =>
    expect(summary).toBe(expected),
  )
})

test("totals are not queried when the counts by minute don't cover the window or there are too many findings", () => {
  const whole = { from: 60_000, to: 120_500 }
  expect(totalsQuery('org', [finding], whole)?.over).toBe('counts')
  expect(totalsQuery('org', [finding], { ...whole, from: 60_001 })).toBeNull()
  expect(totalsQuery('org', [], whole)).toBeNull()
  expect(totalsQuery('org', Array(101).fill(finding), whole)).toBeNull()
})
