import { type Instant, SECOND_MS } from '../../../core/clock.ts'
import { jsonObject } from '../../../core/json.ts'
import { oneLine } from '../../message/one-line.ts'
import { CallFailed } from '../../outcome.ts'
import type { HttpMethod } from '../../transport/transport.ts'
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

/** Jira Cloud has documents (ADF) and its own search; a Data Center has wiki mark-up. */
export const isCloud = ({ settings }: JiraContext): boolean => settings.email !== undefined

/** A list of fields with their allowed values may be long. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024

/**
 * What Jira answers to a request below `/rest/api/<version>`; an empty answer is `{}`. Fails with `CallFailed`, whose message
 * says what Jira said: that is where it names fields that are missing.
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
  const isGood = answer.status >= 200 && answer.status < 300 && !isStranger(answer)
  const value = isGood ? jsonIn(answer.body) : null
  if (value !== null) return value as T
  throw refusal(context, answer, isGood)
}

/** How a request says who asks. */
export function authorizationOf({ email, apiToken }: JiraSettings): string {
  if (email === undefined) return `Bearer ${apiToken}`
  return `Basic ${Buffer.from(`${email}:${apiToken}`).toString('base64')}`
}

/** True when Jira took no notice of the token: it then answers as to anybody, with less or nothing. */
const isStranger = ({ headers }: CallAnswer) =>
  /AUTHENTICATED_FAILED|AUTHENTICATION_DENIED/.test(headers['x-seraph-loginreason'] ?? '')

/** Null when it is no JSON object: a page, of a proxy's or of a sign-in. */
const jsonIn = (body: string): object | null => (body.trim() === '' ? {} : jsonObject(body))

function refusal(context: JiraContext, answer: CallAnswer, isGood: boolean): CallFailed {
  const isUnseen = answer.status < 400 || answer.status === 404
  const status = isStranger(answer) && isUnseen ? 401 : answer.status
  const waitMs = status === 429 || status === 503 ? waitOf(answer.headers, context.now()) : null
  const headers = {
    ...answer.headers,
    ...(waitMs === null ? {} : { 'retry-after': String(Math.ceil(waitMs / SECOND_MS)) }),
  }
  const said = isGood ? 'this is not the answer of a Jira; is config.url its address?' : saidBy(answer)
  return new CallFailed({ kind: 'status', ...answer, status, headers }, `HTTP ${status}${said ? `: ${said}` : ''}`)
}

const CAPTCHA = 'Jira wants a captcha: sign in once with this account in a browser, then test the integration'
const SIGN_IN = 'Jira does not take the token: it has ended, was revoked, or belongs to another address'
const MOVED = 'redirects are not followed; config.url must be the address to which Jira redirects'

function saidBy({ status, headers, body }: CallAnswer): string {
  if (/CAPTCHA_CHALLENGE/.test(headers['x-authentication-denied-reason'] ?? '')) return CAPTCHA
  if (status >= 300 && status < 400) return MOVED
  const said = sentencesIn(jsonIn(body))
  return status === 401 || isStranger({ status, headers, body }) ? SIGN_IN + (said ? ` (${said})` : '') : said
}

/** `{"errorMessages": [], "errors": {}}`, and what its gateways say. Empty when it says nothing. */
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

/** What Jira asks for in `Retry-After`, else until the time in `X-RateLimit-Reset`; null: nothing. */
function waitOf(headers: Record<string, string>, now: Instant): number | null {
  const { 'retry-after': after = '', 'x-ratelimit-reset': reset = '' } = headers
  if (/^\d+$/.test(after)) return Number(after) * SECOND_MS
  const at = /^\d+$/.test(reset) ? Number(reset) * SECOND_MS : Date.parse(after || reset)
  return Number.isNaN(at) ? null : Math.max(0, at - now)
}

/** Changes a part of what is remembered of the integration. */
export const saveState = (context: JiraContext, part: JiraState): Promise<void> =>
  context.saveState({ ...context.state, ...part })

/** True when Jira said that there is no such thing, or none that we may see. */
export const isMissing = (error: unknown): boolean => statusIn(error) === 404

/** The status of an answer that is a refusal; null when there was none. */
export function statusIn(error: unknown): number | null {
  return error instanceof CallFailed && error.reply.kind === 'status' ? error.reply.status : null
}

/** The fields of what Jira says is an object; none when it is something else. */
export const fieldsIn = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}

/** A user's id: Cloud's `accountId`, a Data Center's `key`. Empty when it is none. */
export function userIdOf(user: unknown): string {
  const { accountId, key, name } = fieldsIn(user)
  return ([accountId, key, name].find((one) => typeof one === 'string' && one !== '') as string | undefined) ?? ''
}

/** Our own account there; it is kept, so that calls from outside know our own acts. */
export async function fetchOwnAccount(context: JiraContext): Promise<string> {
  const me = userIdOf(await callJira(context, 'GET', '/myself'))
  if (me !== '' && context.state?.me !== me) await saveState(context, { me })
  return me
}
