import type { JWK } from 'jose'
import { DAY_MS, HOUR_MS, type Instant } from '../../../core/clock.ts'
import { AppError } from '../../../core/error.ts'
import { jsonObject } from '../../../core/parse-json-object.ts'
import type { IntegrationContext } from '../provider-context.ts'
import { operatorUrl } from './teams-config.ts'

/** A public key for verifying calls. */
export interface SigningKey {
  jwk: JWK
  /** Channels for which the key can sign. */
  endorsements: readonly string[]
}

type Context = Pick<IntegrationContext, 'callOk' | 'now' | 'operator' | 'signal'>

const FRESH_MS = DAY_MS
/** Minimum time between fetches caused by unknown key ids. */
const UNKNOWN_RETRY_MS = HOUR_MS
/** Maximum size of the key list, which also contains certificates. */
const MAX_KEYS_BYTES = 1024 * 1024

/** Cached keys of one Microsoft cloud. */
class SigningKeys {
  private keys = new Map<string, SigningKey>()
  private fetchedAt: Instant | null = null
  private triedAt: Instant = Number.NEGATIVE_INFINITY
  private loading: { done: Promise<void>; signal: AbortSignal } | null = null

  /** Returns the key with this id, or null. Fails as `callOk` does if no keys are available. */
  async find(context: Context, kid: string): Promise<SigningKey | null> {
    const now = context.now()
    // A time in the future means that the clock was set back.
    const ageOf = (at: Instant) => (at > now ? Number.POSITIVE_INFINITY : now - at)
    const isFresh = this.fetchedAt !== null && ageOf(this.fetchedAt) < FRESH_MS
    const mayTry = this.fetchedAt === null || ageOf(this.triedAt) >= UNKNOWN_RETRY_MS
    if ((!isFresh || !this.keys.has(kid)) && mayTry) await this.load(context)
    return this.keys.get(kid) ?? null
  }

  /**
   * Fetches the keys once for all concurrent callers. If the caller that fetches disconnects, another caller repeats
   * the fetch. If the fetch fails, the cached keys remain.
   */
  private async load(context: Context): Promise<void> {
    this.loading ??= this.begin(context)
    const { done, signal } = this.loading
    try {
      await done
    } catch (error) {
      if (signal.aborted && !context.signal.aborted) return this.load(context)
      if (this.fetchedAt === null) throw error
    }
  }

  private begin(context: Context) {
    const done = this.fetch(context).finally(() => {
      this.loading = null
    })
    return { done, signal: context.signal }
  }

  private async fetch(context: Context): Promise<void> {
    const now = context.now()
    try {
      const { jwks_uri } = await json(context, operatorUrl(context.operator, 'OFFICE_CHAT_OPENID_URL'))
      const { keys } = await json(context, String(jwks_uri))
      const found = new Map(Array.isArray(keys) ? keys.flatMap(readKey) : [])
      if (found.size === 0) throw new AppError('upstream', UNREADABLE)
      this.keys = found
      this.fetchedAt = now
      this.triedAt = now
    } catch (error) {
      // A fetch whose caller disconnects does not count as an attempt. Otherwise, it could prevent other callers from
      // refreshing.
      if (!context.signal.aborted) this.triedAt = now
      throw error
    }
  }
}

const UNREADABLE = 'the Teams signing keys could not be read'

async function json(context: Context, url: string): Promise<Record<string, unknown>> {
  const { body } = await context.callOk({ method: 'GET', url, maxAnswerBytes: MAX_KEYS_BYTES })
  const found = jsonObject(body)
  if (found) return found
  throw new AppError('upstream', UNREADABLE)
}

function readKey(value: unknown): [string, SigningKey][] {
  const jwk = (value ?? {}) as JWK & { endorsements?: unknown }
  if (typeof jwk.kid !== 'string' || jwk.kty !== 'RSA' || (jwk.use ?? 'sig') !== 'sig') return []
  const { kid, kty, n = '', e = '', endorsements } = jwk
  const channels = Array.isArray(endorsements) ? endorsements.filter((one) => typeof one === 'string') : []
  return [[kid, { jwk: { kid, kty, n, e }, endorsements: channels }]]
}

/** Caches by set of server-wide settings. */
const known = new WeakMap<object, SigningKeys>()

/**
 * Returns the key with this id, or null. Keys are fetched once a day, and additionally at most once an hour for an
 * unknown id.
 */
export function signingKey(context: Context, kid: string): Promise<SigningKey | null> {
  const keys = known.get(context.operator) ?? new SigningKeys()
  known.set(context.operator, keys)
  return keys.find(context, kid)
}
