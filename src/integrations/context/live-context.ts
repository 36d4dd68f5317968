import { unsealTarget } from '../../alerts/encrypt-channel-target.ts'
import type { Clock, Instant } from '../../core/clock.ts'
import { MINUTE_MS, SECOND_MS } from '../../core/clock.ts'
import { AppError, messageOf } from '../../core/error.ts'
import { runExclusive } from '../../core/keyed-mutex.ts'
import { jsonObject } from '../../core/parse-json-object.ts'
import type { SecretBox } from '../../core/secret-box.ts'
import { oneLine } from '../../core/text.ts'
import { openWebhookSecret } from '../../org/store.ts'
import type { Db } from '../../store/database.ts'
import type { Outbound, Reply, Transport } from '../../transport/transport.ts'
import { parseTarget } from '../channel-targets.ts'
import { type AttemptResult, CallFailed, type Outcome, Unusable } from '../delivery-outcome.ts'
import type { IntegrationStatus } from '../integration.ts'
import type { Channel, OrgFacts } from '../providers/channel.ts'
import type { Connector } from '../providers/connector.ts'
import type {
  AccessTokens,
  CallAnswer,
  CallRequest,
  IntegrationContext,
  IssueContext,
  Quota,
} from '../providers/provider-context.ts'
import {
  findRecord,
  type IntegrationKey,
  listRecords,
  openIntegration,
  saveRecord,
  saveState,
  saveTokens,
  type UnsealedIntegration,
} from '../store.ts'
import { withinQuota } from './call-quota.ts'
import { type IssueChannel, memoryOf, saveMemory } from './issue-memory.ts'
import { describeExchange, type Exchange, MAX_REQUESTS } from './sent-request.ts'

/** Dependencies of the contexts. */
export interface ContextDeps {
  db: Db
  box: SecretBox
  clock: Clock
  transport: Transport
  operator?: Readonly<Record<string, string>>
}

const DEFAULT_ANSWER_BYTES = 64 * 1024
const LARGEST_ANSWER_BYTES = 32 * 1024 * 1024
/** Number of response characters that are searched for secrets. `SHOWN_LENGTH` of them are shown. */
const SCRUBBED_LENGTH = 8 * 1024
const SHOWN_LENGTH = 500

/** The part of a channel or connector that a context needs. */
type Product = Pick<Connector, 'type' | 'secrets'> | Pick<Channel, 'type' | 'secrets'>

/** A resolved target: an integration, or the settings of a direct address. */
interface Opened {
  orgId: string
  /** Null for a direct address. */
  integrationId: string | null
  settings: object
  status: IntegrationStatus
}

/** Sends a provider's requests and removes secrets from everything that is logged or shown. */
export class LiveContext implements IntegrationContext {
  readonly orgId: string
  readonly integrationId: string | null
  readonly settings: object
  readonly status: IntegrationStatus
  readonly operator: Readonly<Record<string, string>>
  /** True if the last call timed out. */
  hung = false
  /** True if the other service was called. */
  asked = false
  /**
   * Beginning of the last response. It is longer than the shown part because a truncated secret would not be
   * recognised.
   */
  private response = ''
  /** The most recent requests, at most `MAX_REQUESTS`. */
  private readonly exchanges: Exchange[] = []
  /** Number of running token requests. Until they finish, responses are treated as secret. */
  private renewing = 0

  constructor(
    protected readonly deps: ContextDeps,
    private readonly product: Product,
    { orgId, integrationId, settings, status }: Opened,
    readonly signal: AbortSignal,
  ) {
    this.orgId = orgId
    this.integrationId = integrationId
    this.settings = settings
    this.status = status
    this.operator = deps.operator ?? {}
  }

  now(): Instant {
    return this.deps.clock.now()
  }

