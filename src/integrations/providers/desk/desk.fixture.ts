import { createHmac, timingSafeEqual } from 'node:crypto'
import { AppError } from '../../../core/error.ts'
import { Closed, parser, Text, Type } from '../../../core/schema.ts'
import { route } from '../../../http/route.ts'
import type { IssueStatus } from '../../../issues/issue.ts'
import type { Message } from '../../message/message.ts'
import { channel, integrationsOnly, type Secrets } from '../channel.ts'
import { connector } from '../connector.ts'
import type { AccessTokens, CallAnswer, CallRequest, IntegrationContext, IssueContext } from '../provider-context.ts'

interface Settings {
  url: string
  clientId: string
  clientSecret: string
  /** Key that signs webhook calls. */
  signingSecret: string
  pollSeconds?: number
}

/** Memory of an issue's ticket. Each step is saved before the next. */
interface Ticket {
  key: string
  watched: boolean
  tidied: boolean
}

type Desk = IntegrationContext<Settings, AccessTokens, { cursor: number }>

const ConfigSchema = Closed({
  url: Text(1, 2000),
  clientId: Text(1, 100),
  clientSecret: Text(1, 100),
  signingSecret: Text(8, 100),
  pollSeconds: Type.Optional(Type.Number()),
})
const parse = parser(ConfigSchema)

const client = ({ settings }: Desk) => ({ client_id: settings.clientId, client_secret: settings.clientSecret })

/** Makes a call as the signed-in user. Renews the token if necessary. */
async function ask(context: Desk, request: Omit<CallRequest, 'url' | 'body'> & { path: string; json?: object }) {
  const { path, json, headers, ...rest } = request
  const { url } = context.settings
  const token = await context.accessToken(() =>
    context.fetchTokens(`${url}/token`, {
      grant_type: 'refresh_token',
      refresh_token: context.tokens.refreshToken ?? '',
      ...client(context),
    }),
  )
  return context.callOk({
    ...rest,
    url: `${url}${path}`,
    headers: { ...headers, authorization: `Bearer ${token}`, 'x-region': context.operator.DESK_REGION ?? '' },
    ...(json ? { body: JSON.stringify(json) } : {}),
  })
}

const jsonOf = ({ body }: CallAnswer) => JSON.parse(body)

/**
 * Finds or creates the issue's ticket. It searches for the ticket's label first, so that a lost response does not cause
 * a duplicate.
 */
async function ticketOf(context: IssueContext<Settings, Ticket, AccessTokens>, message: Message): Promise<Ticket> {
  if (context.memory) return context.memory
  const label = `tagwarden-${message.issue?.id}`
  const [found] = jsonOf(await ask(context as Desk, { method: 'GET', path: `/tickets?label=${label}` }))
  const { key } =
    found ??
    jsonOf(await ask(context as Desk, { method: 'POST', path: '/tickets', json: { label, title: message.sentence } }))
  const ticket = { key, watched: false, tidied: false }
  await context.remember(ticket, key)
  return ticket
}

const show = (context: Desk, key: string, status: IssueStatus) =>
  ask(context, { method: 'PATCH', path: `/tickets/${key}`, json: { status } })

const PRODUCT = { type: 'issue_tracker', title: 'Desk', help: 'Creates tickets.' } as const
const secrets: Secrets<Settings> = { fields: ['clientSecret', 'signingSecret'], derived: () => [] }

/** The channel of a fictitious tracker. */
export const desk = channel<Settings, Ticket, AccessTokens, { cursor: number }>({
  ...PRODUCT,
  secrets,
  addresses: integrationsOnly(PRODUCT.type, PRODUCT.title),
  hasIntegrations: true,
  checkDetail(detail) {
    if (!/^[A-Z]+$/.test(detail)) throw new AppError('invalid', 'a project consists of capital letters')
  },
  deliveryOf: () => ({
    openings: 'separate',
    usesHistory: true,
    async deliver(context, message) {
      let ticket = await ticketOf(context, message)
      if (!ticket.watched) {
        await ask(context, { method: 'PUT', path: `/tickets/${ticket.key}/watchers`, json: ['us'] })
        ticket = { ...ticket, watched: true }
        await context.remember(ticket)
      }
      if (!ticket.tidied) {
        await ask(context, { method: 'DELETE', path: `/tickets/${ticket.key}/draft` })
        await context.remember({ ...ticket, tidied: true })
      }
      await show(context, ticket.key, message.issue?.status ?? 'open')
      return { verdict: 'delivered', note: null }
    },
    async syncStatus(context, { status }) {
      if (context.memory) await show(context, context.memory.key, status)
      return { verdict: 'delivered', note: null }
    },
    async test(context) {
      await ask(context, { method: 'GET', path: '/me' })
      return { verdict: 'delivered', note: null }
    },
  }),
})

