import type { Clock, Instant } from '../../core/clock.ts'
import { AppError, messageOf } from '../../core/error.ts'
import { oneAtATime } from '../../core/one-at-a-time.ts'
import type { SecretBox } from '../../core/secret-box.ts'
import { openWebhookSecret } from '../../org/store.ts'
import type { Db } from '../../store/database.ts'
import { fetchTokens, goodToken } from './access-token.ts'
import { type Quota, withinQuota } from './call-quota.ts'
import type { DeliveryRecord } from '../delivery/delivery.ts'
import { type DeliveryHead, requireMessage } from '../delivery/grouping.ts'
import type { IntegrationStatus } from '../integration.ts'
import { type IssueChannel, keepMemory, memoryOf } from './issue-memory.ts'
import type { Message } from '../message/message.ts'
import { oneLine } from '../message/one-line.ts'
import type {
  AccessTokens,
  CallAnswer,
  CallRequest,
  DeliveryContext,
  GroupContext,
  GroupMember,
  IntegrationContext,
  IssueContext,
} from '../providers/context.ts'
import { type OrgFacts, type Provider, secretFieldsOf } from '../providers/provider.ts'
import { keepRecord, recordOf, recordsOf } from './records.ts'
import { type Attempted, CallFailed, type Outcome } from '../reply.ts'
import { type Kept, keepState, keepTokens, openIntegration } from '../store.ts'
import { parseTarget } from '../targets.ts'
import type { Outbound, Reply, Transport } from '../transport/transport.ts'

/** What contexts are made with. */
export interface ContextParts {
  db: Db
  box: SecretBox
  clock: Clock
  transport: Transport
  operator?: Readonly<Record<string, string>>
}

const DEFAULT_ANSWER_BYTES = 64 * 1024
const LARGEST_ANSWER_BYTES = 32 * 1024 * 1024
/** Of an answer, in characters: what is looked through for secrets, and what then is shown. */
const SCRUBBED_LENGTH = 8 * 1024
const SHOWN_LENGTH = 500

/** What is sent to, opened: an integration, or what an address stands for. */
interface Opened {
  orgId: string
  /** Null: an address. */
  integrationId: string | null
  settings: object
  status: IntegrationStatus
}

/** Carries out what a provider asks for, and keeps what it made out of everything that is said. */
export class OpenContext implements IntegrationContext {
  readonly orgId: string
  readonly integrationId: string | null
  readonly settings: object
  readonly status: IntegrationStatus
  readonly operator: Readonly<Record<string, string>>
  /** True when the last call had no answer in time. */
  hung = false
  /** True when something was asked of the other side. */
  asked = false
  /** The beginning of the last answer, longer than what is shown: a secret that is cut could not be found. */
  private said = ''
  /** While tokens are fetched, what the other side says is secret. */
  private renewing = 0

  constructor(
    protected readonly parts: ContextParts,
    private readonly provider: Provider,
    { orgId, integrationId, settings, status }: Opened,
    readonly signal: AbortSignal,
  ) {
    this.orgId = orgId
    this.integrationId = integrationId
    this.settings = settings
    this.status = status
    this.operator = parts.operator ?? {}
  }

  now(): Instant {
    return this.parts.clock.now()
  }

  async send(outbound: Outbound): Promise<Reply> {
    const reply = await this.parts.transport.send(outbound, this.signal)
    this.hung = reply.kind === 'error' && reply.hung === true
    this.asked = true
    this.said = this.renewing > 0 || reply.kind === 'error' ? '' : reply.body.slice(0, SCRUBBED_LENGTH)
    return reply
  }

  async call(request: CallRequest): Promise<CallAnswer> {
    const { headers = {}, body = '', maxAnswerBytes = DEFAULT_ANSWER_BYTES, ...rest } = request
    const most = Math.min(maxAnswerBytes, LARGEST_ANSWER_BYTES)
    const reply = await this.send({ kind: 'http', ...rest, headers, body, maxAnswerBytes: most })
    if (reply.kind === 'error') throw new CallFailed(reply)
    return reply
  }

  async ask(request: CallRequest): Promise<CallAnswer> {
    const answer = await this.call(request)
    if (answer.status < 200 || answer.status > 299) throw new CallFailed({ kind: 'status', ...answer })
    return answer
  }

