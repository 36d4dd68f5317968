import { originOf } from '../../transport/address-guard.ts'
import { provider } from '../provider.ts'
import { channelRoute } from './choose-channel-route.ts'
import { deliverGroupMessage, deliverMessage, updateOpening } from './post-message.ts'
import {
  apiUrl,
  DEFAULT_URL,
  faultOfUrl,
  prepareSlack,
  SlackConfigSchema,
  type SlackSettings,
  type SlackState,
  URL_SETTING,
  WEBHOOK_TARGET,
} from './slack-config.ts'
import type { SlackMemory } from './slack-context.ts'
import { listen } from './socket-mode.ts'

/** Slack, by the bot of an app or by an incoming webhook, and what takes webhooks as Slack does. */
export const slack = provider<SlackSettings, SlackMemory, Record<never, never>, SlackState>({
  type: 'team_chat',
  title: 'Slack',
  help: 'Posts each message into a channel; with a bot, messages have buttons and are kept up to date.',
  connect: { by: 'secret', fields: ['webhookUrl', 'botToken', 'appToken'] },
  operator: [
    {
      name: URL_SETTING,
      default: DEFAULT_URL,
      meaning: "Address below which Slack's methods are called; another one for sovereign clouds and gateways",
      fault: faultOfUrl,
    },
  ],
  configured: {
    schema: SlackConfigSchema,
    prepare: prepareSlack,
    isComplete: ({ webhookUrl }, state) => webhookUrl !== undefined || state !== null,
  },
  addresses: {
    target: WEBHOOK_TARGET,
    check(target, guard) {
      guard.checkUrl(target)
    },
    settingsOf: (target) => ({ webhookUrl: target }),
  },
  origin: ({ webhookUrl }, operator) => originOf(webhookUrl ?? apiUrl(operator)),
  deliver: deliverMessage,
  deliverGroup: deliverGroupMessage,
  syncStatus: updateOpening,
  listener: {
    connectionKey: ({ appToken }) => appToken ?? null,
    run: listen,
  },
  routes: (tools) => [channelRoute(tools)],
})
