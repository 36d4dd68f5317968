import { expect, test } from 'bun:test'
import { HOUR_MS } from '../core/clock.ts'
import { findingOf, issueOfAlert, NOON, validationAlert, volumeAlert } from '../issues/issue.fixture.ts'
import type { IssueRecord } from '../issues/issue.ts'
import { summaryOf } from './evidence.ts'

const tooFew = findingOf({ summary: '0 events, expected more than 10' })

test.each<[IssueRecord, string | null, string]>([
  [
    issueOfAlert(validationAlert, { hosts: ['shop.example'] }),
    'Shop',
    'Purchase has a value: ga4 purchase events break the rule on Shop (shop.example), 5 times from 2026-04-01 07:00 to 2026-04-01 10:00 UTC.',
  ],
  [
    issueOfAlert(validationAlert, {
      occurrences: 1,
      lastSeenAt: NOON - 5 * HOUR_MS,
      hosts: ['a.example', 'b.example'],
      evidence: findingOf({ vendor: null, event: null }),
    }),
    null,
    'Purchase has a value: events break the rule on a.example and 1 more host, 1 time at 2026-04-01 07:00 UTC.',
  ],
  [
    issueOfAlert(validationAlert, { occurrences: 144, lastSeenAt: NOON - 5 * HOUR_MS }),
    'Shop',
    'Purchase has a value: ga4 purchase events break the rule on Shop, 144 times since 2026-04-01 07:00 UTC.',
  ],
  [
    issueOfAlert(volumeAlert, { evidence: tooFew, occurrences: 1, lastSeenAt: NOON - 5 * HOUR_MS }),
    'Shop',
    'Purchase volume: 0 events, expected more than 10 (ga4 purchase) on Shop, in 1 window at 2026-04-01 07:00 UTC.',
  ],
  [
    issueOfAlert(validationAlert, { occurrences: 12345, hosts: ['a', 'b', 'c'], evidence: null, status: 'muted' }),
    'Shop',
    'Purchase has a value: events break the rule on Shop (a and 2 more hosts), 12,345 times from 2026-04-01 07:00 to 2026-04-01 10:00 UTC; the issue is muted.',
  ],
  [
    issueOfAlert(validationAlert, { occurrences: 1, lastSeenAt: NOON - 5 * HOUR_MS, hosts: ['shop.example'] }),
    'shop.example',
    'Purchase has a value: ga4 purchase events break the rule on shop.example, 1 time at 2026-04-01 07:00 UTC.',
  ],
  [
    issueOfAlert(volumeAlert, { evidence: tooFew, status: 'resolved' }),
    'Shop',
    'Purchase volume: 0 events, expected more than 10 (ga4 purchase) on Shop, in 5 windows from 2026-04-01 07:00 to 2026-04-01 10:00 UTC; the issue is resolved.',
  ],
  [
    issueOfAlert(volumeAlert, { occurrences: 1, evidence: null }),
    null,
    'Purchase volume: unexpected volume, in 1 window from 2026-04-01 07:00 to 2026-04-01 10:00 UTC.',
  ],
  [
    issueOfAlert({ ...validationAlert, alertType: 'journey' }, {}),
    'Shop',
    'Purchase has a value: sessions do not follow the journey on Shop, 5 times from 2026-04-01 07:00 to 2026-04-01 10:00 UTC.',
  ],
])('an issue is summarised in one sentence: %#', (issue, domain, expected) => {
  expect(summaryOf(issue, { domain, explainedBy: null })).toBe(expected)
})

test('a summary ends with the explanation of the issue', () => {
  const explainedBy = { issueId: 'iss_2', title: 'Traffic: all\ndropped' }
  const issue = issueOfAlert(volumeAlert, { status: 'acknowledged', occurrences: 1 })
  expect(summaryOf(issue, { domain: null, explainedBy })).toEndWith(
    ' UTC; the issue is acknowledged; explained by "Traffic: all dropped".',
  )
})

test('a summary always stays on one line', () => {
  const issue = issueOfAlert(validationAlert, {
    alertName: 'Two\nlines',
    hosts: ['a-host'],
    evidence: findingOf({ vendor: 'a-vendor', event: `an-event\r\n${'x'.repeat(500)}` }),
  })
  const summary = summaryOf(issue, { domain: 'a\u2028b', explainedBy: null })
  expect(summary).toStartWith('Two lines: a-vendor an-event xxx')
  expect(summary).toContain(' on a b (a-host),')
  expect(summary.length).toBeLessThan(500)
})
