import { sign } from 'node:crypto'
import { HOUR_MS, type Instant, SECOND_MS } from '../../../core/clock.ts'
import type { AccessTokens, IntegrationContext } from '../context.ts'
import { type ServiceAccount, type Settings, tokenUrl } from './settings.ts'

export type GtmContext = IntegrationContext<Settings, AccessTokens>

/**
 * To read, and to write what is in a container. What is written can't be made a version nor be published by whoever has
 * only these: https://developers.google.com/tag-platform/tag-manager/api/v2/authorization
 */
const SCOPES = ['tagmanager.readonly', 'tagmanager.edit.containers'].map(
  (name) => `https://www.googleapis.com/auth/${name}`,
)

/** The token with which calls are made, for as long as it is good. Fails with `Unusable` when the sign-in is no good any more. */
export function accessTokenOf(context: GtmContext): Promise<string> {
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
