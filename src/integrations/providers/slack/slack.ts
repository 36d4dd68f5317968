import { originOf } from '../../../transport/address-guard.ts'
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

/**
 * Slack, through an app's bot or an incoming webhook. Also supports products that accept Slack webhooks, such as
 * Mattermost.
 */
export const slack = provider<SlackSettings, SlackMemory, Record<never, never>, SlackState>({
  type: 'team_chat',
  title: 'Slack',
  help: 'Posts messages to a channel. A bot also adds buttons and updates its messages when an issue changes.',
  connect: { by: 'secret', fields: ['webhookUrl', 'botToken', 'appToken'] },
  operator: [
    {
      name: URL_SETTING,
      default: DEFAULT_URL,
      meaning: 'Base URL of the Slack Web API; change it for GovSlack or a gateway',
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
