import type { Clock } from '../../../core/clock.ts'
import { SECOND_MS } from '../../../core/clock.ts'
import { faultOfMessage } from './message-limits.fixture.ts'

export const BOT_TOKEN = 'xoxb-1-b0t-secret'
export const APP_TOKEN = 'xapp-1-4pp-secret'
export const WEBHOOK_PATH = '/services/T024BE7LD/B024BE7LH/w3bhook-s3cret-of-24-ch'
const RESPONSE_PATH = '/actions/T024BE7LD/1/r3sponse'
const TEAM_ID = 'T024BE7LD'
export const CHANNEL = 'C024BE91L'

interface SlackMessage {
  channel: string
  ts: string
  text: string
  blocks: { type: string; [field: string]: unknown }[]
  metadata: { event_type: string; event_payload: Record<string, string> } | null
  threadTs: string | null
  isBroadcast: boolean
  edits: number
}

/** A recorded method call. */
interface SlackCall {
  method: string
  token: string
  // biome-ignore lint/suspicious/noExplicitAny: tests access the fields they expect
  args: any
}

interface SlackChannel {
  isArchived?: boolean
  isPrivate?: boolean
  isMember?: boolean
}

const SCOPES = [
  'chat:write',
  'chat:write.public',
  'channels:history',
  'groups:history',
  'users:read',
  'users:read.email',
]

/**
 * A fake Slack with the Web API (including scopes, limits and error codes), incoming webhooks and Socket Mode. It
 * records all posts and stops when disposed.
 */