  async send(outbound: Outbound): Promise<Reply> {
    const begun = performance.now()
    const reply = await this.deps.transport.send(outbound, this.signal)
    this.hung = reply.kind === 'error' && reply.hung === true
    this.asked = true
    this.response = this.renewing > 0 || reply.kind === 'error' ? '' : reply.body.slice(0, SCRUBBED_LENGTH)
    this.note({ outbound, reply, durMs: Math.round(performance.now() - begun), isSecret: this.renewing > 0 })
    return reply
  }

  /** Remembers a request for the log. Responses can be large, so only their beginning is kept. */
  private note({ outbound, reply, ...rest }: Exchange): void {
    const start = reply.kind === 'error' ? reply : { ...reply, body: reply.body.slice(0, SCRUBBED_LENGTH) }
    this.exchanges.push({ outbound, reply: start, ...rest })
    if (this.exchanges.length > MAX_REQUESTS) this.exchanges.shift()
  }

  async call(request: CallRequest): Promise<CallAnswer> {
    const { headers = {}, body = '', maxAnswerBytes = DEFAULT_ANSWER_BYTES, ...rest } = request
    const most = Math.min(maxAnswerBytes, LARGEST_ANSWER_BYTES)
    const reply = await this.send({ kind: 'http', ...rest, headers, body, maxAnswerBytes: most })
    if (reply.kind === 'error') throw new CallFailed(reply)
    return reply
  }

  async callOk(request: CallRequest): Promise<CallAnswer> {
    const answer = await this.call(request)
    if (answer.status < 200 || answer.status > 299) throw new CallFailed({ kind: 'status', ...answer })
    return answer
  }

  private stored(): UnsealedIntegration | null {
    const { db, box } = this.deps
    return this.integrationId === null ? null : openIntegration(db, box, { orgId: this.orgId, id: this.integrationId })
  }

  private requireId(): string {
    if (this.integrationId !== null) return this.integrationId
    throw new AppError('invalid', 'a target without an integration cannot store state')
  }

  get tokens(): Record<string, unknown> {
    return this.stored()?.tokens ?? {}
  }

  async renew(work: () => Promise<object>): Promise<void> {
    const { db, box } = this.deps
    const id = this.requireId()
    await runExclusive(db, `tokens ${id}`, async () => {
      const before = this.stored()
      this.renewing++
      try {
        const tokens = await work()
        if (before) saveTokens(db, box, before, tokens)
      } finally {
        this.renewing--
      }
    })
  }

  fetchTokens(url: string, form: Record<string, string>): Promise<AccessTokens> {
    return fetchTokens(this, url, form)
  }

  async accessToken(fetch: () => Promise<AccessTokens>): Promise<string> {
    const present = () => validToken(this.tokens, this.now())
    if (present() === null)
      await this.renew(async () => (present() === null ? { ...this.tokens, ...(await fetch()) } : this.tokens))
    const token = present()
    if (token === null) throw new AppError('unavailable', 'the integration was reconfigured in the meantime')
    return token
  }

  get state(): unknown {
    return this.stored()?.state ?? null
  }

  async saveState(state: unknown): Promise<void> {
    saveState(this.deps.db, this.requireId(), state)
  }

  withinQuota<R>(quota: Quota, call: () => Promise<R>, waits: (until: Instant | null) => void): Promise<R> {
    const { db, clock } = this.deps
    const { orgId, product } = this
    return withinQuota({ db, clock, provider: product.type, orgId }, quota, { call, waits, signal: this.signal })
  }

  record(key: string): unknown {
    return findRecord(this.deps.db, this.requireId(), key)
  }

  records(): { key: string; value: unknown }[] {
    return listRecords(this.deps.db, this.requireId())
  }

  saveRecord(key: string, value: unknown): void {
    saveRecord(this.deps.db, this.requireId(), key, value)
  }

