import { testClock } from '../../../../test/fixtures.ts'
import type { Received } from '../../../transport/receiver.fixture.ts'
import { testKills } from '../../delivery/kill-table.fixture.ts'
import { type Row, testOutcomes } from '../../delivery/outcome-table.fixture.ts'
import { jiraChannel } from './jira.ts'
import { API_TOKEN, EMAIL, jiraServer } from './jira-server.fixture.ts'

/* Outcomes of Jira deliveries for every status and failure, and for a crash at every step. */

const cloud = (url: string) => ({
  config: { url, email: EMAIL, project: 'OPS', issueType: 'Task' },
  secrets: { apiToken: API_TOKEN },
})
const dataCenter = (url: string) => ({
  config: { url, project: 'OPS', issueType: 'Task' },
  secrets: { apiToken: API_TOKEN },
})

/** Responds to all calls except ticket creation. Searches find nothing, and the created ticket exists. */
function others({ method, path }: Received): Response | null {
  if (method === 'POST' && path.endsWith('/issue')) return null
  if (path.includes('/search')) return Response.json({ issues: [], total: 0, isLast: true })
  return Response.json({ id: '10001', key: 'OPS-1', fields: { status: { statusCategory: { key: 'new' } } } })
}

const made = () => Response.json({ id: '10001', key: 'OPS-1' }, { status: 201 })
const refused = (status: number, ...errorMessages: string[]) => Response.json({ errorMessages, errors: {} }, { status })

const rows: Row[] = [
  {
    what: 'a required field',
    answer: () => Response.json({ errorMessages: [], errors: { customfield_1: 'Team is required.' } }, { status: 400 }),
    verdict: 'broken',
    reason: 'Team is required.',
  },
  {
    what: 'an inaccessible project',
    answer: () => refused(404, 'No project could be found with key OPS.'),
    verdict: 'broken',
    reason: 'No project could be found',
  },
  {
    what: 'an account without the Create Issues permission',
    answer: () => refused(403, 'You do not have permission to create issues in this project.'),
    verdict: 'broken',
    reason: 'You do not have permission',
  },
]

for (const [name, integration] of [
  ['Jira Cloud', cloud],
  ['Jira Data Center', dataCenter],
] as const) {
  testOutcomes(`a ${name} ticket`, {
    channel: jiraChannel,
    integration,
    answers: others,
    success: made,
    rows,
    // The ticket may exist, so Tagwarden searches for it before creating another.
    expected: (status) =>
      [204, 205].includes(status) ? { verdict: 'retry', reason: 'Jira returned no key for the new ticket' } : null,
  })
}

testKills('a tracker', {
  channel: jiraChannel,
  type: 'issue_tracker',
  server: () => jiraServer(testClock()),
  integration: ({ url }) => cloud(url),
  once: ({ tickets }) => tickets.map(({ fields }) => JSON.stringify(fields.labels)),
})
