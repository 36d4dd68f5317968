import { SECOND_MS } from '../../../core/clock.ts'
import { Closed, Type } from '../../../core/schema.ts'
import { provider } from '../provider.ts'
import { checkJira } from './check.ts'
import { takeCall } from './inbound.ts'
import { authorizationOf } from './jira.ts'
import type { JiraState, Ticket } from './memory.ts'
import { pollTickets } from './poll.ts'
import { checkProject, JiraConfigSchema, type JiraSettings, prepareJira } from './settings.ts'
import { syncTicket } from './status.ts'
import { deliverTicket } from './ticket.ts'

/** A ticket for each issue in Jira, Cloud or Data Center; repeats and the end are comments, and statuses go both ways. */
export const issueTracker = provider<JiraSettings, Ticket, Record<never, never>, JiraState>({
  type: 'issue_tracker',
  title: 'Jira',
  help: 'Makes a ticket for each issue; repeats and the end are comments, and statuses go both ways.',
  connect: { by: 'secret', fields: ['apiToken'] },
  configured: { form: JiraConfigSchema, prepare: prepareJira },
  derivedSecrets: (settings) => [authorizationOf(settings).replace('Basic ', '')],
  checkDetail: checkProject,
  deliver: deliverTicket,
  syncStatus: syncTicket,
  test: checkJira,
  receiver: {
    path: 'webhook',
    summary: 'Take in what happened to a ticket',
    answer: Closed(
      { processed: Type.Boolean({ description: 'False for a repeat, our own act, and a ticket that is not ours' }) },
      { $id: 'TicketTaken', examples: [{ processed: true }] },
    ),
    receive: async (context, call) => ({ processed: await takeCall(context, call) }),
  },
  poll: {
    everyMs: ({ pollSeconds }) => (typeof pollSeconds === 'number' ? pollSeconds * SECOND_MS : null),
    run: pollTickets,
  },
})