  /** Result of an attempt, with secrets removed. */
  ended(outcome: Outcome): AttemptResult {
    const { response } = this.scrub({ response: this.response })
    const secrets = this.secrets()
    // A direct address is itself a secret, whatever the product declares.
    const secretUrls = textsIn(this.integrationId === null ? [secrets, this.settings] : secrets)
    const origins = new Set(secretUrls.map((text) => URL.parse(text)?.origin))
    const redaction = { clean: scrubber(secrets), isSecretOrigin: (origin: string) => origins.has(origin) }
    return {
      outcome: this.scrub(outcome),
      hung: this.hung,
      answer: oneLine(response, SHOWN_LENGTH),
      called: this.asked,
      requests: this.exchanges.map((exchange) => describeExchange(exchange, redaction)),
    }
  }

  /** Copy of an error with secrets removed, for the log. */
  withoutSecrets(error: unknown): Error {
    const { message, stack } = this.scrub({
      message: messageOf(error),
      stack: (error instanceof Error && error.stack) || '',
    })
    return Object.assign(new Error(message), stack === '' ? {} : { stack })
  }

  private scrub<T extends object>(texts: T): T {
    const clean = scrubber(this.secrets())
    const entries = Object.entries(texts).map(([key, value]) => [key, typeof value === 'string' ? clean(value) : value])
    return Object.fromEntries(entries) as T
  }

  /** Values to redact. They may contain secrets at any depth. */
  private secrets(): unknown[] {
    const { fields, derived } = this.product.secrets
    const own = Object.entries(this.settings).filter(([name]) => (fields as readonly string[]).includes(name))
    let tokens: object = {}
    try {
      tokens = this.tokens
    } catch {
      // The integration was deleted, so it has no tokens.
    }
    return [own.map(([, value]) => value), derived(this.settings), tokens]
  }
}

/** Opens an integration. Fails with `invalid` if it was deleted and with `conflict` if its secrets were lost. */
export function openConnected({ db, box }: ContextDeps, { type }: Product, key: IntegrationKey): Opened {
  const kept = openIntegration(db, box, key)
  if (kept?.provider !== type) throw new AppError('invalid', 'the integration was deleted')
  return { orgId: key.orgId, integrationId: key.id, settings: kept.settings, status: kept.status }
}

/** Resolves the target of a channel to its settings. Fails as `openConnected` and `Addresses.settingsOf` do. */
export function openTarget(
  deps: ContextDeps,
  channel: Channel,
  { orgId, target }: { orgId: string; target: string },
): Opened {
  const { integrationId } = parseTarget(target)
  if (integrationId !== null && channel.hasIntegrations)
    return openConnected(deps, channel, { orgId, id: integrationId })
  const { db, box } = deps
  const settings = channel.addresses.settingsOf(unsealTarget(box, target), orgFacts(db, box, orgId))
  return { orgId, integrationId: null, settings, status: 'connected' }
}

function orgFacts(db: Db, box: SecretBox, orgId: string): OrgFacts {
  return {
    webhookSecret: () => openWebhookSecret(db, box, orgId),
    ownerAddresses: () =>
      db
        .prepare<[string], { email: string }>(
          `SELECT email FROM member JOIN user ON user.id = member.userId
           WHERE orgId = ? AND role = 'owner' AND inviteHash IS NULL ORDER BY member.createdAt, userId`,
        )
        .all(orgId)
        .map(({ email }) => email),
    memberAddress: (userId) =>
      db
        .prepare<[string, string], { email: string }>(
          `SELECT email FROM member JOIN user ON user.id = member.userId
           WHERE orgId = ? AND userId = ? AND inviteHash IS NULL`,
        )
        .get(orgId, userId)?.email ?? null,
  }
}

/** Context of one issue in one channel. */
export class LiveIssueContext extends LiveContext implements IssueContext {
  readonly detail: string | null

  constructor(
    deps: ContextDeps,
    channel: Channel,
    private readonly about: { orgId: string; channel: IssueChannel | null; target: string },
    signal: AbortSignal,
  ) {
    super(deps, channel, openTarget(deps, channel, about), signal)
    this.detail = parseTarget(about.target).detail
  }

