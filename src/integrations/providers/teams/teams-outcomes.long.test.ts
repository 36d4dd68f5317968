import type { Received } from '../../../transport/receiver.fixture.ts'
import { testKills } from '../../delivery/kill-table.fixture.ts'
import { testOutcomes } from '../../delivery/outcome-table.fixture.ts'
import { teamsChannel } from './teams.ts'
import { BOT, CHANNEL, ISSUER, TEAM, teamsServer } from './teams-server.fixture.ts'

type Server = Awaited<ReturnType<typeof teamsServer>>

const said =
  (status: number, code: string, message: string, headers = {}) =>
  () =>
    Response.json({ error: { code, message } }, { status, headers })

const stateAt = (serviceUrl: string) => ({
  appId: BOT.appId,
  teams: [{ id: TEAM, name: 'Web', tenantId: null, serviceUrl, conversationId: TEAM, channels: [] }],
  channel: { id: CHANNEL, name: 'Tag alerts', serviceUrl },
})

const bot = {
  channel: teamsChannel,
  integration: () => ({ config: { appId: BOT.appId }, secrets: { appPassword: BOT.appPassword } }),
  operator: (url: string) => ({ OFFICE_CHAT_LOGIN_URL: url, OFFICE_CHAT_ISSUER: ISSUER }),
}

testOutcomes('a Teams bot', {
  ...bot,
  state: (url: string) => stateAt(`${url}/amer/`),
  answers: ({ path }: Received) =>
    path.endsWith('/token') ? Response.json({ access_token: 'connector-t0ken', expires_in: 3599 }) : null,
  success: () => Response.json({ id: `${CHANNEL};messageid=1`, activityId: '1' }, { status: 201 }),
  expected(status) {
    if (status === 401) return { verdict: 'broken', reason: 'HTTP 401', status: 'reauth_required' }
    if (status === 404 || status === 410) return { verdict: 'broken', reason: 'choose another', status: 'incomplete' }
    return status === 412 ? { verdict: 'retry', reason: 'HTTP 412' } : null
  },
  rows: [
    {
      what: 'a bot that was removed from the team',
      answer: said(403, 'BotNotInConversationRoster', 'The bot is not part of the conversation roster.'),
      verdict: 'broken',
      reason: 'HTTP 403 BotNotInConversationRoster: the bot was removed from this team',
    },
    {
      what: 'an app blocked by an administrator',
      answer: said(403, 'BotDisabledByAdmin', 'The tenant admin disabled this bot'),
      verdict: 'broken',
      reason: 'a Teams administrator has blocked the app',
    },
    {
      what: 'a moderated channel',
      answer: said(403, 'ConversationBlockedByUser', 'User blocked the conversation with the bot.'),
      verdict: 'broken',
      reason: 'the channel has blocked the bot',
    },
    {
      what: 'an unregistered bot',
      answer: said(401, 'BotNotRegistered', 'No registration found for this bot.'),
      verdict: 'broken',
      reason: 'HTTP 401 BotNotRegistered',
      status: 'reauth_required',
    },
    {
      what: 'a deleted channel',
      answer: said(404, 'ConversationNotFound', 'Conversation not found.'),
      verdict: 'broken',
      reason: 'choose another one',
      status: 'incomplete',
    },
    {
      what: 'concurrent posts to one conversation',
      answer: said(412, 'PreconditionFailed', 'Precondition failed, please try again.'),
      verdict: 'retry',
      reason: 'HTTP 412 PreconditionFailed',
    },
    {
      what: 'an oversized message',
      answer: said(413, 'MessageSizeTooBig', 'Message size too large.'),
      verdict: 'broken',
      reason: 'HTTP 413',
    },
    {
      what: 'too many messages',
      answer: said(429, 'Throttled', 'Too many requests.', { 'retry-after': '17' }),
      verdict: 'retry',
      waitMs: 17_000,
    },
    {
      what: 'a body that Teams rejects',
      answer: said(400, 'BadSyntax', 'Bad format of conversation ID'),
      verdict: 'broken',
      reason: 'HTTP 400',
    },
    { what: 'a success response that cannot be parsed', answer: () => new Response('<html>'), verdict: 'delivered' },
  ],
})

