import { sign } from 'node:crypto'
import { HOUR_MS, type Instant, MINUTE_MS, SECOND_MS, waitUntil } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { oneLine } from '../core/text.ts'
import { CallFailed, retryAfterMs } from '../integrations/delivery-outcome.ts'
import type {
  AccessTokens,
  CallAnswer,
  CallRequest,
  IntegrationContext,
} from '../integrations/providers/provider-context.ts'
import type { Progress } from './progress.ts'
import { apiUrl, quotaOf, type ServiceAccount, type Settings, tokenUrl } from './tag-manager-config.ts'
import type { Entity } from './tag-manager-entities.ts'

/** A call that Google rejected permanently. */
export class Refused extends AppError {
  constructor(
    readonly status: number,
    /** Google's reason code, such as `insufficientPermissions`. Empty if there is none. */
    readonly reason: string,
    message: string,
  ) {
    super(
      'upstream',
      `Tag Manager: ${reason === '' ? `HTTP ${status}` : reason}${message === '' ? '' : `: ${message}`}`,
    )
  }
}

/** Maximum number of retries of a call that received no response or a 5xx. */
const MAX_RETRIES = 5
const FIRST_PAUSE_MS = SECOND_MS
/** Length of the first pause after a rate limit. Other clients of the same Google project share the quota. */
const FIRST_RATE_PAUSE_MS = 5 * SECOND_MS
const MAX_RATE_PAUSE_MS = 100 * SECOND_MS
const MAX_RATE_PAUSES = 20
/** Maximum pause that a `Retry-After` header can cause. */
const MAX_RETRY_AFTER_MS = 10 * MINUTE_MS
/** Maximum size of a response, sufficient for all tags of a large container. */
const MAX_BYTES = 32 * 1024 * 1024
const MAX_PAGES = 1000

interface Request {
  method: 'GET' | 'POST' | 'PUT'
  /** Path relative to the base URL, including the query. */
  path: string
  body?: object
}

/** Limits for retries after failures and for pauses after rate limits. */
const WITH_RETRIES = { retries: MAX_RETRIES, pauses: MAX_RATE_PAUSES }
/** Limits for callers that need an immediate result. */
export const WITHOUT_RETRIES: typeof WITH_RETRIES = { retries: 0, pauses: 0 }

/** Client for the Google Tag Manager API. It stays within the quota and retries calls where that is safe. */
export class TagManagerApi {
  constructor(
    private readonly context: GtmContext,
    private readonly progress: Progress,
    private readonly limits = WITH_RETRIES,
  ) {}

  /** Makes a GET request. Fails with `Refused`, or with `CallFailed` if there is no response after all retries. */
  async get<T>(path: string): Promise<T> {
    return (await this.withRetries({ method: 'GET', path })) as T
  }

  /** Like `get`, but returns null on a 404. */
  async find<T>(path: string): Promise<T | null> {
    try {
      return await this.get<T>(path)
    } catch (error) {
      if (error instanceof Refused && error.status === 404) return null
      throw error
    }
  }

  /** Reads all pages of a list. */
  async list<T>(path: string, field: string): Promise<T[]> {
    const all: T[] = []
    let token: string | undefined
    for (let pages = 0; pages < MAX_PAGES; pages++) {
      const query = token === undefined ? '' : `?pageToken=${encodeURIComponent(token)}`
      const page = await this.get<Record<string, unknown>>(`${path}${query}`)
      all.push(...((page[field] as T[] | undefined) ?? []))
      const next = page.nextPageToken
      if (typeof next !== 'string' || next === '' || next === token) return all
      token = next
    }
    throw new AppError('upstream', `Tag Manager: ${path} has more than ${MAX_PAGES} pages`)
  }

  /**
   * Creates an entity exactly once. After a lost response, `find` checks whether the entity exists before the call is
   * repeated.
   */
  async create<T>(path: string, body: object, find: () => Promise<T | null>): Promise<T> {
    for (let retries = 0; ; retries++) {
      try {
        return (await this.attempt({ method: 'POST', path, body })) as T
      } catch (error) {
        if (!isUncertain(error) || retries >= this.limits.retries) throw error
        await this.pause(FIRST_PAUSE_MS * 2 ** retries)
      }
      const found = await find()
      if (found) return found
    }
  }

  /** Makes an idempotent POST. */
  async act<T>(path: string): Promise<T> {
    return (await this.withRetries({ method: 'POST', path })) as T
  }

  /**
   * Writes the entity that `change` returns, or nothing if it returns null. If someone else changed the entity
   * concurrently, reads it again and repeats the change. Also reads it again after a lost response, because the write
   * may have succeeded.
   */
  async update<E extends Entity>(entity: E, change: (current: E) => E | null): Promise<E> {
    let current = entity
    for (let retries = 0, reads = 0; ; ) {
      const body = change(current)
      if (!body) return current
      const { path, fingerprint } = current
      try {
        const query = fingerprint ? `?fingerprint=${encodeURIComponent(fingerprint)}` : ''
        return (await this.attempt({ method: 'PUT', path: `${path}${query}`, body })) as E
      } catch (error) {
        if (isUncertain(error) && retries < this.limits.retries) await this.pause(FIRST_PAUSE_MS * 2 ** retries++)
        else if (!isOutdated(error) || reads++ > 0) throw error
      }
      current = await this.get<E>(path)
    }
  }

