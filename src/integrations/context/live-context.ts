import { unsealTarget } from '../../alerts/channel-target.ts'
import type { Clock, Instant } from '../../core/clock.ts'
import { MINUTE_MS, SECOND_MS } from '../../core/clock.ts'
import { AppError, messageOf } from '../../core/error.ts'
import { jsonObject } from '../../core/json.ts'
import { runExclusive } from '../../core/keyed-mutex.ts'
import type { SecretBox } from '../../core/secret-box.ts'
import { openWebhookSecret } from '../../org/store.ts'
import type { Db } from '../../store/database.ts'
import type { IntegrationStatus } from '../integration.ts'
import { oneLine } from '../message/one-line.ts'
import { type AttemptResult, CallFailed, type Outcome, Unusable } from '../outcome.ts'
import { type OrgFacts, type Provider, secretFieldsOf } from '../providers/provider.ts'
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
  listRecords,
  openIntegration,
  saveRecord,
  saveState,
  saveTokens,
  type UnsealedIntegration,
} from '../store.ts'

import { parseTarget } from '../targets.ts'
import type { Outbound, Reply, Transport } from '../transport/transport.ts'
import { withinQuota } from './call-quota.ts'
import { type IssueChannel, memoryOf, saveMemory } from './issue-memory.ts'

/** What contexts are made with. */
export interface ContextDeps {
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
export class LiveContext implements IntegrationContext {
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
    protected readonly deps: ContextDeps,
    private readonly provider: Provider,
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
    const reply = await this.deps.transport.send(outbound, this.signal)
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

  async callOk(request: CallRequest): Promise<CallAnswer> {
    const answer = await this.call(request)
    if (answer.status < 200 || answer.status > 299) throw new CallFailed({ kind: 'status', ...answer })
    return answer
  }

  private kept(): UnsealedIntegration | null {
    const { db, box } = this.deps
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
    const { db, box } = this.deps
    const id = this.requireId()
    await runExclusive(db, `tokens ${id}`, async () => {
      const before = this.kept()
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
    if (token === null) throw new AppError('unavailable', 'the integration was configured anew meanwhile')
    return token
  }

  get state(): unknown {
    return this.kept()?.state ?? null
  }

  async saveState(state: unknown): Promise<void> {
    saveState(this.deps.db, this.requireId(), state)
  }

  withinQuota<R>(quota: Quota, call: () => Promise<R>, waits: (until: Instant | null) => void): Promise<R> {
    const { db, clock } = this.deps
    const { orgId, provider } = this
    return withinQuota({ db, clock, provider: provider.type, orgId }, quota, { call, waits, signal: this.signal })
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

  /** How an attempt ended, in words without anything secret. */
  ended(outcome: Outcome): AttemptResult {
    const { said } = this.scrub({ said: this.said })
    return { outcome: this.scrub(outcome), hung: this.hung, answer: oneLine(said, SHOWN_LENGTH), called: this.asked }
  }

  /** The same error for a log. */
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

  /** Values that have secrets in them, however deep. */
  private secrets(): unknown[] {
    const fields = secretFieldsOf(this.provider)
    const own = Object.entries(this.settings).filter(([name]) => fields.includes(name))
    let tokens: object = {}
    try {
      tokens = this.tokens
    } catch {
      // Deleted meanwhile: then there are none.
    }
    const derived = this.provider.derivedSecrets?.(this.settings) ?? []
    return [own.map(([, value]) => value), derived, tokens]
  }
}

/** Fails with `invalid` when the integration was deleted, with `conflict` when its secrets were lost. */
export function openTarget(
  { db, box }: ContextDeps,
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
  const settings = provider.addresses.settingsOf(unsealTarget(box, target), orgFacts(db, box, orgId))
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
export class LiveIssueContext extends LiveContext implements IssueContext {
  readonly detail: string | null

  constructor(
    deps: ContextDeps,
    provider: Provider,
    private readonly about: { orgId: string; channel: IssueChannel | null; target: string },
    signal: AbortSignal,
  ) {
    super(deps, provider, openTarget(deps, provider, about), signal)
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

/** The access token, while it has a minute left; null when there is none. */
function validToken(tokens: Record<string, unknown>, now: Instant): string | null {
  const { accessToken, until = null } = tokens as Partial<AccessTokens>
  return accessToken !== undefined && (until === null || until - MINUTE_MS > now) ? accessToken : null
}

/** Of these errors (RFC 6749, section 5.2) only a person can make good. */
const SIGN_IN_AGAIN = ['invalid_grant', 'invalid_client', 'unauthorized_client']

/** What a token endpoint gives for a form. Nothing that it says is repeated, but for the code of an error. */
async function fetchTokens(
  context: Pick<IntegrationContext, 'call' | 'now'>,
  url: string,
  form: Record<string, string>,
): Promise<AccessTokens> {
  const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' }
  const answer = await context.call({ method: 'POST', url, headers, body: new URLSearchParams(form).toString() })
  const { access_token, refresh_token, expires_in, error } = jsonObject(answer.body) ?? {}
  if (typeof error === 'string' && SIGN_IN_AGAIN.includes(error)) {
    throw new Unusable('reauth_required', `the other side takes the sign-in no more (${error})`)
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
 * Returns a function that replaces secrets by `…` in a text: every text of at least 8 characters within `values`, however deep,
 * what alone would do of a URL among them, and whatever stands in a header `Authorization`. Others repeat what they were sent.
 */
function scrubber(values: unknown): (text: string) => string {
  const whole = textsIn(values)
  // The longest first: a secret may begin with another one.
  const secrets = [...whole, ...whole.flatMap(partsOfUrl)].sort((a, b) => b.length - a.length).flatMap(spellings)
  return (text) => secrets.reduce((rest, secret) => rest.replaceAll(secret, '…'), text).replace(CREDENTIALS, '$1 …')
}

/** As others may repeat a secret: as it is, inside JSON, and inside a URL. */
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
