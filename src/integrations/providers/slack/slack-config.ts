import { AppError, atField } from '../../../core/error.ts'
import { Closed, parser, Text, Type } from '../../../core/schema.ts'
import type { AddressGuard } from '../../transport/address-guard.ts'

/** Either an incoming webhook, or an app's bot. */
export interface SlackSettings {
  webhookUrl?: string
  botToken?: string
  /** With it the app's connection stays open, and messages have buttons. */
  appToken?: string
}

/** What is remembered of an integration with a bot: where it posts. */
export interface SlackState {
  channelId: string
  /** The workspace of the bot; null while Slack did not say. */
  teamId: string | null
}

/** In place of an integration. */
export const WEBHOOK_TARGET = Text(1, 2000, {
  title: 'Incoming webhook',
  description: 'Any incoming webhook that speaks as Slack does',
  examples: ['https://hooks.slack.com/services/…'],
})

export const SlackConfigSchema = Closed(
  {
    webhookUrl: Type.Optional(
      Text(1, 2000, {
        title: 'Incoming webhook',
        description: 'Any incoming webhook that speaks as Slack does; instead of botToken',
      }),
    ),
    botToken: Type.Optional(
      Text(1, 500, { title: 'Bot token', description: 'Bot User OAuth Token of a Slack app, xoxb-…' }),
    ),
    appToken: Type.Optional(
      Text(1, 500, {
        title: 'App token',
        description: 'App-level token with connections:write, xapp-…; gives messages buttons',
      }),
    ),
  },
  { $id: 'TeamChatConfig' },
)

const parse = parser(SlackConfigSchema)

/** Tokens go into a header. */
function checkToken(name: 'botToken' | 'appToken', token: string | undefined, isOther: RegExp, hint: string): void {
  if (token === undefined) return
  if (!/^[\x21-\x7e]+$/.test(token)) throw new AppError('invalid', `config.${name}: must be a token without spaces`)
  if (isOther.test(token)) throw new AppError('invalid', `config.${name}: ${hint}`)
}

const BOT_FIELDS = ['botToken', 'appToken']

/**
 * Fails with `invalid`, naming the field; no secret is repeated.
 * @param given what the request names: secrets of the other way, which were kept, are dropped
 */
export function prepareSlack(input: object, guard: AddressGuard, given: object): SlackSettings {
  const dropped = [
    ...('webhookUrl' in given ? BOT_FIELDS.filter((name) => !(name in given)) : []),
    ...(BOT_FIELDS.some((name) => name in given) && !('webhookUrl' in given) ? ['webhookUrl'] : []),
  ]
  const meant = Object.fromEntries(Object.entries(input).filter(([name]) => !dropped.includes(name)))
  const settings: SlackSettings = parse(meant, 'config')
  const { webhookUrl, botToken, appToken } = settings
  if (webhookUrl === undefined && botToken === undefined) {
    throw new AppError('invalid', 'config: needs webhookUrl, or botToken')
  }
  if (webhookUrl !== undefined && (botToken ?? appToken) !== undefined) {
    throw new AppError('invalid', 'config.webhookUrl: stands alone, without botToken and appToken')
  }
  checkToken('botToken', botToken, /^xapp-/, 'is an app-level token; the bot token begins with xoxb-')
  checkToken('appToken', appToken, /^xox/, 'is no app-level token; those begin with xapp-')
  if (webhookUrl !== undefined) atField('config.webhookUrl', () => guard.checkUrl(webhookUrl))
  return settings
}

export const URL_SETTING = 'TEAM_CHAT_URL'

/** Where methods are called: `https://slack.com/api`. */
export const apiUrl = (operator: Readonly<Record<string, string>>) =>
  (operator[URL_SETTING] ?? DEFAULT_URL).replace(/\/+$/, '')

export const DEFAULT_URL = 'https://slack.com/api'

/** Null when it is an address of http or https with nothing behind its path. */
export function faultOfUrl(text: string): string | null {
  const url = URL.parse(text)
  const isPlain = url !== null && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === ''
  return isPlain && url.username === '' ? null : `must be the address of an API, such as ${DEFAULT_URL}`
}
