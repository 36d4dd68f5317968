import { type Instant, MINUTE_MS, SECOND_MS } from '../../core/clock.ts'
import { jsonObject } from '../../core/json.ts'
import type { AccessTokens, IntegrationContext } from '../providers/provider-context.ts'
import { CallFailed, Unusable } from '../reply.ts'

/** The access token, while it has a minute left; null when there is none. */
export function goodToken(tokens: Record<string, unknown>, now: Instant): string | null {
  const { accessToken, until = null } = tokens as Partial<AccessTokens>
  return accessToken !== undefined && (until === null || until - MINUTE_MS > now) ? accessToken : null
}

/** Of these errors (RFC 6749, section 5.2) only a person can make good. */
const SIGN_IN_AGAIN = ['invalid_grant', 'invalid_client', 'unauthorized_client']

/** What a token endpoint gives for a form. Nothing that it says is repeated, but for the code of an error. */
export async function fetchTokens(
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