export function slackServer(clock: Clock) {
  const calls: SlackCall[] = []
  const messages: SlackMessage[] = []
  const ephemerals: { channel: string; user: string; text: string }[] = []
  /** Bodies posted to the `response_url` of a button press. */
  const responses: object[] = []
  const webhooks: { path: string; body: Record<string, unknown> }[] = []
  const channels = new Map<string, SlackChannel>([
    [CHANNEL, { isMember: true }],
    ['C0OTHER', { isMember: true }],
  ])
  const users = new Map<string, Record<string, unknown>>()
  const postedAt = new Map<string, number>()
  const sockets = new Set<Bun.ServerWebSocket<undefined>>()
  const acknowledged: string[] = []
  const behaviour = {
    scopes: [...SCOPES],
    /** The first message on each connection. */
    greeting: { type: 'hello' } as object,
    /** If true, messages are limited to one per second. */
    isPaced: true,
    /** Replaces the response to a method call. Null: the normal response is sent. */
    instead: (_method: string, _args: SlackCall['args']): Response | Promise<Response> | null => null,
  }
  let counter = 0
  const refused = (error: string, more: object = {}) => Response.json({ ok: false, error, ...more })
  const nextTs = () => `${Math.floor(clock.now() / SECOND_MS)}.${String(++counter).padStart(6, '0')}`

  const requires = (...scopes: string[]) => {
    const needed = scopes.find((scope) => !behaviour.scopes.includes(scope))
    return needed ? refused('missing_scope', { needed, provided: behaviour.scopes.join(',') }) : null
  }

  function faultOfChannel(id: string, mayBeOutside: boolean): Response | null {
    const channel = channels.get(id)
    if (!channel || (channel.isPrivate && !channel.isMember)) return refused('channel_not_found')
    if (channel.isArchived) return refused('is_archived')
    const isOutside = !channel.isMember && !(mayBeOutside && behaviour.scopes.includes('chat:write.public'))
    return isOutside ? refused('not_in_channel') : null
  }

  function tooFast(channel: string): Response | null {
    const last = postedAt.get(channel)
    if (!behaviour.isPaced || last === undefined || clock.now() - last >= SECOND_MS) return null
    return Response.json({ ok: false, error: 'ratelimited' }, { status: 429, headers: { 'retry-after': '1' } })
  }

  function postMessage(args: SlackCall['args']): Response {
    const { channel, text = '', blocks = [], metadata = null, thread_ts: threadTs = null, reply_broadcast } = args
    const fault = requires('chat:write') ?? faultOfChannel(channel, true) ?? tooFast(channel)
    if (fault) return fault
    const limit = faultOfMessage({ text, blocks, metadata })
    if (limit) return refused(limit)
    if (threadTs !== null && !messages.some(({ ts }) => ts === threadTs)) return refused('thread_not_found')
    postedAt.set(channel, clock.now())
    const isBroadcast = reply_broadcast === true
    const message = { channel, ts: nextTs(), text, blocks, metadata, threadTs, isBroadcast, edits: 0 }
    messages.push(message)
    return Response.json({ ok: true, channel, ts: message.ts, message: { type: 'message', text, team: TEAM_ID } })
  }

  function update({ channel, ts, text = '', blocks = [] }: SlackCall['args']): Response {
    const fault = requires('chat:write') ?? faultOfChannel(channel, true)
    if (fault) return fault
    const message = messages.find((one) => one.ts === ts && one.channel === channel)
    if (!message) return refused('message_not_found')
    const limit = faultOfMessage({ text, blocks, metadata: message.metadata })
    if (limit) return refused(limit)
    Object.assign(message, { text, blocks, edits: message.edits + 1 })
    return Response.json({ ok: true, channel, ts, text })
  }

  function read(args: SlackCall['args'], isThread: boolean): Response {
    const { channel, oldest = '0', limit = '100', ts: parent, cursor = '0', include_all_metadata: whole } = args
    const scope = channels.get(channel)?.isPrivate ? 'groups:history' : 'channels:history'
    const fault = requires(scope) ?? faultOfChannel(channel, false)
    if (fault) return fault
    if (isThread && !messages.some(({ ts }) => ts === parent)) return refused('thread_not_found')
    const all = messages
      .filter((one) => one.channel === channel && Number(one.ts) >= Number(oldest))
      .filter(({ ts, threadTs, isBroadcast }) =>
        isThread ? ts === parent || threadTs === parent : threadTs === null || isBroadcast,
      )
      .reverse()
    const from = Number(cursor)
    const shown = all.slice(from, from + Number(limit))
    const next = from + shown.length < all.length ? String(from + shown.length) : ''
    const listed = shown.map(({ ts, text, metadata }) => ({ ts, text, ...(whole === 'true' ? { metadata } : {}) }))
    return Response.json({ ok: true, messages: listed, response_metadata: { next_cursor: next } })
  }

  function ephemeral({ channel, user, text }: SlackCall['args']): Response {
    const fault = requires('chat:write') ?? faultOfChannel(channel, false)
    if (fault) return fault
    ephemerals.push({ channel, user, text })
    return Response.json({ ok: true, message_ts: nextTs() })
  }

  function userInfo({ user }: SlackCall['args']): Response {
    const fault = requires('users:read')
    if (fault) return fault
    const known = users.get(user)
    if (!known) return refused('user_not_found')
    const { profile, ...rest } = known as { profile?: { email?: string } }
    const email = behaviour.scopes.includes('users:read.email') ? profile?.email : undefined
    return Response.json({ ok: true, user: { id: user, team_id: TEAM_ID, ...rest, profile: email ? { email } : {} } })
  }

  function answer(method: string, token: string, args: SlackCall['args']): Response {
    if (token === '') return refused('not_authed')
    const isOpening = method === 'apps.connections.open'
    if (token !== (isOpening ? APP_TOKEN : BOT_TOKEN)) return refused('invalid_auth')
    switch (method) {
      case 'apps.connections.open':
        return Response.json({ ok: true, url: `${server.url.href.replace('http', 'ws')}link?ticket=t1cket` })
      case 'chat.postMessage':
        return postMessage(args)
      case 'chat.update':
        return update(args)
      case 'chat.postEphemeral':
        return ephemeral(args)
      case 'conversations.history':
        return read(args, false)
      case 'conversations.replies':
        return read(args, true)
      case 'users.info':
        return userInfo(args)
      default:
        return refused('unknown_method')
    }
  }

  async function webhook(path: string, body: Record<string, unknown>): Promise<Response> {
    const other = await behaviour.instead('webhook', body)
    if (other) return other
    if (path !== WEBHOOK_PATH) return new Response('no_service', { status: 404 })
    if (typeof body.text !== 'string' && !body.blocks) return new Response('no_text', { status: 400 })
    const limit = faultOfMessage({ text: String(body.text), blocks: (body.blocks as []) ?? [], metadata: null })
    if (limit) return new Response('invalid_blocks', { status: 400 })
    webhooks.push({ path, body })
    return new Response('ok')
  }

  const server: Bun.Server<undefined> = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request: Request): Promise<Response | undefined> {
      const { pathname } = new URL(request.url)
      if (pathname === '/link') return server.upgrade(request) ? undefined : new Response('', { status: 400 })
      const raw = await request.text()
      const isJson = (request.headers.get('content-type') ?? '').startsWith('application/json')
      const args = isJson ? JSON.parse(raw || '{}') : Object.fromEntries(new URLSearchParams(raw))
      if (pathname === RESPONSE_PATH) {
        responses.push(args)
        return new Response('ok')
      }
      if (!pathname.startsWith('/api/')) return webhook(pathname, args)
      const method = pathname.slice('/api/'.length)
      const token = request.headers.get('authorization')?.replace(/^Bearer /, '') ?? ''
      calls.push({ method, token, args })
      return (await behaviour.instead(method, args)) ?? answer(method, token, args)
    },
    websocket: {
      open(socket) {
        sockets.add(socket)
        socket.send(JSON.stringify({ ...behaviour.greeting, num_connections: sockets.size }))
      },
      message(_socket, text) {
        acknowledged.push(JSON.parse(String(text)).envelope_id)
      },
      close(socket) {
        sockets.delete(socket)
      },
    },
  })

  const say = (envelope: object) => {
    for (const socket of sockets) socket.send(JSON.stringify(envelope))
  }
  const url = server.url.href.replace(/\/$/, '')
  return {
    calls,
    messages,
    ephemerals,
    responses,
    webhooks,
    channels,
    users,
    sockets,
    acknowledged,
    behaviour,
    say,
    server,
    url,
    apiUrl: `${url}/api`,
    webhookUrl: `${url}${WEBHOOK_PATH}`,
    responseUrl: `${url}${RESPONSE_PATH}`,
    asked: () => calls.map(({ method }) => method),
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}

export type SlackServer = ReturnType<typeof slackServer>
