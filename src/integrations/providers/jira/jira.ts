import { type Instant, MINUTE_MS, SECOND_MS } from '../../../core/clock.ts'
import { Closed, Type } from '../../../core/schema.ts'
import { provider } from '../provider.ts'
import { checkJira } from './check-connection.ts'
import { deliverTicket, isGone } from './deliver-ticket.ts'
import { authorizationOf, fetchOwnAccount, type JiraInbound, saveState, statusIn } from './jira-client.ts'
import { checkProject, JiraConfigSchema, type JiraSettings, prepareJira } from './jira-config.ts'
import type { JiraState, Ticket } from './jira-state.ts'
import { type LinkedTicket, remember, takeCall, takeStatus } from './receive-status.ts'
import { quoted, searchTickets } from './search-tickets.ts'
import { syncTicket } from './sync-ticket-status.ts'

/** A ticket for each issue in Jira, Cloud or Data Center; repeats and the end are comments, and statuses go both ways. */
export const jira = provider<JiraSettings, Ticket, Record<never, never>, JiraState>({
  type: 'issue_tracker',
  title: 'Jira',
  help: 'Makes a ticket for each issue; repeats and the end are comments, and statuses go both ways.',
  connect: { by: 'secret', fields: ['apiToken'] },
  configured: { schema: JiraConfigSchema, prepare: prepareJira },
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

/** Those that are not resolved first, the latest first. */
const MAX_TICKETS = 1000
const AT_ONCE = 100
/** Jira's search may be behind. */
const OVERLAP_MS = 15 * MINUTE_MS

/** Looks how the tickets stand that were touched since the last time. */
async function pollTickets(context: JiraInbound): Promise<void> {
  const beganAt = context.now()
  const linked = context.issues(MAX_TICKETS).filter(({ memory }) => memory.key !== null && !memory.isGone)
  if (linked.length === 0) return
  await fetchOwnAccount(context)
  const since = sinceOf(context.state?.polledAt ?? null, beganAt)
  for (let index = 0; index < linked.length; index += AT_ONCE) {
    await look(context, linked.slice(index, index + AT_ONCE), since)
  }
  await saveState(context, { polledAt: beganAt })
}

/** In minutes, counted back from now: a date in JQL is one of the account's time zone. Empty the first time. */
function sinceOf(polledAt: Instant | null, now: Instant): string {
  if (polledAt === null || polledAt > now) return ''
  return ` AND updated >= -${Math.ceil((now - polledAt + OVERLAP_MS) / MINUTE_MS)}m`
}

async function look(context: JiraInbound, linked: LinkedTicket[], since: string): Promise<void> {
  const keys = linked.map(({ memory }) => quoted(memory.key ?? '')).join(', ')
  try {
    for (const found of await searchTickets(context, `key in (${keys})${since}`)) {
      const one = linked.find(({ memory }) => memory.id === found.id || memory.key === found.key)
      const present = one && context.issueByTicket(one.ticketKey ?? found.key)
      if (present) await takeStatus(context, present, found, { changedAt: null, by: null })
    }
  } catch (error) {
    if (statusIn(error) !== 400) throw error
    await lookApart(context, linked, since, error)
  }
}

/** Jira refuses a question that names a ticket which is no more: it is found by halves. */
async function lookApart(context: JiraInbound, linked: LinkedTicket[], since: string, refusal: unknown): Promise<void> {
  const [first] = linked
  if (!first) return
  if (linked.length === 1) {
    if (!(await isGone(context, first.memory.key ?? ''))) throw refusal
    await remember(context, first, { isGone: true })
    return
  }
  const half = Math.ceil(linked.length / 2)
  await look(context, linked.slice(0, half), since)
  await look(context, linked.slice(half), since)
}
