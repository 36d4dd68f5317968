import { expect, test } from 'bun:test'
import type { Event, IssueDetail, IssueEvidence } from '#client/types.gen'
import { markdownOf } from './issue-markdown.ts'

const AT = Date.UTC(2026, 10, 23, 13, 18)
const CONTEXT = { link: 'https://tags.example/issues/iss_1', timeZone: 'Europe/Berlin' }

const issue: IssueDetail = {
  id: 'iss_1',
  alertId: 'alr_1',
  status: 'open',
  severity: 'critical',
  alertType: 'data_validation',
  title: 'A *bold* title\n# of <b>two</b> lines',
  occurrences: 4644,
  capReached: false,
  notificationsSent: 1,
  impactValue: null,
  notes: null,
  trackerKey: null,
  firstSeenAt: AT,
  lastSeenAt: AT + 60_000,
  hosts: ['shop.example'],
  domainId: 'dom_1',
  domain: 'Shop | two',
  occurrenceSeries: [],
  history: [],
}

const sample = (params: Record<string, string>) => ({ params }) as Event

const evidence = {
  issue,
  summary: 'It broke.',
  changes: [{ id: 'chg_1', title: 'Release 41', occurredAt: AT }],
  badSample: sample({ same: '1', value: '', 'a|b': 'x`y' }),
  goodSample: sample({ same: '1', value: '49.90', 'a|b': 'z' }),
} as unknown as IssueEvidence

test('issue Markdown escapes data and lists only parameters that differ', () => {
  expect(markdownOf(issue, evidence, CONTEXT)).toBe(`## A \\*bold\\* title \\# of \\<b\\>two\\</b\\> lines

It broke.

- Severity: Critical
- Status: Open
- Domain: Shop \\| two
- Hosts: \`shop.example\`
- Occurrences: 4,644
- First seen: 23 Nov 2026, 14:18 CET
- Last seen: 23 Nov 2026, 14:19 CET
- Likely cause: Release 41

| Parameter | Violating event | Valid event |
|---|---|---|
| \`a\\|b\` | \`\`x\`y\`\` | \`z\` |
| \`value\` | blank | \`49.90\` |

https://tags.example/issues/iss_1
`)
})

test('issue Markdown works without evidence', () => {
  const text = markdownOf(issue, undefined, CONTEXT)
  expect(text).not.toContain('|---')
  expect(text).toContain('- Severity: Critical')
})