const refusedLogin =
  (error: string, description: string, status = 400) =>
  () =>
    Response.json({ error, error_description: description }, { status })

testOutcomes('a Teams bot requesting its token', {
  ...bot,
  state: (url: string) => stateAt(`${url}/amer/`),
  answers: ({ path }: Received) => (path.endsWith('/token') ? null : Response.json({ id: 'x' }, { status: 201 })),
  // Each delivery makes one token request. The next delivery retries a failed request.
  success: () => Response.json({ access_token: 'connector-t0ken', expires_in: 3000 }),
  expected: (status) =>
    status > 200 && status < 300 ? { verdict: 'broken', reason: `HTTP ${status}, unexpected response` } : null,
  rows: [
    {
      what: 'a wrong secret',
      answer: refusedLogin('invalid_client', 'AADSTS7000215: Invalid client secret provided.', 401),
      verdict: 'broken',
      reason: 'invalid_client',
      status: 'reauth_required',
    },
    {
      what: 'an expired secret',
      answer: refusedLogin('invalid_client', 'AADSTS7000222: The provided client secret keys are expired.', 401),
      verdict: 'broken',
      reason: 'invalid_client',
      status: 'reauth_required',
    },
    {
      what: 'an app that is not in the tenant',
      answer: refusedLogin('unauthorized_client', 'AADSTS700016: Application was not found in the directory.'),
      verdict: 'broken',
      reason: 'unauthorized_client',
      status: 'reauth_required',
    },
    {
      what: 'an unknown tenant',
      answer: refusedLogin('invalid_request', 'AADSTS90002: Tenant not found.'),
      verdict: 'broken',
      reason: 'HTTP 400',
    },
    {
      what: 'an overloaded login service',
      answer: refusedLogin('temporarily_unavailable', 'AADSTS90033', 503),
      verdict: 'retry',
    },
  ],
})

testOutcomes('a Teams workflow', {
  channel: teamsChannel,
  target: (url) => `${url}/workflows/a/triggers/manual/paths/invoke?sp=%2Ftriggers&sig=x`,
  success: () => new Response(null, { status: 202 }),
  rows: [
    {
      what: 'an invalid signature',
      answer: said(
        401,
        'DirectApiAuthorizationRequired',
        'The request must be authenticated only by Shared Access scheme.',
      ),
      verdict: 'broken',
      reason: 'HTTP 401',
    },
    {
      what: 'a deleted workflow',
      answer: said(404, 'WorkflowNotFound', 'The workflow could not be found.'),
      verdict: 'broken',
      reason: 'HTTP 404',
    },
    {
      what: 'a body that the workflow trigger rejects',
      answer: said(400, 'TriggerInputSchemaMismatch', 'The input body does not match its schema.'),
      verdict: 'broken',
      reason: 'HTTP 400',
    },
    {
      what: 'too many runs',
      answer: said(429, 'WorkflowTriggerThrottled', 'Rate limit is exceeded.', { 'retry-after': '60' }),
      verdict: 'retry',
      waitMs: 60_000,
    },
    {
      what: 'a workflow that does not respond',
      answer: said(502, 'NoResponse', 'The server did not receive a response.'),
      verdict: 'retry',
    },
  ],
})

testKills<Server>('a Teams bot', {
  type: 'office_chat',
  server: teamsServer,
  integration: bot.integration,
  operator: (server) => server.operator,
  state: (server: Server) => stateAt(server.serviceUrl),
})

testKills<Server>('a Teams workflow', {
  type: 'office_chat',
  server: teamsServer,
  target: (server) => `${server.url}/workflows/a?sig=x`,
})
