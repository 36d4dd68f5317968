import { CompactSign, type CryptoKey, exportJWK, generateKeyPair, type JWK } from 'jose'
import { type Received, receiver } from '../../../transport/receiver.fixture.ts'

export const BOT = { appId: 'abcdef12-2222-4333-8444-555555555555', appPassword: 'b0t~client-secret' }
export const TENANT = '99999999-8888-4777-8666-555555555555'
export const ISSUER = 'https://api.botframework.example'
export const TEAM = '19:general@thread.tacv2'
export const CHANNEL = '19:alerts@thread.tacv2'

const MAX_BYTES = 28_672

interface Pair {
  privateKey: CryptoKey
  jwk: JWK
}

async function pair(kid: string): Promise<Pair> {
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true })
  return { privateKey, jwk: { ...(await exportJWK(publicKey)), kid, use: 'sig' } }
}

/** Shared by all tests because key generation is slow. */
const pairs = Promise.all(['teams-key', 'webchat-key', 'bare-key', 'strange-key'].map(pair))

type KeyName = 'teams-key' | 'webchat-key' | 'bare-key' | 'strange-key'

interface Posted {
  id: string
  conversationId: string
  channelId: string
  /** All versions of the content, with the most recent last. */
  contents: Record<string, unknown>[]
}

/**
 * A fake Microsoft cloud. It has a login, OpenID configuration, keys, the Bot Connector for one team with two channels,
 * and a workflow. The key `strange-key` is not listed. The server stops when disposed.
 */