  get memory(): unknown {
    const { channel } = this.about
    return channel && (memoryOf(this.deps.db, channel)?.memory ?? null)
  }

  async remember(memory: unknown, ticketKey?: string): Promise<void> {
    const { channel } = this.about
    if (!channel) return
    const { integrationId } = this
    saveMemory(this.deps.db, channel, { memory, integrationId, ticketKey: ticketKey ?? null, now: this.now() })
  }
}

/** Access token if it is valid for at least another minute, otherwise null. */
function validToken(tokens: Record<string, unknown>, now: Instant): string | null {
  const { accessToken, until = null } = tokens as Partial<AccessTokens>
  return accessToken !== undefined && (until === null || until - MINUTE_MS > now) ? accessToken : null
}

/** OAuth errors (RFC 6749, section 5.2) that require the user to sign in again. */
const SIGN_IN_AGAIN = ['invalid_grant', 'invalid_client', 'unauthorized_client']

/** Requests tokens from a token endpoint. Error messages include only the error code of the response. */
async function fetchTokens(
  context: Pick<IntegrationContext, 'call' | 'now'>,
  url: string,
  form: Record<string, string>,
): Promise<AccessTokens> {
  const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' }
  const answer = await context.call({ method: 'POST', url, headers, body: new URLSearchParams(form).toString() })
  const { access_token, refresh_token, expires_in, error } = jsonObject(answer.body) ?? {}
  if (typeof error === 'string' && SIGN_IN_AGAIN.includes(error)) {
    throw new Unusable('reauth_required', `the other service no longer accepts the credentials (${error})`)
  }
  if (answer.status !== 200 || typeof access_token !== 'string')
    throw new CallFailed({ kind: 'status', ...answer, body: '' })
  const lastsS = Number(expires_in)
  return {
    accessToken: access_token,
    until: lastsS > 0 ? context.now() + lastsS * SECOND_MS : null,
    ...(typeof refresh_token === 'string' ? { refreshToken: refresh_token } : {}),
  }
}

/**
 * Returns a function that replaces secrets in a string with `…`, because other services may echo what they were sent.
 * Secrets are strings of at least 8 characters in `values` at any depth, the sensitive parts of URLs in `values`, and
 * credentials in `Authorization` headers.
 */
function scrubber(values: unknown): (text: string) => string {
  const whole = textsIn(values)
  // Longest first, because one secret may begin with another.
  const secrets = [...whole, ...whole.flatMap(partsOfUrl)].sort((a, b) => b.length - a.length).flatMap(spellings)
  return (text) => secrets.reduce((rest, secret) => rest.replaceAll(secret, '…'), text).replace(CREDENTIALS, '$1 …')
}

/** Forms in which a secret can appear in a response: unchanged, JSON-escaped and URL-encoded. */
const spellings = (secret: string) => [
  ...new Set([secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]),
]

/** Credentials in any `Authorization` header. */
const CREDENTIALS = /\b(Basic|Bearer) [\w.~+/=-]{8,}/gi

/** Minimum length of a redacted secret. Shorter strings would match parts of words. */
const SHORTEST_SECRET = 8

/** Sensitive parts of a secret URL. They are redacted separately because other services echo paths and queries. */
function partsOfUrl(secret: string): string[] {
  const url = URL.parse(secret)
  if (!url || !/^https?:$/.test(url.protocol)) return []
  const parts = [
    ...url.pathname.split('/'),
    ...url.search
      .slice(1)
      .split('&')
      .map((pair) => pair.slice(pair.indexOf('=') + 1)),
  ]
  const long = parts.filter((part) => part.length >= SHORTEST_PART)
  return [...long, ...long.map(decoded)]
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** Minimum length of a redacted URL part. Shorter parts are ordinary words, such as `workflows` or `services`. */
const SHORTEST_PART = 16

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return value.length < SHORTEST_SECRET ? [] : [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}