  private async withRetries(request: Request): Promise<unknown> {
    for (let retries = 0; ; retries++) {
      try {
        return await this.attempt(request)
      } catch (error) {
        if (!isUncertain(error) || retries >= this.limits.retries) throw error
        await this.pause(FIRST_PAUSE_MS * 2 ** retries)
      }
    }
  }

  /** Makes a call. Waits during rate limits, and renews a rejected token once. */
  private async attempt(request: Request): Promise<unknown> {
    let isRenewed = false
    for (let pauses = 0; ; ) {
      const answer = await this.call(request)
      if (answer.status >= 200 && answer.status < 300) return contentOf(answer)
      const refused = refusalIn(answer)
      if (isRateLimited(refused) && pauses < this.limits.pauses) {
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
      method,
      url,
      maxAnswerBytes: MAX_BYTES,
      ...(body ? { body: JSON.stringify(body) } : {}),
    }
    return context.withinQuota(
      quotaOf(context.operator),
      async () => {
        // Fetched here because waiting for the quota can take minutes, after which an earlier token may have expired.
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

/** True if a call may or may not have taken effect. */
function isUncertain(error: unknown): boolean {
  if (!(error instanceof CallFailed)) return false
  const { reply } = error
  return reply.kind === 'error' ? !reply.permanent : reply.status >= 500
}

function contentOf({ body }: CallAnswer): unknown {
  if (body === '') return {}
  try {
    return parseJsonExactly(body)
  } catch {
    throw new CallFailed({ kind: 'error', message: 'Tag Manager: the response is not JSON', permanent: false })
  }
}

const isOutdated = (error: unknown): boolean =>
  error instanceof Refused &&
  (error.status === 409 || error.status === 412 || /fingerprint|conditionNotMet/i.test(error.message))

const RATE_LIMIT_REASON = /^(?:rateLimitExceeded|userRateLimitExceeded|RATE_LIMIT_EXCEEDED|RESOURCE_EXHAUSTED)$/

/** True if the call was rate-limited. False for exhausted daily quotas (`quotaExceeded`, `dailyLimitExceeded`). */
const isRateLimited = ({ status, reason }: Refused): boolean =>
  RATE_LIMIT_REASON.test(reason) || (status === 429 && reason === '')

function ratePauseMs({ headers }: CallAnswer, pauses: number, now: Instant): number {
  const own = Math.min(FIRST_RATE_PAUSE_MS * 2 ** pauses, MAX_RATE_PAUSE_MS)
  return Math.max(own, Math.min(retryAfterMs(headers['retry-after'], now) ?? 0, MAX_RETRY_AFTER_MS))
}

/**
 * Parses Google's error format, https://cloud.google.com/apis/design/errors, and the older format that this API mostly
 * uses.
 */
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
    // The body is not JSON, such as a proxy's error page.
    return { message: '', reason: '' }
  }
}

const hasReason = (detail: unknown): boolean => typeof detail === 'object' && detail !== null && 'reason' in detail

type GtmContext = IntegrationContext<Settings, AccessTokens>

/**
 * Scopes for reading and editing containers. They do not permit creating versions or publishing:
 * https://developers.google.com/tag-platform/tag-manager/api/v2/authorization
 */
const SCOPES = ['tagmanager.readonly', 'tagmanager.edit.containers'].map(
  (name) => `https://www.googleapis.com/auth/${name}`,
)

/** Returns a valid access token. Fails with `Unusable` if the sign-in is no longer valid. */
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
    // Google may have issued a new refresh token with the previous access token.
    refresh_token: context.tokens.refreshToken ?? refreshToken,
  }
}

/** Creates a JWT bearer assertion: RFC 7523, section 2.1. */
function assertionOf({ client_email, private_key, private_key_id }: ServiceAccount, aud: string, now: Instant): string {
  const iat = Math.floor(now / SECOND_MS)
  const header = { alg: 'RS256', typ: 'JWT', ...(private_key_id === undefined ? {} : { kid: private_key_id }) }
  const claims = { iss: client_email, scope: SCOPES.join(' '), aud, iat, exp: iat + HOUR_MS / SECOND_MS }
  const signed = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  return `${signed}.${sign('sha256', Buffer.from(signed), private_key).toString('base64url')}`
}

/**
 * Parses JSON so that it can be serialized unchanged. Numbers that JavaScript would write differently keep their source
 * text. Fails with `SyntaxError`.
 */
export function parseJsonExactly(text: string): unknown {
  return JSON.parse(text, (_key: string, value: unknown, context?: { source?: string }) => {
    const source = context?.source
    const isOther = typeof value === 'number' && source !== undefined && String(value) !== source
    return isOther ? rawJson(source) : value
  })
}

const rawJson = (source: string): unknown => (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(source)