  private kept(): Kept | null {
    const { db, box } = this.parts
    return this.integrationId === null ? null : openIntegration(db, box, { orgId: this.orgId, id: this.integrationId })
  }

  private requireId(): string {
    if (this.integrationId !== null) return this.integrationId
    throw new AppError('invalid', 'this needs an integration: an address has nothing to keep')
  }

  get tokens(): Record<string, unknown> {
    return this.kept()?.tokens ?? {}
  }

  async renew(work: () => Promise<object>): Promise<void> {
    const { db, box } = this.parts
    const id = this.requireId()
    await oneAtATime(db, `tokens ${id}`, async () => {
      const before = this.kept()
      this.renewing++
      try {
        const tokens = await work()
        if (before) keepTokens(db, box, before, tokens)
      } finally {
        this.renewing--
      }
    })
  }

  fetchTokens(url: string, form: Record<string, string>): Promise<AccessTokens> {
    return fetchTokens(this, url, form)
  }

  async accessToken(fetch: () => Promise<AccessTokens>): Promise<string> {
    const present = () => goodToken(this.tokens, this.now())
    if (present() === null)
      await this.renew(async () => (present() === null ? { ...this.tokens, ...(await fetch()) } : this.tokens))
    const token = present()
    if (token === null) throw new AppError('unavailable', 'the integration was configured anew meanwhile')
    return token
  }

  get state(): unknown {
    return this.kept()?.state ?? null
  }

  async keepState(state: unknown): Promise<void> {
    keepState(this.parts.db, this.requireId(), state)
  }

  withinQuota<R>(quota: Quota, call: () => Promise<R>, waits: (until: Instant | null) => void): Promise<R> {
    const { db, clock } = this.parts
    const { orgId, provider } = this
    return withinQuota({ db, clock, provider: provider.type, orgId }, quota, { call, waits, signal: this.signal })
  }

  record(key: string): unknown {
    return recordOf(this.parts.db, this.requireId(), key)
  }

  records(): { key: string; value: unknown }[] {
    return recordsOf(this.parts.db, this.requireId())
  }

  keepRecord(key: string, value: unknown): void {
    keepRecord(this.parts.db, this.requireId(), key, value)
  }

  /** How an attempt ended, in words without anything secret. */
  ended(outcome: Outcome): Attempted {
    const { said } = this.scrub({ said: this.said })
    return { outcome: this.scrub(outcome), hung: this.hung, answer: oneLine(said, SHOWN_LENGTH), asked: this.asked }
  }

  /** The same error for a log. */
  withoutSecrets(error: unknown): Error {
    const { message, stack } = this.scrub({
      message: messageOf(error),
      stack: (error instanceof Error && error.stack) || '',
    })
    return Object.assign(new Error(message), stack === '' ? {} : { stack })
  }

  /** The same texts without any secret of the integration: others repeat what they were sent. */
  private scrub<T extends object>(texts: T): T {
    const secrets = this.secrets().flatMap(spellings)
    const clean = (text: string) =>
      secrets.reduce((rest, secret) => rest.replaceAll(secret, '…'), text).replace(CREDENTIALS, '$1 …')
    const entries = Object.entries(texts).map(([key, value]) => [key, typeof value === 'string' ? clean(value) : value])
    return Object.fromEntries(entries) as T
  }

  private secrets(): string[] {
    const fields = secretFieldsOf(this.provider)
    const own = Object.entries(this.settings).filter(([name]) => fields.includes(name))
    let tokens: object = {}
    try {
      tokens = this.tokens
    } catch {
      // Deleted meanwhile: then there are none.
    }
    const derived = this.provider.derivedSecrets?.(this.settings) ?? []
    const whole = textsIn([own.map(([, value]) => value), derived, tokens])
    return [...whole, ...whole.flatMap(partsOfUrl)].sort((a, b) => b.length - a.length)
  }
}

/** As others may repeat it: as it is, inside JSON, and inside a URL. */
const spellings = (secret: string) => [
  ...new Set([secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]),
]

/** What stands in a header `Authorization`, whoever's it is. */
const CREDENTIALS = /\b(Basic|Bearer) [\w.~+/=-]{8,}/gi

/** Shorter texts are no secrets, and would tear words apart. */
const SHORTEST_SECRET = 8

