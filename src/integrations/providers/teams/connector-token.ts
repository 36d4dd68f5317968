import { compactVerify, importJWK } from 'jose'
import { DAY_MS, type Instant, MINUTE_MS, SECOND_MS } from '../../../core/clock.ts'
import { AppError } from '../../../core/error.ts'
import type { InboundCall } from '../provider.ts'
import type { SigningKey } from './signing-keys.ts'

type Json = Record<string, unknown>

/** A token as it came: nothing of it is true yet. */
export interface ReadToken {
  token: string
  alg: string
  kid: string
  claims: Json
}

const MAX_TOKEN_LENGTH = 16 * 1024
const ALGORITHMS = ['RS256', 'RS384', 'RS512']
/** A connector sends none of them: keys that come with the token, and what changes how it is read. */
const REFUSED_HEADERS = ['jwk', 'jku', 'x5u', 'x5c', 'crit', 'b64', 'zip', 'enc']

const noToken = (why: string) => new AppError('unauthorized', `the connector token ${why}`)
const badClaim = (why: string) => new AppError('forbidden', `the connector token ${why}`)

/** Takes a connector token apart. Fails with `unauthorized` when there is none or it can't be one. */
export function readToken({ headers }: Pick<InboundCall, 'headers'>): ReadToken {
  const given = headers.get('authorization') ?? ''
  const token = given.length > MAX_TOKEN_LENGTH ? undefined : /^Bearer +([\w-]+\.[\w-]+\.[\w-]+)$/i.exec(given)?.[1]
  if (token === undefined) throw noToken('is missing: Authorization must be Bearer and a signed JWT')
  const [first = '', second = ''] = token.split('.')
  const header = objectIn(first)
  const claims = objectIn(second)
  const { alg, kid } = header
  if (typeof alg !== 'string' || !ALGORITHMS.includes(alg)) throw noToken('is not signed with RS256, RS384 or RS512')
  if (typeof kid !== 'string' || kid === '') throw noToken('names no key')
  const refused = REFUSED_HEADERS.find((name) => Object.hasOwn(header, name))
  if (refused) throw noToken(`must not have the header ${refused}`)
  return { token, alg, kid, claims }
}

/** The JSON object behind base64url; a name that stands twice in it could be read in two ways. */
function objectIn(part: string): Json {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(part, 'base64url'))
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value) && !hasDoubledName(text)) {
      return value as Json
    }
  } catch {
    // Said below.
  }
  throw noToken('can not be read')
}

/** @param text valid JSON of an object */
export function hasDoubledName(text: string): boolean {
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

export interface TokenCheck {
  key: SigningKey
  issuer: string
  appId: string
  /** The body of the call. */
  activity: Json
  now: Instant
}

/**
 * Holds a token against the checks of the Bot Connector, all of them, with no way to leave one out:
 * https://learn.microsoft.com/azure/bot-service/rest-api/bot-framework-rest-connector-authentication#connector-to-bot
 * Fails with `unauthorized` when the signature does not hold, with `forbidden` when what it says is not for us.
 */
export async function checkToken(read: ReadToken, { key, issuer, appId, activity, now }: TokenCheck): Promise<void> {
  const { token, alg, claims } = read
  try {
    await compactVerify(token, await importJWK(key.jwk, alg), { algorithms: [alg] })
  } catch {
    // What jose says may quote the token.
    throw noToken('has a signature that does not hold')
  }
  if (claims.iss !== issuer) throw badClaim('is of another issuer')
  if (claims.aud !== appId) throw badClaim('is for another app')
  checkTimes(claims, now)
  checkService(claims, activity)
  if (activity.channelId !== 'msteams' || !key.endorsements.includes('msteams')) {
    throw badClaim('is not endorsed for the channel of the activity')
  }
}

const SKEW_MS = 5 * MINUTE_MS
/** They live an hour or a day; one that would for years was not made with the time in seconds. */
const LONGEST_LIFE_MS = 7 * DAY_MS

function checkTimes({ exp, nbf, iat }: Json, now: Instant): void {
  const at = (time: unknown) => (Number.isSafeInteger(time) ? Number(time) * SECOND_MS : Number.NaN)
  const isOver = !(at(exp) > now - SKEW_MS)
  if (isOver || at(exp) > now + LONGEST_LIFE_MS) throw badClaim('has expired, or says no time at which it does')
  for (const from of [nbf, iat]) {
    if (from !== undefined && !(at(from) <= now + SKEW_MS)) throw badClaim('is not good yet')
  }
}

/** The claim is written in two ways; they must not say two things. */
function checkService({ serviceurl, serviceUrl = serviceurl }: Json, activity: Json): void {
  const claimed = serviceurl ?? serviceUrl
  const isSame = typeof claimed === 'string' && claimed !== '' && serviceUrl === claimed
  if (!isSame || activity.serviceUrl !== claimed) throw badClaim('is for another service address than the activity')
}
