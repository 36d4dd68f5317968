import { AppError, atField } from '../../../core/error.ts'
import { Closed, parser, Text, Type } from '../../../core/schema.ts'
import type { AddressGuard } from '../../../transport/address-guard.ts'

/** Settings for either an incoming webhook or an app's bot. */
export interface SlackSettings {
  webhookUrl?: string
  botToken?: string
  /** Enables Socket Mode, which is required for buttons. */
  appToken?: string
}

/** Saved state of an integration with a bot, including the channel it posts to. */
export interface SlackState {
  channelId: string
  /** The bot's workspace. Null until Slack has returned it. */
  teamId: string | null
}

/** Target of alerts that use a webhook URL instead of an integration. */
export const WEBHOOK_TARGET = Text(1, 2000, {
  title: 'Incoming webhook',
  description: 'URL of a Slack-compatible incoming webhook',
  examples: ['https://hooks.slack.com/services/…'],
})

export const SlackConfigSchema = Closed(
  {
    webhookUrl: Type.Optional(
      Text(1, 2000, {
        title: 'Incoming webhook',
        description: 'Slack-compatible webhook URL; use this or a bot token',
      }),
    ),
    botToken: Type.Optional(
      Text(1, 500, { title: 'Bot token', description: 'Bot User OAuth Token of a Slack app (`xoxb-…`)' }),
    ),
    appToken: Type.Optional(
      Text(1, 500, {
        title: 'App token',
        description: 'App-level token with the scope `connections:write` (`xapp-…`); adds buttons to messages',
      }),
    ),
  },
  { $id: 'TeamChatConfig' },
)

const parse = parser(SlackConfigSchema)

/** Checks that a token can be sent in a header and is not a token of the other kind. */
function checkToken(name: 'botToken' | 'appToken', token: string | undefined, wrongKind: RegExp, hint: string): void {
  if (token === undefined) return
  if (!/^[\x21-\x7e]+$/.test(token)) throw new AppError('invalid', `config.${name}: must be a token without spaces`)
  if (wrongKind.test(token)) throw new AppError('invalid', `config.${name}: ${hint}`)
}

const BOT_FIELDS = ['botToken', 'appToken']

/**
 * Validates and completes a configuration. Fails with `invalid`, naming the field but never quoting a secret.
 * @param given Fields present in the request. Stored secrets of the other method are discarded.
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
    throw new AppError('invalid', 'config: an incoming webhook (webhookUrl) or a bot token (botToken) is required')
  }
  if (webhookUrl !== undefined && (botToken ?? appToken) !== undefined) {
    throw new AppError('invalid', "config.webhookUrl: can't be combined with botToken or appToken")
  }
  checkToken('botToken', botToken, /^xapp-/, 'is an app-level token; bot tokens start with xoxb-')
  checkToken('appToken', appToken, /^xox/, 'is not an app-level token; app-level tokens start with xapp-')
  if (webhookUrl !== undefined) atField('config.webhookUrl', () => guard.checkUrl(webhookUrl))
  return settings
}

export const URL_SETTING = 'TEAM_CHAT_URL'

/** Base URL of the Web API without a trailing slash. */
export const apiUrl = (operator: Readonly<Record<string, string>>) =>
  (operator[URL_SETTING] ?? DEFAULT_URL).replace(/\/+$/, '')

export const DEFAULT_URL = 'https://slack.com/api'

/**
 * Returns the reason why a text is not an http or https URL without query and fragment. Null if the text is such a URL.
 */
export function faultOfUrl(text: string): string | null {
  const url = URL.parse(text)
  const isPlain = url !== null && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === ''
  return isPlain && url.username === '' ? null : `must be the URL of an API, such as ${DEFAULT_URL}`
}
