import { messageOf } from '../../../../core/error.ts'
import { Closed, OneOf, parser, Text, type TSchema, Type } from '../../../../core/schema.ts'
import { type Received, receiver } from '../../../../transport/receiver.fixture.ts'
import type { Row } from '../../../delivery/outcome-table.fixture.ts'
import type { WebhookFormat } from '../format.ts'
import { discord } from './discord.ts'
import { googleChat } from './google-chat.ts'
import { mattermost } from './mattermost.ts'
import { ntfy } from './ntfy.ts'
import { opsgenie } from './opsgenie.ts'
import { pagerDuty } from './pagerduty.ts'
import { rocketChat } from './rocket-chat.ts'
import { telegram } from './telegram.ts'

/*
 * The products that the formats are written for, as described in their references (`reference` of each format): what
 * they accept and how they answer.
 */

export interface Product {
  format: WebhookFormat
  /** Path and query of the URL that an integration has. */
  path: string
  secret?: string
  /** Fails unless the product accepts the request. */
  check(request: Received): void
  accepted(): Response
  /** The product's own errors, with the expected outcomes. */
  rows: readonly Row[]
}

/** Checks the part of a request that all products require and returns its body. */
function bodyOf(request: Received, path: string, schema: TSchema): Record<string, unknown> {
  if (request.method !== 'POST' || request.path !== path) throw new Error(`${request.method} ${request.path}`)
  if (request.headers['content-type'] !== 'application/json') throw new Error('the content type is not JSON')
  const body = JSON.parse(request.body)
  parser(schema)(body)
  return body
}

function atMost(max: number, length: number): void {
  if (length > max) throw new Error(`${length} is more than ${max}`)
}

const refusal = (status: number, body: object, headers: Record<string, string> = {}) =>
  Response.json(body, { status, headers })

const ISSUE_URL = Type.String({ pattern: '^https://' })

const DISCORD_PATH = '/api/webhooks/1159013241337/planted-discord-keyA_b'
const DiscordBody = Closed({
  embeds: Type.Array(
    Closed({
      title: Text(1, 256),
      url: ISSUE_URL,
      description: Text(1, 4096),
      color: Type.Number({ minimum: 0, maximum: 0xffffff }),
    }),
    { minItems: 1, maxItems: 10 },
  ),
  allowed_mentions: Closed({ parse: Type.Array(Type.String(), { maxItems: 0 }) }),
})

const GOOGLE_PATH = '/v1/spaces/AAAA/messages?key=planted-google-key-1&token=planted-google-key-2'
const GoogleBody = Closed({
  fallbackText: Text(1, 4096),
  cardsV2: Type.Array(
    Closed({
      cardId: Text(1, 100),
      card: Closed({
        header: Closed({ title: Text(1, 200) }),
        sections: Type.Array(Closed({ widgets: Type.Array(Type.Unknown(), { minItems: 1, maxItems: 100 }) })),
      }),
    }),
    { minItems: 1 },
  ),
  thread: Type.Optional(Closed({ threadKey: Text(1, 4000) })),
})

const TELEGRAM_PATH = '/bot110201543:planted-telegram-key/sendMessage'
const TelegramBody = Closed({
  chat_id: Text(1, 100),
  message_thread_id: Text(1, 20),
  text: Text(1, 100_000),
  parse_mode: OneOf(['HTML']),
  link_preview_options: Closed({ is_disabled: Type.Literal(true) }),
})

const NTFY_TOKEN = 'tk_plantedntfytoken0123456789abc'
const NtfyBody = Closed({
  topic: Type.String({ pattern: '^[-_A-Za-z0-9]{1,64}$' }),
  title: Text(1, 250),
  message: Text(1, 4096),
  priority: Type.Number({ minimum: 1, maximum: 5, multipleOf: 1 }),
  tags: Type.Array(Text(1, 50)),
  click: ISSUE_URL,
})