export async function teamsServer() {
  const keys = Object.fromEntries((await pairs).map((one) => [String(one.jwk.kid), one])) as Record<KeyName, Pair>
  const endorsed = (name: KeyName, endorsements?: string[]) => ({
    ...keys[name].jwk,
    ...(endorsements ? { endorsements } : {}),
  })
  const cloud = {
    keys: [
      endorsed('teams-key', ['msteams', 'skype']),
      endorsed('webchat-key', ['webchat']),
      endorsed('bare-key'),
    ] as object[],
    secret: BOT.appPassword,
    tokens: [] as string[],
    /** Conversations in a channel. Each was started by a post. */
    posts: [] as Posted[],
    channels: [TEAM, CHANNEL],
    hasBot: true,
    /** Replaces a response. Null: the normal response is sent. */
    instead: (_request: Received): Response | Promise<Response> | null => null,
  }
  let made = 0
  const refusal = (status: number, code: string, message: string, headers = {}) =>
    Response.json({ error: { code, message } }, { status, headers })

  function login(tenant: string, form: URLSearchParams): Response {
    const no = (status: number, error: string, error_description: string) =>
      Response.json({ error, error_description, error_codes: [], trace_id: 'x' }, { status })
    if (tenant !== TENANT && tenant !== 'botframework.com')
      return no(400, 'invalid_request', `AADSTS90002: Tenant '${tenant}' not found.`)
    if (form.get('client_id') !== BOT.appId)
      return no(400, 'unauthorized_client', `AADSTS700016: Application '${form.get('client_id')}' was not found.`)
    if (form.get('client_secret') !== cloud.secret)
      return no(401, 'invalid_client', `AADSTS7000215: Invalid client secret provided: ${form.get('client_secret')}`)
    if (form.get('scope') !== `${ISSUER}/.default` || form.get('grant_type') !== 'client_credentials')
      return no(400, 'invalid_scope', 'AADSTS70011: The provided value for scope is not valid.')
    cloud.tokens.push(`connector-t0ken-${cloud.tokens.length}`)
    return Response.json({ token_type: 'Bearer', expires_in: 3599, access_token: cloud.tokens.at(-1) })
  }

  function connector(request: Received, path: string[]): Response {
    if (request.headers.authorization !== `Bearer ${cloud.tokens.at(-1)}`)
      return Response.json({ message: 'Authorization has been denied for this request.' }, { status: 401 })
    if (Buffer.byteLength(request.body) > MAX_BYTES) return refusal(413, 'MessageSizeTooBig', 'Message size too large.')
    if (!cloud.hasBot)
      return refusal(403, 'BotNotInConversationRoster', 'The bot is not part of the conversation roster.')
    const body = JSON.parse(request.body)
    const [conversationId, , activityId] = path
    if (conversationId === undefined) {
      const channelId = body.channelData?.channel?.id
      if (body.isGroup !== true) return refusal(400, 'BadSyntax', 'Incorrect conversation creation parameters')
      if (!cloud.channels.includes(channelId)) return refusal(404, 'ConversationNotFound', 'Conversation not found.')
      const id = String(1_767_000_000_000 + ++made)
      cloud.posts.push({ id, conversationId: `${channelId};messageid=${id}`, channelId, contents: [body.activity] })
      return Response.json({ id: cloud.posts.at(-1)?.conversationId, activityId: id }, { status: 201 })
    }
    const first = cloud.posts.find((post) => post.conversationId === conversationId)
    if (!first || !cloud.channels.includes(first.channelId))
      return refusal(404, 'ConversationNotFound', 'Conversation not found.')
    if (activityId === undefined) {
      const id = String(1_767_000_000_000 + ++made)
      cloud.posts.push({ ...first, id, conversationId: `${conversationId}`, contents: [body] })
      return Response.json({ id }, { status: 201 })
    }
    const post = cloud.posts.find((one) => one.id === activityId)
    if (!post) return refusal(404, 'ActivityNotFoundInConversation', 'The activity id provided could not be found.')
    post.contents.push(body)
    return Response.json({ id: activityId })
  }

  async function answer(request: Received): Promise<Response> {
    const other = await cloud.instead(request)
    if (other) return other
    const { pathname } = new URL(request.path, 'http://cloud')
    const [first = '', ...rest] = pathname.slice(1).split('/').map(decodeURIComponent)
    if (first === 'openid') return Response.json({ issuer: ISSUER, jwks_uri: `${server.url}/keys` })
    if (first === 'keys') return Response.json({ keys: cloud.keys })
    if (first === 'workflows') return new Response(null, { status: 202 })
    if (rest.join('/') === 'oauth2/v2.0/token') return login(first, new URLSearchParams(request.body))
    if (first === 'amer' && rest[0] === 'v3' && rest[1] === 'conversations') return connector(request, rest.slice(2))
    return new Response('nothing here', { status: 404 })
  }

  const server = receiver(answer)
  const operator = {
    OFFICE_CHAT_LOGIN_URL: server.url,
    OFFICE_CHAT_OPENID_URL: `${server.url}/openid`,
    OFFICE_CHAT_ISSUER: ISSUER,
  }
  const serviceUrl = `${server.url}/amer/`

  /** Signs the given bytes with any header. */
  async function sign(payload: string, header: Record<string, unknown> = {}, key: KeyName = 'teams-key') {
    const whole = { alg: 'RS256', typ: 'JWT', kid: key, ...header }
    const signer = new CompactSign(new TextEncoder().encode(payload)).setProtectedHeader(whole)
    return signer.sign(keys[key].privateKey)
  }

  /** Claims of a genuine Bot Connector token. */
  const claims = (now: number, more: object = {}) => ({
    serviceurl: serviceUrl,
    nbf: Math.floor(now / 1000),
    exp: Math.floor(now / 1000) + 3600,
    iss: ISSUER,
    aud: BOT.appId,
    ...more,
  })

  /** The activity sent when the bot is added to the team. */
  const added = (more: object = {}) => ({
    type: 'conversationUpdate',
    channelId: 'msteams',
    serviceUrl,
    id: 'f:5f85c2ad',
    recipient: { id: `28:${BOT.appId}`, name: 'Tagwarden' },
    membersAdded: [{ id: `28:${BOT.appId}` }],
    conversation: { isGroup: true, conversationType: 'channel', id: TEAM, tenantId: TENANT },
    channelData: { eventType: 'teamMemberAdded', team: { id: TEAM, name: 'Web' }, tenant: { id: TENANT } },
    ...more,
  })
  const asked = (from = 0) =>
    server.requests.slice(from).map(({ method, path }) => `${method} ${decodeURIComponent(path.split('?')[0] ?? '')}`)
  return { ...server, cloud, keys, operator, serviceUrl, sign, claims, added, asked }
}
