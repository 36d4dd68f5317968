import { compactVerify, importJWK } from 'jose'
import { DAY_MS, type Instant, MINUTE_MS, SECOND_MS } from '../../../core/clock.ts'
import { AppError } from '../../../core/error.ts'
import { isJsonObject } from '../../../core/parse-json-object.ts'
import type { InboundCall } from '../connector.ts'
import type { SigningKey } from './signing-keys.ts'

type Json = Record<string, unknown>

/** A parsed but unverified token. */
interface ReadToken {
  token: string
  alg: string
  kid: string
  claims: Json
}

const MAX_TOKEN_LENGTH = 16 * 1024
const ALGORITHMS = ['RS256', 'RS384', 'RS512']
/** Headers that the Bot Connector never sends. They embed keys or change how a token is parsed. */
const REFUSED_HEADERS = ['jwk', 'jku', 'x5u', 'x5c', 'crit', 'b64', 'zip', 'enc']

const unauthorized = (why: string) => new AppError('unauthorized', `the connector token ${why}`)
const forbidden = (why: string) => new AppError('forbidden', `the connector token ${why}`)

/** Parses a connector token. Fails with `unauthorized` if the token is missing or malformed. */
export function readToken({ headers }: Pick<InboundCall, 'headers'>): ReadToken {
  const given = headers.get('authorization') ?? ''
  const token = given.length > MAX_TOKEN_LENGTH ? undefined : /^Bearer +([\w-]+\.[\w-]+\.[\w-]+)$/i.exec(given)?.[1]
  if (token === undefined)
    throw unauthorized('is missing: the Authorization header must be "Bearer" followed by a signed JWT')
  const [first = '', second = ''] = token.split('.')
  const header = objectIn(first)
  const claims = objectIn(second)
  const { alg, kid } = header
  if (typeof alg !== 'string' || !ALGORITHMS.includes(alg))
    throw unauthorized('is not signed with RS256, RS384 or RS512')
  if (typeof kid !== 'string' || kid === '') throw unauthorized('has no key id')
  const refused = REFUSED_HEADERS.find((name) => Object.hasOwn(header, name))
  if (refused) throw unauthorized(`must not contain the header ${refused}`)
  return { token, alg, kid, claims }
}

/** Decodes a base64url JSON object. Duplicate names are rejected because parsers treat them differently. */
function objectIn(part: string): Json {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(part, 'base64url'))
    const value: unknown = JSON.parse(text)
    if (isJsonObject(value) && !hasDuplicateName(text)) {
      return value as Json
    }
  } catch {
    // The result is rejected below.
  }
  throw unauthorized('cannot be parsed')
}

/**
 * True if a name occurs twice in the outermost object.
 * @param text Valid JSON of an object.
 */
export function hasDuplicateName(text: string): boolean {
  const seen = new Set<unknown>()
  let depth = 0
  for (const [piece, string, colon] of text.matchAll(/("(?:[^"\\]|\\.)*")(\s*:)?|[[\]{}]/g)) {
    if (string === undefined) depth += piece === '{' || piece === '[' ? 1 : -1
    else if (colon !== undefined && depth === 1) {
      const name: unknown = JSON.parse(string)
      if (seen.has(name)) return true
      seen.add(name)
    }
  }
  return false
}

interface TokenCheck {
  key: SigningKey
  issuer: string
  appId: string
  /** Parsed body of the call. */
  activity: Json
  now: Instant
}

/**
 * Verifies a token with all checks that the Bot Connector requires:
 * https://learn.microsoft.com/azure/bot-service/rest-api/bot-framework-rest-connector-authentication#connector-to-bot
 * Fails with `unauthorized` if the signature is invalid, and with `forbidden` if a claim does not match.
 */
export async function checkToken(read: ReadToken, { key, issuer, appId, activity, now }: TokenCheck): Promise<void> {
  const { token, alg, claims } = read
  try {
    await compactVerify(token, await importJWK(key.jwk, alg), { algorithms: [alg] })
  } catch {
    // The error thrown by jose may quote the token.
    throw unauthorized('has an invalid signature')
  }
  if (claims.iss !== issuer) throw forbidden('is from another issuer')
  if (claims.aud !== appId) throw forbidden('is for another app')
  checkTimes(claims, now)
  checkService(claims, activity)
  if (activity.channelId !== 'msteams' || !key.endorsements.includes('msteams')) {
    throw forbidden("is not endorsed for the activity's channel")
  }
}

const SKEW_MS = 5 * MINUTE_MS
/**
 * Maximum lifetime of a token. Tokens are valid for an hour or a day. A much longer lifetime indicates that the expiry
 * is not in seconds.
 */
const MAX_LIFETIME_MS = 7 * DAY_MS

function checkTimes({ exp, nbf, iat }: Json, now: Instant): void {
  const at = (time: unknown) => (Number.isSafeInteger(time) ? Number(time) * SECOND_MS : Number.NaN)
  const isOver = !(at(exp) > now - SKEW_MS)
  if (isOver || at(exp) > now + MAX_LIFETIME_MS) throw forbidden('has expired or has no valid expiry')
  for (const from of [nbf, iat]) {
    if (from !== undefined && !(at(from) <= now + SKEW_MS)) throw forbidden('is not valid yet')
  }
}

/** Checks the service URL. The claim can be spelled in two ways, and their values must be equal. */
function checkService({ serviceurl, serviceUrl = serviceurl }: Json, activity: Json): void {
  const claimed = serviceurl ?? serviceUrl
  const isSame = typeof claimed === 'string' && claimed !== '' && serviceUrl === claimed
  if (!isSame || activity.serviceUrl !== claimed) throw forbidden('is for a different service URL than the activity')
}
