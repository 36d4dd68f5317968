import { sign } from 'node:crypto'
import { HOUR_MS, type Instant, MINUTE_MS, SECOND_MS, waitUntil } from '../../../core/clock.ts'
import { AppError } from '../../../core/error.ts'
import { oneLine } from '../../message/one-line.ts'
import { CallFailed, retryAfterMs } from '../../outcome.ts'
import type { AccessTokens, CallAnswer, CallRequest, IntegrationContext } from '../provider-context.ts'
import type { Progress } from './progress.ts'
import { apiUrl, quotaOf, type ServiceAccount, type Settings, tokenUrl } from './tag-manager-config.ts'
import type { Entity } from './tag-manager-entities.ts'

/** A call that the other side refused for good, with its reason. */
export class Refused extends AppError {
  constructor(
    readonly status: number,
    /** Google's word for it: `insufficientPermissions`; empty: there is none. */
    readonly reason: string,
    message: string,
  ) {
    super(
      'upstream',
      `Tag Manager: ${reason === '' ? `HTTP ${status}` : reason}${message === '' ? '' : `: ${message}`}`,
    )
  }
}

/** So often is a call repeated that had no answer, or an answer above 499. */
const MOST_REPEATS = 5
const FIRST_PAUSE_MS = SECOND_MS
/** What others ask of the same project counts too, so it may refuse although we keep the limit. */
const FIRST_RATE_PAUSE_MS = 5 * SECOND_MS
const LONGEST_RATE_PAUSE_MS = 100 * SECOND_MS
const MOST_RATE_PAUSES = 20
/** Whoever asks for more is asked again then. */
const LONGEST_ASKED_MS = 10 * MINUTE_MS
/** All tags of a large container. */
const MOST_BYTES = 32 * 1024 * 1024
const MOST_PAGES = 1000

interface Request {
  method: 'GET' | 'POST' | 'PUT'
  /** Below the address of the API, with its query. */
  path: string
  body?: object
}

/** How often a call is made again that failed, or came too often, before that is passed on. */
const PATIENT = { repeats: MOST_REPEATS, pauses: MOST_RATE_PAUSES }
/** For callers who rather hear at once what the other side says. */
export const WITHOUT_RETRIES: typeof PATIENT = { repeats: 0, pauses: 0 }

/** The API of Google Tag Manager: within its quota, with repeats where they do no harm. */
export class TagManagerApi {
  constructor(
    private readonly context: GtmContext,
    private readonly progress: Progress,
    private readonly most = PATIENT,
  ) {}

  /** Fails with `ErrorNotice`, and with `CallFailed` when no answer came however often it was asked. */
  async get<T>(path: string): Promise<T> {
    return (await this.repeated({ method: 'GET', path })) as T
  }

  /** Null for what is not there. */
  async find<T>(path: string): Promise<T | null> {
    try {
      return await this.get<T>(path)
    } catch (error) {
      if (error instanceof Refused && error.status === 404) return null
      throw error
    }
  }

  /** All of a list, whatever its pages. */
  async list<T>(path: string, field: string): Promise<T[]> {
    const all: T[] = []
    let token: string | undefined
    for (let pages = 0; pages < MOST_PAGES; pages++) {
      const query = token === undefined ? '' : `?pageToken=${encodeURIComponent(token)}`
      const page = await this.get<Record<string, unknown>>(`${path}${query}`)
      all.push(...((page[field] as T[] | undefined) ?? []))
      const next = page.nextPageToken
      if (typeof next !== 'string' || next === '' || next === token) return all
      token = next
    }
    throw new AppError('upstream', `Tag Manager: more than ${MOST_PAGES} pages of ${path}`)
  }

  /** Makes one thing, once: when no answer came it is looked for before it is made again. */
  async create<T>(path: string, body: object, find: () => Promise<T | null>): Promise<T> {
    for (let repeats = 0; ; repeats++) {
      try {
        return (await this.ask({ method: 'POST', path, body })) as T
      } catch (error) {
        if (!isUnanswered(error) || repeats >= this.most.repeats) throw error
        await this.pause(FIRST_PAUSE_MS * 2 ** repeats)
      }
      const found = await find()
      if (found) return found
    }
  }

