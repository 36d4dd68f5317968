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
    'Purchase has a value: ga4 purchase events break the rule on Shop (shop.example), 5 times from 1 Apr 2026, 09:00 to 12:00 CEST.',
  ],
  [
    issueOfAlert(validationAlert, {
      occurrences: 1,
      lastSeenAt: NOON - 5 * HOUR_MS,
      hosts: ['a.example', 'b.example'],
      evidence: findingOf({ vendor: null, event: null }),
    }),
    null,
    'Purchase has a value: events break the rule on a.example and 1 more host, 1 time at 1 Apr 2026, 09:00 CEST.',
  ],
  [
    issueOfAlert(validationAlert, { occurrences: 144, lastSeenAt: NOON - 5 * HOUR_MS }),
    'Shop',
    'Purchase has a value: ga4 purchase events break the rule on Shop, 144 times since 1 Apr 2026, 09:00 CEST.',
  ],
  [
    issueOfAlert(volumeAlert, { evidence: tooFew, occurrences: 1, lastSeenAt: NOON - 5 * HOUR_MS }),
    'Shop',
    'Purchase volume: 0 events, expected more than 10 (ga4 purchase) on Shop, in 1 window at 1 Apr 2026, 09:00 CEST.',
  ],
  [
    issueOfAlert(validationAlert, { occurrences: 12345, hosts: ['a', 'b', 'c'], evidence: null, status: 'muted' }),
    'Shop',
    'Purchase has a value: events break the rule on Shop (a and 2 more hosts), 12,345 times from 1 Apr 2026, 09:00 to 12:00 CEST; the issue is muted.',
  ],
  [
    issueOfAlert(validationAlert, { occurrences: 1, lastSeenAt: NOON - 5 * HOUR_MS, hosts: ['shop.example'] }),
    'shop.example',
    'Purchase has a value: ga4 purchase events break the rule on shop.example, 1 time at 1 Apr 2026, 09:00 CEST.',
  ],
  [
    issueOfAlert(volumeAlert, { evidence: tooFew, status: 'resolved' }),
    'Shop',
    'Purchase volume: 0 events, expected more than 10 (ga4 purchase) on Shop, in 5 windows from 1 Apr 2026, 09:00 to 12:00 CEST; the issue is resolved.',
  ],
  [
    issueOfAlert(volumeAlert, { occurrences: 1, evidence: null }),
    null,
    'Purchase volume: unexpected volume, in 1 window from 1 Apr 2026, 09:00 to 12:00 CEST.',
  ],
  [
    issueOfAlert({ ...validationAlert, alertType: 'journey' }, {}),
    'Shop',
    'Purchase has a value: sessions do not follow the journey on Shop, 5 times from 1 Apr 2026, 09:00 to 12:00 CEST.',
  ],
])('an issue is summarised in one sentence: %#', (issue, domain, expected) => {
  expect(summaryOf(issue, { domain, explainedBy: null, timezone: 'Europe/Berlin' })).toBe(expected)
})

test('a summary ends with the explanation of the issue', () => {
  const explainedBy = { issueId: 'iss_2', title: 'Traffic: all\ndropped' }
  const issue = issueOfAlert(volumeAlert, { status: 'acknowledged', occurrences: 1 })
  expect(summaryOf(issue, { domain: null, explainedBy, timezone: 'UTC' })).toEndWith(
    ' UTC; the issue is acknowledged; explained by "Traffic: all dropped".',
  )
})

test('a summary always stays on one line', () => {
  const issue = issueOfAlert(validationAlert, {
    alertName: 'Two\nlines',
    hosts: ['a-host'],
    evidence: findingOf({ vendor: 'a-vendor', event: `an-event\r\n${'x'.repeat(500)}` }),
  })
  const summary = summaryOf(issue, { domain: 'a\u2028b', explainedBy: null, timezone: 'UTC' })
  expect(summary).toStartWith('Two lines: a-vendor an-event xxx')
  expect(summary).toContain(' on a b (a-host),')
  expect(summary.length).toBeLessThan(500)
})