const ROUTING_KEY = 'planted0pagerduty0key00123456789'
const PagerDutyEvent = {
  routing_key: Text(32, 32),
  dedup_key: Text(1, 255),
}
const PagerDutyTrigger = Closed({
  ...PagerDutyEvent,
  event_action: OneOf(['trigger']),
  payload: Closed({
    summary: Text(1, 1024),
    source: Text(1, 1024),
    severity: OneOf(['critical', 'error', 'warning', 'info']),
    timestamp: Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z$' }),
    component: Type.Optional(Text(1, 1024)),
    group: Type.Optional(Text(1, 1024)),
    class: Type.Optional(Text(1, 1024)),
    custom_details: Type.Record(Type.String(), Type.String()),
  }),
  client: Text(1, 100),
  client_url: ISSUE_URL,
  links: Type.Array(Closed({ href: ISSUE_URL, text: Text(1, 100) })),
})
const PagerDutyUpdate = Closed({ ...PagerDutyEvent, event_action: OneOf(['acknowledge', 'resolve']) })

const GENIE_KEY = 'planted0-faa2-4ba2-a551-1afdf565c889'
const OpsgenieAlert = Closed({
  message: Text(1, 130),
  alias: Text(1, 512),
  description: Text(1, 15_000),
  details: Type.Record(Type.String(), Type.String()),
  entity: Text(1, 512),
  tags: Type.Array(Text(1, 50), { maxItems: 20 }),
  source: Text(1, 100),
  priority: OneOf(['P1', 'P2', 'P3', 'P4', 'P5']),
})
const OpsgenieUpdate = Closed({ source: Text(1, 100), user: Text(1, 100) })
const OPSGENIE_UPDATE = /^\/v2\/alerts\/[\w-]{1,512}\/(acknowledge|close)\?identifierType=alias$/