  /** A call that may be made twice. */
  async act<T>(path: string): Promise<T> {
    return (await this.repeated({ method: 'POST', path })) as T
  }

  /**
   * Writes what `change` makes of a thing; null: it is well as it is. When somebody else wrote it meanwhile it is read
   * again, once, and the change is made to what it is then; also when no answer came, because it may be written already.
   */
  async update<E extends Entity>(entity: E, change: (present: E) => E | null): Promise<E> {
    let present = entity
    for (let repeats = 0, reads = 0; ; ) {
      const body = change(present)
      if (!body) return present
      const { path, fingerprint } = present
      try {
        const query = fingerprint ? `?fingerprint=${encodeURIComponent(fingerprint)}` : ''
        return (await this.ask({ method: 'PUT', path: `${path}${query}`, body })) as E
      } catch (error) {
        if (isUnanswered(error) && repeats < this.most.repeats) await this.pause(FIRST_PAUSE_MS * 2 ** repeats++)
        else if (!isOutdated(error) || reads++ > 0) throw error
      }
      present = await this.get<E>(path)
    }
  }

  private async repeated(request: Request): Promise<unknown> {
    for (let repeats = 0; ; repeats++) {
      try {
        return await this.ask(request)
      } catch (error) {
        if (!isUnanswered(error) || repeats >= this.most.repeats) throw error
        await this.pause(FIRST_PAUSE_MS * 2 ** repeats)
      }
    }
  }

  /** Once, but for refusals that only say: not now. */
  private async ask(request: Request): Promise<unknown> {
    let isRenewed = false
    for (let pauses = 0; ; ) {
      const answer = await this.call(request)
      if (answer.status >= 200 && answer.status < 300) return contentOf(answer)
      const refused = refusalIn(answer)
      if (isTooOften(refused) && pauses < this.most.pauses) {
        await this.pause(ratePauseMs(answer, pauses++, this.context.now()))
      } else if (answer.status === 401 && !isRenewed) {
        isRenewed = true
        await this.context.renew(async () => ({ ...this.context.tokens, until: 0 }))
      } else if (answer.status >= 500) throw new CallFailed({ kind: 'status', ...answer })
      else throw refused
    }
  }

  private async call({ method, path, body }: Request): Promise<CallAnswer> {
    const { context, progress } = this
    const url = `${apiUrl(context.operator)}/${path}`
    const content = body ? { 'content-type': 'application/json' } : null
    const request: CallRequest = {
      ...{ method, url, maxAnswerBytes: MOST_BYTES },
      ...(body ? { body: JSON.stringify(body) } : {}),
    }
    return context.withinQuota(
      quotaOf(context.operator),
      async () => {
        // Only now: it may take minutes until it is its turn.
        const authorization = `Bearer ${await accessTokenOf(context)}`
        const headers = { accept: 'application/json', authorization, ...content }
        return context.call({ ...request, headers }).finally(() => progress.called())
      },
      (at) => progress.waits(at),
    )
  }

  private async pause(ms: number): Promise<void> {
    const { context, progress } = this
    const until = context.now() + ms
    progress.waits(until)
    await waitUntil(context, until, context.signal)
    progress.waits(null)
  }
}

/** True when it may have been done or not. */
function isUnanswered(error: unknown): boolean {
  if (!(error instanceof CallFailed)) return false
  const { reply } = error
  return reply.kind === 'error' ? !reply.permanent : reply.status >= 500
}

function contentOf({ body }: CallAnswer): unknown {
  if (body === '') return {}
  try {
    return parseJsonExactly(body)
  } catch {
    throw new CallFailed({ kind: 'error', message: 'Tag Manager: the answer is no JSON', permanent: false })
  }
}

const isOutdated = (error: unknown): boolean =>
  error instanceof Refused &&
  (error.status === 409 || error.status === 412 || /fingerprint|conditionNotMet/i.test(error.message))

