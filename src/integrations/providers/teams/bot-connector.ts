import { AppError } from '../../../core/error.ts'
import { jsonObject } from '../../../core/parse-json-object.ts'
import { oneLine } from '../../../core/text.ts'
import { CallFailed, Unusable } from '../../delivery-outcome.ts'
import type { AccessTokens, CallAnswer, IntegrationContext } from '../provider-context.ts'
import { isKnownService, stateOf, type TeamsState } from './bot-installations.ts'
import { type Bot, operatorBase, type TeamsSettings } from './teams-config.ts'

export interface TeamsTokens extends AccessTokens {
  /** The bot that the token was issued to: `<tenant>/<appId>`. */
  of: string
}

export type TeamsContext = IntegrationContext<TeamsSettings, TeamsTokens, TeamsState>

/** Tenant that issues the tokens of multi-tenant bots. */
const ANY_TENANT = 'botframework.com'

/** @param refused A rejected token that must be replaced. Null if no token was rejected. */
async function tokenFor(context: TeamsContext, bot: Bot, refused: string | null): Promise<string> {
  const tenant = bot.tenantId ?? ANY_TENANT
  const of = `${tenant}/${bot.appId}`
  const issuer = operatorBase(context.operator, 'OFFICE_CHAT_ISSUER')
  const fetch = async () => ({
    ...(await context.fetchTokens(
      `${operatorBase(context.operator, 'OFFICE_CHAT_LOGIN_URL')}/${tenant}/oauth2/v2.0/token`,
      {
        grant_type: 'client_credentials',
        client_id: bot.appId,
        client_secret: bot.appPassword,
        scope: `${issuer}/.default`,
      },
    )),
    of,
  })
  const isOther = () => context.tokens.of !== of || context.tokens.accessToken === refused
  if (isOther()) await context.renew(async () => (isOther() ? await fetch() : context.tokens))
  return context.accessToken(fetch)
}

interface BotCall {
  method: 'POST' | 'PUT'
  /** The team's service URL. Only URLs that were received with a verified token are accepted. */
  serviceUrl: string
  /** Known installations. Absent: those in the integration's saved state. */
  known?: TeamsState
  path: string
  /** Request body as JSON. */
  body: string
}

/**
 * Calls the Bot Connector as the bot and returns the response regardless of its status. After a 401, retries once with
 * a new token. Fails with `Unusable` if the new token is rejected too.
 */
export async function callService(
  context: TeamsContext,
  bot: Bot,
  { method, serviceUrl, known = stateOf(context.settings, context.state), path, body }: BotCall,
): Promise<CallAnswer> {
  if (!isKnownService(known, serviceUrl)) {
    throw new AppError('invalid', 'no verified call from Teams has contained this service URL')
  }
  const call = (token: string) =>
    context.call({
      method,
      url: `${serviceUrl.replace(/\/+$/, '')}${path}`,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json; charset=utf-8' },
      body,
    })
  const token = await tokenFor(context, bot, null)
  const answer = await call(token)
  if (answer.status !== 401) return answer
  const again = await call(await tokenFor(context, bot, token))
  if (again.status !== 401) return again
  throw new Unusable('reauth_required', `Teams rejected the bot's token: ${statusTextOf(again)}`)
}

interface Refusal {
  code: string
  message: string
}

/** Parses an error response: `{"error": {"code", "message"}}`. Missing values become empty strings. */
function refusalIn({ body }: CallAnswer): Refusal {
  try {
    const { code, message } = JSON.parse(body).error
    return { code: typeof code === 'string' ? oneLine(code, 60) : '', message: oneLine(String(message ?? ''), 200) }
  } catch {
    return { code: '', message: '' }
  }
}

function statusTextOf(answer: CallAnswer): string {
  const { code } = refusalIn(answer)
  return `HTTP ${answer.status}${code ? ` ${code}` : ''}`
}

/** Describes an error response for admins. Includes the message of the Bot Connector if there is one. */
export function reasonOf(answer: CallAnswer): string {
  const { message } = refusalIn(answer)
  return message ? `${statusTextOf(answer)}: ${message}` : statusTextOf(answer)
}

/**
 * Error codes that no retry can fix, with the explanation for users. Source:
 * https://learn.microsoft.com/microsoftteams/platform/bots/how-to/conversations/send-proactive-messages#status-codes
 */
const BROKEN_CODES = new Map([
  ['BotNotInConversationRoster', 'the bot was removed from this team; add it again'],
  ['BotDisabledByAdmin', 'a Teams administrator has blocked the app'],
  ['ConversationBlockedByUser', 'the channel has blocked the bot'],
  ['NotEnoughPermissions', 'the bot does not have permission to post to this channel'],
])

/** Returns a successful response. Fails for any other response. */
export function requireSuccess(answer: CallAnswer): CallAnswer {
  const { status } = answer
  if (status >= 200 && status < 300) return answer
  // Caused by concurrent posts to one conversation:
  // https://learn.microsoft.com/microsoftteams/platform/bots/how-to/rate-limit
  if (status === 412) throw new AppError('unavailable', statusTextOf(answer))
  const meaning = BROKEN_CODES.get(refusalIn(answer).code)
  if (meaning) throw new AppError('forbidden', `${statusTextOf(answer)}: ${meaning}`)
  throw new CallFailed({ kind: 'status', ...answer })
}

export const isGone = ({ status }: CallAnswer) => status === 404 || status === 410

/** The ids of a posted message. Null if the response does not contain them. */
export function postedMessageIn({ body }: CallAnswer): { conversationId: string; activityId: string | null } | null {
  const { id, activityId } = jsonObject(body) ?? {}
  if (typeof id !== 'string' || id === '') return null
  const inId = /;messageid=(.+)$/.exec(id)?.[1]
  return { conversationId: id, activityId: typeof activityId === 'string' ? activityId : (inId ?? null) }
}
