import { CHANNEL_TITLES } from '../../../contract/products.ts'
import { type Instant, MINUTE_MS, SECOND_MS } from '../../../core/clock.ts'
import { Closed, Type } from '../../../core/schema.ts'
import { channel, integrationsOnly, type Secrets } from '../channel.ts'
import { connector } from '../connector.ts'
import { checkJira } from './check-connection.ts'
import { deliverTicket, isGone } from './deliver-ticket.ts'
import { authorizationOf, fetchOwnAccount, type JiraInbound, saveState, statusIn } from './jira-client.ts'
import { checkProject, JiraConfigSchema, type JiraSettings, prepareJira } from './jira-config.ts'
import type { JiraState, Ticket } from './jira-state.ts'
import { applyTicketStatus, type LinkedTicket, receiveCall, updateLinkedTicket } from './receive-status.ts'
import { quoted, searchTickets } from './search-tickets.ts'
import { syncTicket } from './sync-ticket-status.ts'

const secrets: Secrets<JiraSettings> = {
  fields: ['apiToken'],
  derived: (settings) => [authorizationOf(settings).replace('Basic ', '')],
}

const PRODUCT = {
  type: 'issue_tracker',
  title: CHANNEL_TITLES.issue_tracker,
  help: 'Creates a ticket for each issue, adds a comment when the issue repeats or is resolved, and synchronizes the status in both directions.',
} as const

/** Creates a ticket for each issue and adds later events as comments. */
export const jiraChannel = channel<JiraSettings, Ticket, Record<never, never>, JiraState>({
  ...PRODUCT,
  secrets,
  addresses: integrationsOnly(PRODUCT.type, PRODUCT.title),
  hasIntegrations: true,
  checkDetail: checkProject,
  deliveryOf: () => ({
    openings: 'separate',
    usesHistory: true,
    deliver: deliverTicket,
    syncStatus: syncTicket,
    test: checkJira,
  }),
})

/** Jira Cloud and Data Center. Synchronizes statuses in both directions. */
export const jiraConnector = connector<JiraSettings, Ticket, Record<never, never>, JiraState>({
  ...PRODUCT,
  secrets,
  operator: [],
  notifies: true,
  configuration: {
    schema: JiraConfigSchema,
    prepare: prepareJira,
    perOrganization: 'many',
    exclusive: [],
    isComplete: () => true,
    origin: () => null,
  },
  connection: { by: 'settings' },
  inbound: [
    {
      by: 'call',
      callers: 'token',
      path: 'webhook',
      summary: 'Receive a ticket change from Jira',
      answer: Closed(
        {
          processed: Type.Boolean({
            description:
              "False for a repeated call, for a change made by Tagwarden, and for a ticket that isn't linked to an issue",
          }),
        },
        { $id: 'TicketTaken', examples: [{ processed: true }] },
      ),
      refusals: [],
      receive: async (context, call) => ({ processed: await receiveCall(context, call) }),
    },
    {
      by: 'poll',
      everyMs: ({ pollSeconds }) => (typeof pollSeconds === 'number' ? pollSeconds * SECOND_MS : null),
      run: pollTickets,
    },
  ],
  routes: () => [],
})

/** Maximum number of tickets polled. Unresolved issues come first, then recent ones. */
const MAX_TICKETS = 1000
const BATCH_SIZE = 100
/** Overlap between polls, which compensates for the delay of Jira's search index. */
const OVERLAP_MS = 15 * MINUTE_MS

/** Applies the status of all tickets that were updated since the previous poll. */
async function pollTickets(context: JiraInbound): Promise<void> {
  const startedAt = context.now()
  const linked = context.issues(MAX_TICKETS).filter(({ memory }) => memory.key !== null && !memory.isGone)
  if (linked.length === 0) return
  await fetchOwnAccount(context)
  const since = sinceOf(context.state?.polledAt ?? null, startedAt)
  for (let index = 0; index < linked.length; index += BATCH_SIZE) {
    await pollBatch(context, linked.slice(index, index + BATCH_SIZE), since)
  }
  await saveState(context, { polledAt: startedAt })
}

/**
 * JQL clause that selects recent updates. Empty at the first poll. The time is relative because JQL dates use the
 * account's time zone.
 */
function sinceOf(polledAt: Instant | null, now: Instant): string {
  if (polledAt === null || polledAt > now) return ''
  return ` AND updated >= -${Math.ceil((now - polledAt + OVERLAP_MS) / MINUTE_MS)}m`
}

async function pollBatch(context: JiraInbound, linked: LinkedTicket[], since: string): Promise<void> {
  const keys = linked.map(({ memory }) => quoted(memory.key ?? '')).join(', ')
  try {
    for (const found of await searchTickets(context, `key in (${keys})${since}`)) {
      const one = linked.find(({ memory }) => memory.id === found.id || memory.key === found.key)
      const current = one && context.issueByTicket(one.ticketKey ?? found.key)
      if (current) await applyTicketStatus(context, current, found, { changedAt: null, by: null })
    }
  } catch (error) {
    if (statusIn(error) !== 400) throw error
    await pollHalves(context, linked, since, error)
  }
}

/**
 * Polls both halves of a batch separately. Jira rejects a query that names a deleted ticket, and splitting the batch
 * isolates that ticket.
 */
async function pollHalves(
  context: JiraInbound,
  linked: LinkedTicket[],
  since: string,
  refusal: unknown,
): Promise<void> {
  const [first] = linked
  if (!first) return
  if (linked.length === 1) {
    if (!(await isGone(context, first.memory.key ?? ''))) throw refusal
    await updateLinkedTicket(context, first, { isGone: true })
    return
  }
  const half = Math.ceil(linked.length / 2)
  await pollBatch(context, linked.slice(0, half), since)
  await pollBatch(context, linked.slice(half), since)
}
