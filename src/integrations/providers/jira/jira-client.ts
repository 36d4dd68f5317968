import { type Instant, SECOND_MS } from '../../../core/clock.ts'
import { jsonObject } from '../../../core/parse-json-object.ts'
import { oneLine } from '../../../core/text.ts'
import type { HttpMethod } from '../../../transport/transport.ts'
import { CallFailed } from '../../delivery-outcome.ts'
import type {
  CallAnswer,
  DeliveryContext,
  InboundContext,
  IntegrationContext,
  IssueContext,
} from '../provider-context.ts'
import type { JiraSettings } from './jira-config.ts'
import type { JiraState, Ticket } from './jira-state.ts'

type NoTokens = Record<never, never>
export type JiraContext = IntegrationContext<JiraSettings, NoTokens, JiraState>
export type JiraIssue = IssueContext<JiraSettings, Ticket, NoTokens, JiraState>
export type JiraDelivery = DeliveryContext<JiraSettings, Ticket, NoTokens, JiraState>
export type JiraInbound = InboundContext<JiraSettings, Ticket, NoTokens, JiraState>

/** True for Jira Cloud, which uses ADF documents and its own search API. Data Center uses wiki mark-up. */
export const isCloud = ({ settings }: JiraContext): boolean => settings.email !== undefined

/** Maximum size of a response. Lists of fields with their allowed values can be large. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024

/**
 * Calls the REST API below `/rest/api/<version>` and returns the JSON response, or `{}` if the body is empty. Fails
 * with `CallFailed`. Its message includes Jira's own error message, which names missing fields.
 */
export async function callJira<T>(context: JiraContext, method: HttpMethod, path: string, json?: object): Promise<T> {
  const { url } = context.settings
  const answer = await context.call({
    method,
    url: `${url.replace(/\/+$/, '')}/rest/api/${isCloud(context) ? 3 : 2}${path}`,
    headers: {
      accept: 'application/json',
      'user-agent': 'Tagwarden',
      authorization: authorizationOf(context.settings),
      ...(json ? { 'content-type': 'application/json' } : {}),
    },
    ...(json ? { body: JSON.stringify(json) } : {}),
    maxAnswerBytes: MAX_ANSWER_BYTES,
  })
  const isGood = answer.status >= 200 && answer.status < 300 && !isAnonymous(answer)
  const value = isGood ? jsonIn(answer.body) : null
  if (value !== null) return value as T
  throw refusal(context, answer, isGood)
}

/** Value of the `Authorization` header. */
export function authorizationOf({ email, apiToken }: JiraSettings): string {
  if (email === undefined) return `Bearer ${apiToken}`
  return `Basic ${Buffer.from(`${email}:${apiToken}`).toString('base64')}`
}

/** True if Jira ignored the token and treated the request as anonymous. */
const isAnonymous = ({ headers }: CallAnswer) =>
  /AUTHENTICATED_FAILED|AUTHENTICATION_DENIED/.test(headers['x-seraph-loginreason'] ?? '')

/** Parses a JSON object. Null for any other body, such as a proxy's error page or a login page. */
const jsonIn = (body: string): object | null => (body.trim() === '' ? {} : jsonObject(body))

function refusal(context: JiraContext, answer: CallAnswer, isGood: boolean): CallFailed {
  const isUnseen = answer.status < 400 || answer.status === 404
  const status = isAnonymous(answer) && isUnseen ? 401 : answer.status
  const waitMs = status === 429 || status === 503 ? waitOf(answer.headers, context.now()) : null
  const headers = {
    ...answer.headers,
    ...(waitMs === null ? {} : { 'retry-after': String(Math.ceil(waitMs / SECOND_MS)) }),
  }
  const text = isGood ? 'this is not a response from Jira; check config.url' : errorTextOf(answer)
  return new CallFailed({ kind: 'status', ...answer, status, headers }, `HTTP ${status}${text ? `: ${text}` : ''}`)
}

const CAPTCHA = 'Jira requires a CAPTCHA: sign in to Jira with this account in a browser, then test the integration'
const SIGN_IN = 'Jira rejected the token: it has expired, was revoked, or belongs to another account'
const MOVED = 'redirects are not followed; set config.url to the URL that Jira redirects to'

function errorTextOf({ status, headers, body }: CallAnswer): string {
  if (/CAPTCHA_CHALLENGE/.test(headers['x-authentication-denied-reason'] ?? '')) return CAPTCHA
  if (status >= 300 && status < 400) return MOVED
  const text = sentencesIn(jsonIn(body))
  return status === 401 || isAnonymous({ status, headers, body }) ? SIGN_IN + (text ? ` (${text})` : '') : text
}

/** Joins the messages in `{"errorMessages": [], "errors": {}}` and in gateway errors. Empty if there are none. */
function sentencesIn(value: object | null): string {
  const { errorMessages, errors, message } = { ...value } as Record<string, unknown>
  const fields = Object.entries(typeof errors === 'object' && errors !== null ? errors : {})
  const sentences = [
    ...(Array.isArray(errorMessages) ? errorMessages : []),
    ...fields.map(([field, text]) => `${text} (${field})`),
    ...(typeof message === 'string' ? [message] : []),
  ]
  return oneLine(sentences.map(String).join(' '), 400)
}

/** Wait in ms from `Retry-After`, or otherwise from `X-RateLimit-Reset`. Null if neither header is present. */
function waitOf(headers: Record<string, string>, now: Instant): number | null {
  const { 'retry-after': after = '', 'x-ratelimit-reset': reset = '' } = headers
  if (/^\d+$/.test(after)) return Number(after) * SECOND_MS
  const at = /^\d+$/.test(reset) ? Number(reset) * SECOND_MS : Date.parse(after || reset)
  return Number.isNaN(at) ? null : Math.max(0, at - now)
}

/** Updates part of the integration's state. */
export const saveState = (context: JiraContext, part: JiraState): Promise<void> =>
  context.saveState({ ...context.state, ...part })

/** True for a 404: the object does not exist or is not visible to the account. */
export const isMissing = (error: unknown): boolean => statusIn(error) === 404

/** The HTTP status of a failed call. Null if there was no response. */
export function statusIn(error: unknown): number | null {
  return error instanceof CallFailed && error.reply.kind === 'status' ? error.reply.status : null
}

/** The fields of an object. Empty for any other value. */
export const fieldsIn = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}

/** A user's id: `accountId` in Cloud, `key` in Data Center. Empty if missing. */
export function userIdOf(user: unknown): string {
  const { accountId, key, name } = fieldsIn(user)
  return ([accountId, key, name].find((one) => typeof one === 'string' && one !== '') as string | undefined) ?? ''
}

/**
 * Fetches and saves the id of the integration's own account, so that webhook calls about its own changes can be
 * ignored.
 */
export async function fetchOwnAccount(context: JiraContext): Promise<string> {
  const me = userIdOf(await callJira(context, 'GET', '/myself'))
  if (me !== '' && context.state?.me !== me) await saveState(context, { me })
  return me
}
