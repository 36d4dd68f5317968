import { AppError } from '../../../core/error.ts'
import { jsonObject } from '../../../core/json.ts'
import { oneLine } from '../../message/one-line.ts'
import { CallFailed, Unusable } from '../../outcome.ts'
import type { AccessTokens, CallAnswer, IntegrationContext } from '../provider-context.ts'
import { isKnownService, stateOf, type TeamsState } from './bot-installations.ts'
import { type Bot, operatorBase, type TeamsSettings } from './teams-config.ts'

export interface TeamsTokens extends AccessTokens {
  /** For which bot it is: `<tenant>/<appId>`. */
  of: string
}

export type TeamsContext = IntegrationContext<TeamsSettings, TeamsTokens, TeamsState>

/** A bot of several tenants has its tokens from here. */
const ANY_TENANT = 'botframework.com'

/** @param refused a token that was not taken; null: none was. */
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

export interface BotCall {
  method: 'POST' | 'PUT'
  /** Where the team is spoken with; anything else than what came with a checked token is refused. */
  serviceUrl: string
  /** What is known of the teams; absent: what the integration remembers. */
  known?: TeamsState
  path: string
  /** JSON. */
  body: string
}

/**
 * Calls the Bot Connector in the name of the bot, with any answer but 401: that brings a new token, once, and then fails with
 * `Unusable`.
 */
export async function callService(
  context: TeamsContext,
  bot: Bot,
  { method, serviceUrl, known = stateOf(context.settings, context.state), path, body }: BotCall,
): Promise<CallAnswer> {
  if (!isKnownService(known, serviceUrl)) {
    throw new AppError('invalid', 'the service address came with no token that was checked')
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
  throw new Unusable('reauth_required', `Teams does not take the bot's token: ${saidBy(again)}`)
}

interface Refusal {
  code: string
  message: string
}

/** What the Bot Connector says in a refusal: `{"error": {"code", "message"}}`; empty texts when it says nothing. */
function refusalIn({ body }: CallAnswer): Refusal {
  try {
    const { code, message } = JSON.parse(body).error
    return { code: typeof code === 'string' ? oneLine(code, 60) : '', message: oneLine(String(message ?? ''), 200) }
  } catch {
    return { code: '', message: '' }
  }
}

function saidBy(answer: CallAnswer): string {
  const { code } = refusalIn(answer)
  return `HTTP ${answer.status}${code ? ` ${code}` : ''}`
}

/** What a refusal means, in words for admins: its own, where it has some. */
export function reasonOf(answer: CallAnswer): string {
  const { message } = refusalIn(answer)
  return message ? `${saidBy(answer)}: ${message}` : saidBy(answer)
}

/** https://learn.microsoft.com/microsoftteams/platform/bots/how-to/conversations/send-proactive-messages#status-codes */
const BROKEN_CODES = new Map([
  ['BotNotInConversationRoster', 'the bot is not in this team any more; add it again'],
  ['BotDisabledByAdmin', 'an administrator of Teams has blocked the app'],
  ['ConversationBlockedByUser', 'the channel does not let the bot write'],
  ['NotEnoughPermissions', 'the bot may not write there'],
])

/** Fails unless it is a success. */
export function requireSuccess(answer: CallAnswer): CallAnswer {
  const { status } = answer
  if (status >= 200 && status < 300) return answer
  // Two at a time in one conversation: https://learn.microsoft.com/microsoftteams/platform/bots/how-to/rate-limit
  if (status === 412) throw new AppError('unavailable', saidBy(answer))
  const meaning = BROKEN_CODES.get(refusalIn(answer).code)
  if (meaning) throw new AppError('forbidden', `${saidBy(answer)}: ${meaning}`)
  throw new CallFailed({ kind: 'status', ...answer })
}

export const isGone = ({ status }: CallAnswer) => status === 404 || status === 410

/** Of an answer that posted something: where it is; null when it does not say. */
export function postedIn({ body }: CallAnswer): { conversationId: string; activityId: string | null } | null {
  const { id, activityId } = jsonObject(body) ?? {}
  if (typeof id !== 'string' || id === '') return null
  const inId = /;messageid=(.+)$/.exec(id)?.[1]
  return { conversationId: id, activityId: typeof activityId === 'string' ? activityId : (inId ?? null) }
}
