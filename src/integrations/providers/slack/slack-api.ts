import { jsonObject } from '../../../core/parse-json-object.ts'
import { CallFailed, retryAfterMs } from '../../delivery-outcome.ts'
import type { IntegrationContext } from '../provider-context.ts'
import { apiUrl, type SlackSettings, type SlackState } from './slack-config.ts'
import { isCode, Refused } from './slack-errors.ts'

/** The part of the context that is required for a Web API call. */
export type SlackApiContext = Pick<
  IntegrationContext<SlackSettings, Record<never, never>, SlackState>,
  'settings' | 'operator' | 'call' | 'now'
>

/** A successful response. */
export interface SlackAnswer {
  ok: true
  [field: string]: unknown
}

const MAX_ANSWER_BYTES = 2 * 1024 * 1024

/**
 * Calls a method that accepts JSON. Fails with `Refused` if Slack returns an error, and with `CallFailed` if it is unknown
 * whether the call took effect.
 */
export function callMethod(
  context: SlackApiContext,
  method: string,
  args: object,
  token = context.settings.botToken ?? '',
): Promise<SlackAnswer> {
  return ask(context, method, token, { type: 'application/json; charset=utf-8', body: JSON.stringify(args) })
}

/** Calls a read method. Read methods accept only forms. Fails as `callMethod` does. */
export function readMethod(
  context: SlackApiContext,
  method: string,
  args: Record<string, string>,
): Promise<SlackAnswer> {
  const body = new URLSearchParams(args).toString()
  return ask(context, method, context.settings.botToken ?? '', { type: 'application/x-www-form-urlencoded', body })
}

async function ask(
  context: SlackApiContext,
  method: string,
  token: string,
  { type, body }: { type: string; body: string },
): Promise<SlackAnswer> {
  const answer = await context.call({
    method: 'POST',
    url: `${apiUrl(context.operator)}/${method}`,
    headers: { authorization: `Bearer ${token}`, 'content-type': type, 'user-agent': 'Tagwarden' },
    body,
    maxAnswerBytes: MAX_ANSWER_BYTES,
  })
  const said = jsonObject(answer.body)
  if (said?.ok === true && answer.status >= 200 && answer.status < 300) return said as SlackAnswer
  if (said?.ok === false && typeof said.error === 'string') {
    const code = isCode(said.error) ? said.error : 'unknown_error'
    throw new Refused(code, retryAfterMs(answer.headers['retry-after'], context.now()))
  }
  if (answer.status < 200 || answer.status > 299) throw new CallFailed({ kind: 'status', ...answer })
  throw new CallFailed({ kind: 'error', message: 'the response is not from Slack', permanent: false })
}