const TOO_OFTEN = /^(?:rateLimitExceeded|userRateLimitExceeded|RATE_LIMIT_EXCEEDED|RESOURCE_EXHAUSTED)$/

/** What is used up for the day is not here: `quotaExceeded`, `dailyLimitExceeded`. */
const isTooOften = ({ status, reason }: Refused): boolean => TOO_OFTEN.test(reason) || (status === 429 && reason === '')

function ratePauseMs({ headers }: CallAnswer, pauses: number, now: Instant): number {
  const own = Math.min(FIRST_RATE_PAUSE_MS * 2 ** pauses, LONGEST_RATE_PAUSE_MS)
  return Math.max(own, Math.min(retryAfterMs(headers['retry-after'], now) ?? 0, LONGEST_ASKED_MS))
}

/** Google's errors: https://cloud.google.com/apis/design/errors and, as most of this API are, those of before. */
function refusalIn({ status, body }: CallAnswer): Refused {
  const { message, reason } = errorIn(body)
  return new Refused(status, oneLine(reason, 60), oneLine(message, 200))
}

function errorIn(body: string): { message: string; reason: string } {
  try {
    const { error } = JSON.parse(body)
    const reason = error.errors?.[0]?.reason ?? error.details?.find(hasReason)?.reason ?? error.status ?? ''
    return { message: String(error.message ?? ''), reason: String(reason) }
  } catch {
    // A page of some proxy's.
    return { message: '', reason: '' }
  }
}

const hasReason = (detail: unknown): boolean => typeof detail === 'object' && detail !== null && 'reason' in detail

type GtmContext = IntegrationContext<Settings, AccessTokens>

/**
 * To read, and to write what is in a container. What is written can't be made a version nor be published by whoever has
 * only these: https://developers.google.com/tag-platform/tag-manager/api/v2/authorization
 */
const SCOPES = ['tagmanager.readonly', 'tagmanager.edit.containers'].map(
  (name) => `https://www.googleapis.com/auth/${name}`,
)

/** The token with which calls are made, for as long as it is good. Fails with `Unusable` when the sign-in is no good any more. */
function accessTokenOf(context: GtmContext): Promise<string> {
  return context.accessToken(() => context.fetchTokens(tokenUrl(context.operator), grantOf(context)))
}

function grantOf(context: GtmContext): Record<string, string> {
  const { serviceAccount, clientId = '', clientSecret = '', refreshToken = '' } = context.settings
  if (serviceAccount) {
    return {
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      assertion: assertionOf(serviceAccount, tokenUrl(context.operator), context.now()),
    }
  }
  return {
    grant_type: 'refresh_token',
    client_id: clientId,
    client_secret: clientSecret,
    // A new one may have come with the last access token.
    refresh_token: context.tokens.refreshToken ?? refreshToken,
  }
}

/** RFC 7523, section 2.1: who asks, for what, signed with their key. */
function assertionOf({ client_email, private_key, private_key_id }: ServiceAccount, aud: string, now: Instant): string {
  const iat = Math.floor(now / SECOND_MS)
  const header = { alg: 'RS256', typ: 'JWT', ...(private_key_id === undefined ? {} : { kid: private_key_id }) }
  const claims = { iss: client_email, scope: SCOPES.join(' '), aud, iat, exp: iat + HOUR_MS / SECOND_MS }
  const signed = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  return `${signed}.${sign('sha256', Buffer.from(signed), private_key).toString('base64url')}`
}

/**
 * Reads JSON so that it is written again as it came, numbers too: those that JavaScript would write differently stay texts
 * of the source. Fails with `SyntaxError`.
 */
export function parseJsonExactly(text: string): unknown {
  return JSON.parse(text, (_key: string, value: unknown, context?: { source?: string }) => {
    const source = context?.source
    const isOther = typeof value === 'number' && source !== undefined && String(value) !== source
    return isOther ? rawJson(source) : value
  })
}

const rawJson = (source: string): unknown => (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(source)
