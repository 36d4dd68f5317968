import { countAlertsWithImpact } from '../alerts/alert-store.ts'
import { Closed, Int } from '../core/schema.ts'
import { issueValueFields, issueValueOf } from '../issues/issue-value.ts'
import { insight } from './insight.ts'

const { topIssues, ...sums } = issueValueFields

const OrgValueSchema = Closed(
  { ...sums, valuedAlerts: Int({ description: 'Alerts with an `impactValue` above 0' }), topIssues },
  {
    $id: 'OrgValue',
    examples: [
      {
        openValue: 12_900,
        resolvedValue30d: 41_000,
        resolvedValueTotal: 180_500,
        valuedAlerts: 7,
        topIssues: [
          {
            id: 'iss_01ke7k3h20x6b4n8r1t9v5c7zd',
            title: 'Purchases have a value: Google Analytics 4 purchase events break the rule on shop.example',
            status: 'open',
            severity: 'high',
            impactValue: 12_000,
            occurrences: 42,
          },
        ],
      },
    ],
  },
)

/** The value at risk in open issues, and the value protected by resolved issues. */
export const orgValue = insight({
  id: 'getOrgValue',
  summary: 'Show the impact value of open and resolved issues',
  description:
    'The value of an issue is the `impactValue` of its alert, in any unit you choose. For missing orders, it is their measured ' +
    'value so far. A reopened issue counts as open; muted issues do not count.',
  path: '/org/value',
  isQuick: true,
  output: OrgValueSchema,
  answer: async ({ db }, _, { principal: { orgId }, now }) => ({
    ...issueValueOf(db, orgId, now),
    valuedAlerts: countAlertsWithImpact(db, orgId),
  }),
})