export const PRODUCTS: readonly Product[] = [
  {
    format: discord,
    path: DISCORD_PATH,
    check(request) {
      const { embeds } = bodyOf(request, DISCORD_PATH.replace('/api/', '/api/v10/'), DiscordBody)
      atMost(
        6000,
        (embeds as { title: string; description: string }[]).flatMap((one) => one.title + one.description).join('')
          .length,
      )
    },
    accepted: () => new Response(null, { status: 204 }),
    rows: [
      {
        what: 'a deleted webhook',
        answer: () => refusal(404, { message: 'Unknown Webhook', code: 10015 }),
        verdict: 'broken',
        reason: 'HTTP 404: Unknown Webhook',
        status: 'disabled',
      },
      {
        what: 'another 404',
        answer: () => refusal(404, { message: 'Unknown Channel', code: 10003 }),
        verdict: 'broken',
        reason: 'HTTP 404: Unknown Channel',
      },
      {
        what: 'a rate limit with a delay in the body',
        answer: () => refusal(429, { message: 'You are being rate limited.', retry_after: 64.57, global: false }),
        verdict: 'retry',
        waitMs: 64_570,
        reason: 'You are being rate limited.',
      },
    ],
  },
  {
    format: googleChat,
    path: GOOGLE_PATH,
    check(request) {
      const thread = '&messageReplyOption=REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD'
      const isReply = request.path.endsWith(thread)
      const body = bodyOf(request, GOOGLE_PATH + (isReply ? thread : ''), GoogleBody)
      if (isReply !== 'thread' in body) throw new Error('the thread key is ignored without the reply option')
      atMost(32_000, Buffer.byteLength(request.body))
    },
    accepted: () => Response.json({ name: 'spaces/AAAA/messages/1', thread: { name: 'spaces/AAAA/threads/1' } }),
    rows: [
      {
        what: 'a deleted space',
        answer: () =>
          refusal(404, { error: { code: 404, message: 'Requested entity was not found.', status: 'NOT_FOUND' } }),
        verdict: 'broken',
        reason: 'HTTP 404: Requested entity was not found.',
        status: 'disabled',
      },
      {
        what: 'an exceeded quota',
        answer: () => refusal(429, { error: { code: 429, message: 'Quota exceeded', status: 'RESOURCE_EXHAUSTED' } }),
        verdict: 'retry',
        reason: 'HTTP 429: Quota exceeded',
      },
    ],
  },
  {
    format: telegram,
    path: `${TELEGRAM_PATH}?chat_id=-100123&message_thread_id=7`,
    check(request) {
      const { text, chat_id } = bodyOf(request, TELEGRAM_PATH, TelegramBody)
      if (chat_id !== '-100123') throw new Error('chat not found')
      atMost(4096, parsedHtml(String(text)).length)
    },
    accepted: () => Response.json({ ok: true, result: { message_id: 1 } }),
    rows: [
      {
        what: 'a removed bot',
        answer: () =>
          refusal(403, { ok: false, error_code: 403, description: 'Forbidden: bot was kicked from the group chat' }),
        verdict: 'broken',
        reason: 'HTTP 403: Forbidden: bot was kicked from the group chat',
        status: 'disabled',
      },
      {
        what: 'a wrong token',
        answer: () => refusal(401, { ok: false, error_code: 401, description: 'Unauthorized' }),
        verdict: 'broken',
        reason: 'HTTP 401: Unauthorized',
      },
      {
        what: 'an unknown chat',
        answer: () => refusal(400, { ok: false, error_code: 400, description: 'Bad Request: chat not found' }),
        verdict: 'broken',
        reason: 'HTTP 400: Bad Request: chat not found',
      },
      {
        what: 'a rate limit with a delay in the body',
        answer: () =>
          refusal(429, {
            ok: false,
            error_code: 429,
            description: 'Too Many Requests',
            parameters: { retry_after: 35 },
          }),
        verdict: 'retry',
        waitMs: 35_000,
      },
    ],
  },
  {
    format: ntfy,
    path: '/push/planted-ntfy-topic',
    secret: NTFY_TOKEN,
    check(request) {
      const { topic, message } = bodyOf(request, '/push/', NtfyBody)
      if (topic !== 'planted-ntfy-topic') throw new Error('topic invalid')
      if (request.headers.authorization !== `Bearer ${NTFY_TOKEN}`) throw new Error('unauthorized')
      atMost(4096, Buffer.byteLength(String(message)))
    },
    accepted: () => Response.json({ id: 'hwQ2YpKdmg', event: 'message', topic: 'tags', message: 'New issue' }),
    rows: [
      {
        what: 'a topic that requires another token',
        answer: () => refusal(403, { code: 40301, http: 403, error: 'forbidden' }),
        verdict: 'broken',
        reason: 'HTTP 403: forbidden',
      },
      {
        what: 'a rate limit',
        answer: () => refusal(429, { code: 42901, http: 429, error: 'limit reached: too many requests' }),
        verdict: 'retry',
        reason: 'HTTP 429: limit reached',
      },
    ],
  },
  {
    format: mattermost,
    path: '/hooks/plantedmattermostkey012345',
    check(request) {
      bodyOf(request, '/hooks/plantedmattermostkey012345', Closed({ text: Text(1, 16_383) }))
    },
    accepted: () => new Response('ok'),
    rows: [
      {
        what: 'a deleted webhook',
        answer: () =>
          refusal(400, { id: 'web.incoming_webhook.invalid.app_error', message: 'Invalid webhook.', status_code: 400 }),
        verdict: 'broken',
        reason: 'HTTP 400: Invalid webhook.',
        status: 'disabled',
      },
      {
        what: 'disabled webhooks',
        answer: () =>
          refusal(501, { id: 'web.incoming_webhook.disabled.app_error', message: 'Disabled.', status_code: 501 }),
        verdict: 'retry',
        reason: 'HTTP 501: Disabled.',
      },
    ],
  },
  {
    format: rocketChat,
    path: '/hooks/65f0c1/planted-rocket-key',
    check(request) {
      bodyOf(request, '/hooks/65f0c1/planted-rocket-key', Closed({ text: Text(1, 5000) }))
    },
    accepted: () => Response.json({ success: true }),
    rows: [
      {
        what: 'a deleted integration',
        answer: () => refusal(404, { success: false, error: 'Invalid integration id or token provided.' }),
        verdict: 'broken',
        reason: 'HTTP 404: Invalid integration id or token provided.',
        status: 'disabled',
      },
      {
        what: 'an error of a script, with the status 200',
        answer: () => refusal(200, { success: false, error: 'error-running-script' }),
        verdict: 'broken',
        reason: 'HTTP 200: error-running-script',
      },
    ],
  },
  {
    format: pagerDuty,
    path: '/v2/enqueue',
    secret: ROUTING_KEY,
    check(request) {
      const isTrigger = JSON.parse(request.body).event_action === 'trigger'
      const { routing_key } = bodyOf(request, '/v2/enqueue', isTrigger ? PagerDutyTrigger : PagerDutyUpdate)
      if (routing_key !== ROUTING_KEY) throw new Error('invalid routing key')
      atMost(512_000, Buffer.byteLength(request.body))
    },
    accepted: () => refusal(202, { status: 'success', message: 'Event processed', dedup_key: 'iss_1' }),
    rows: [
      {
        what: 'an invalid key',
        answer: () =>
          refusal(400, {
            status: 'invalid event',
            message: 'Event object is invalid',
            errors: ["Length of 'routing_key' is incorrect (should be 32 characters)"],
          }),
        verdict: 'broken',
        reason: "HTTP 400: Event object is invalid: Length of 'routing_key' is incorrect",
      },
    ],
  },
  {
    format: opsgenie,
    path: '/v2/alerts',
    secret: GENIE_KEY,
    check(request) {
      if (request.headers.authorization !== `GenieKey ${GENIE_KEY}`) throw new Error('Could not authenticate')
      if (OPSGENIE_UPDATE.test(request.path)) return void bodyOf(request, request.path, OpsgenieUpdate)
      const { details } = bodyOf(request, '/v2/alerts', OpsgenieAlert)
      atMost(8000, JSON.stringify(details).length)
    },
    accepted: () => refusal(202, { result: 'Request will be processed', took: 0.302, requestId: '43a29c5c' }),
    rows: [
      {
        what: 'a wrong key',
        answer: () => refusal(401, { message: 'Could not authenticate', took: 0.1, requestId: '43a29c5c' }),
        verdict: 'broken',
        reason: 'HTTP 401: Could not authenticate',
      },
      {
        what: 'a rate limit',
        answer: () => refusal(429, { message: 'You are making too many requests!', took: 0 }),
        verdict: 'retry',
        reason: 'HTTP 429: You are making too many requests!',
      },
    ],
  },
]