/** The connector of a fictitious tracker. It uses every feature of the interface. */
export const deskConnector = connector<Settings, Ticket, AccessTokens, { cursor: number }>({
  ...PRODUCT,
  secrets,
  operator: [
    {
      name: 'DESK_REGION',
      default: 'north',
      meaning: 'Region of the desk',
      fault: (text) => (text === '' ? 'must not be empty' : null),
    },
  ],
  notifies: true,
  configuration: {
    schema: ConfigSchema,
    prepare(config, guard) {
      const settings = parse(config, 'config')
      guard.checkUrl(settings.url)
      return settings
    },
    perOrganization: 'one',
    exclusive: [],
    isComplete: () => true,
    origin: ({ url }) => new URL(url).origin,
  },
  connection: {
    by: 'oauth',
    authorizeUrl({ url, clientId }, { redirectUri, state, codeChallenge }) {
      const to = new URL(`${url}/authorize`)
      const query = { client_id: clientId, redirect_uri: redirectUri, state, code_challenge: codeChallenge }
      for (const [name, value] of Object.entries(query)) to.searchParams.set(name, value)
      return to
    },
    exchange: (context, { code, redirectUri, codeVerifier }) =>
      context.fetchTokens(`${context.settings.url}/token`, {
        grant_type: 'authorization_code',
        code,
        redirect_uri: redirectUri,
        code_verifier: codeVerifier,
        ...client(context as Desk),
      }),
  },
  inbound: [
    {
      by: 'call',
      callers: 'token',
      refusals: [],
      path: 'webhook',
      summary: 'Receive a ticket change',
      answer: Closed({ processed: Type.Boolean() }),
      async receive(context, { headers, raw, body }) {
        const expected = createHmac('sha256', context.settings.signingSecret).update(raw).digest()
        const given = Buffer.from(headers.get('x-desk-signature') ?? '', 'hex')
        if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
          throw new AppError('unauthorized', 'the signature is invalid')
        }
        const id = headers.get('x-desk-id') ?? ''
        const linked = context.issueByTicket(String(body.ticket))
        if (!linked || context.isRepeat(id)) return { processed: false }
        const processed = context.setStatus(linked.issueId, body.status as IssueStatus)
        context.noteCall(id)
        return { processed }
      },
    },
    {
      by: 'poll',
      everyMs: ({ pollSeconds }) => (typeof pollSeconds === 'number' ? pollSeconds * 1000 : null),
      async run(context) {
        const since = context.state?.cursor ?? 0
        const { changes, cursor } = jsonOf(await ask(context, { method: 'GET', path: `/changes?since=${since}` }))
        for (const { ticket, status } of changes) {
          const linked = context.issueByTicket(ticket)
          if (linked) context.setStatus(linked.issueId, status)
        }
        await context.saveState({ cursor })
      },
    },
  ],
  routes: (tools) => [
    route({
      id: 'readDeskBook',
      method: 'GET',
      path: '/v1/integrations/issue_tracker/{id}/book',
      access: 'read',
      tag: 'Integrations',
      summary: 'Read a long response',
      refusals: ['upstream'],
      params: Closed({ id: Text(1, 100) }),
      query: Closed({ maxBytes: Text(1, 20) }),
      answer: Closed({ characters: Type.Number() }),
      async handle({ principal: { orgId }, params: { id }, query, signal }) {
        const context = tools.open({ orgId, id }, signal)
        const { body } = await tools.runAttempt(context, () =>
          ask(context, { method: 'GET', path: '/book', maxAnswerBytes: Number(query.maxBytes) }),
        )
        return { characters: body.length }
      },
    }),
  ],
})