/** What alone would do of a URL that is a secret: others repeat the path and the query that they were asked for. */
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

/** Shorter ones are words: `workflows`, `services`. */
const SHORTEST_PART = 16

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return value.length < SHORTEST_SECRET ? [] : [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

/** Fails with `invalid` when the integration was deleted, with `conflict` when its secrets were lost. */
export function openTarget(
  { db, box }: ContextParts,
  provider: Provider,
  { orgId, target }: { orgId: string; target: string },
): Opened {
  const { integrationId } = parseTarget(target)
  if (integrationId !== null && provider.configured) {
    const kept = openIntegration(db, box, { orgId, id: integrationId })
    if (kept?.provider !== provider.type) throw new AppError('invalid', 'the integration was deleted')
    return { orgId, integrationId, settings: kept.settings, status: kept.status }
  }
  if (!provider.addresses) throw new AppError('invalid', `${provider.type} needs an integration`)
  const settings = provider.addresses.settingsOf(target, orgFacts(db, box, orgId))
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
  }
}

/** What is done about one issue through one channel. */
export class OpenIssue extends OpenContext implements IssueContext {
  readonly detail: string | null

  constructor(
    parts: ContextParts,
    provider: Provider,
    private readonly about: { orgId: string; channel: IssueChannel | null; target: string },
    signal: AbortSignal,
  ) {
    super(parts, provider, openTarget(parts, provider, about), signal)
    this.detail = parseTarget(about.target).detail
  }

  get memory(): unknown {
    const { channel } = this.about
    return channel && (memoryOf(this.parts.db, channel)?.memory ?? null)
  }

  async remember(memory: unknown, ticketKey?: string): Promise<void> {
    const { channel } = this.about
    if (!channel) return
    const { integrationId } = this
    keepMemory(this.parts.db, channel, { memory, integrationId, ticketKey: ticketKey ?? null, now: this.now() })
  }
}

export class OpenDelivery extends OpenIssue implements DeliveryContext {
  readonly deliveryId: string
  readonly isReplay: boolean

  constructor(parts: ContextParts, provider: Provider, delivery: DeliveryRecord, signal: AbortSignal) {
    const { orgId, issueId, channelType, channelTarget: target } = delivery
    const channel = issueId === null ? null : { issueId, channelType, channelTarget: target }
    super(parts, provider, { orgId, channel, target }, signal)
    this.deliveryId = delivery.id
    this.isReplay = delivery.deliveredAt !== null
  }
}

/** What openings go with that are told in one message. */
export class OpenGroup extends OpenContext implements GroupContext {
  readonly detail: string | null
  readonly members: readonly GroupMember[]

  constructor(parts: ContextParts, provider: Provider, openings: readonly DeliveryHead[], signal: AbortSignal) {
    const [first] = openings
    if (!first) throw new Error('a group has members')
    const { orgId, channelTarget: target } = first
    const opened = openTarget(parts, provider, { orgId, target })
    super(parts, provider, opened, signal)
    this.detail = parseTarget(target).detail
    const { integrationId } = opened
    this.members = openings.map((opening) => new OpenMember(parts, opening, integrationId))
  }
}

/** Reads what it says when it is asked: there may be more members than memory has room for messages. */
class OpenMember implements GroupMember {
  readonly deliveryId: string
  readonly issueId: string
  readonly isReplay: boolean
  private readonly channel: IssueChannel

  constructor(
    private readonly parts: ContextParts,
    { id, issueId, channelType, channelTarget, deliveredAt }: DeliveryHead,
    private readonly integrationId: string | null,
  ) {
    if (issueId === null) throw new Error('an opening is about an issue')
    this.deliveryId = id
    this.issueId = issueId
    this.isReplay = deliveredAt !== null
    this.channel = { issueId, channelType, channelTarget }
  }

  get message(): Message {
    return requireMessage(this.parts.db, this.deliveryId)
  }

  get memory(): unknown {
    return memoryOf(this.parts.db, this.channel)?.memory ?? null
  }

  async remember(memory: unknown, ticketKey?: string): Promise<void> {
    const { parts, channel, integrationId } = this
    const now = parts.clock.now()
    keepMemory(parts.db, channel, { memory, integrationId, ticketKey: ticketKey ?? null, now })
  }
}