const ENTITIES: Record<string, string> = { '&lt;': '<', '&gt;': '>', '&amp;': '&', '&quot;': '"', '&#x27;': "'" }

/** Text of Telegram's HTML. Fails on markup that Telegram rejects. */
export function parsedHtml(html: string): string {
  const open: string[] = []
  const text = html.replaceAll(/<(\/?)(\w+)( href="[^"<>]*")?>|&[^;]*;|[<>&]/g, (part, close, tag) => {
    if (part.startsWith('&')) {
      if (!(part in ENTITIES)) throw new Error(`unknown entity ${part}`)
      return ENTITIES[part] ?? ''
    }
    if (!['a', 'b', 'pre'].includes(tag)) throw new Error(`can't parse entities: ${part}`)
    if (close === '/' && open.pop() !== tag) throw new Error(`can't parse entities: unexpected ${part}`)
    if (close === '') open.push(tag)
    return ''
  })
  if (open.length > 0) throw new Error(`can't parse entities: ${open[0]} is not closed`)
  return text
}

/** Settings and secrets of an integration that uses a product at `url`. */
export function settingsFor({ format, path, secret }: Product, url: string) {
  return { config: { url: url + path, format: format.name }, secrets: secret === undefined ? {} : { secret } }
}

/** Starts a product. It records the faults of requests that it rejects. */
export function startProduct({ check, accepted }: Product) {
  const faults: string[] = []
  const server = receiver((request) => {
    try {
      check(request)
      return accepted()
    } catch (error) {
      faults.push(messageOf(error))
      return refusal(400, { error: 'rejected' })
    }
  })
  return { ...server, faults }
}
