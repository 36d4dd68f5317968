import { CHANNEL_TITLES } from '../../../contract/products.ts'
import { originOf } from '../../../transport/address-guard.ts'
import { channel, noDetail, type Secrets } from '../channel.ts'
import { connector } from '../connector.ts'
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

const PRODUCT = {
  type: 'team_chat',
  title: CHANNEL_TITLES.team_chat,
  help: 'Posts messages to a channel. A bot also adds buttons and updates its messages when an issue changes.',
} as const

const secrets: Secrets<SlackSettings> = { fields: ['webhookUrl', 'botToken', 'appToken'], derived: () => [] }

/**
 * Slack, through an app's bot or an incoming webhook. Also supports products that accept Slack webhooks, such as
 * Mattermost.
 */
export const slackChannel = channel<SlackSettings, SlackMemory, Record<never, never>, SlackState>({
  ...PRODUCT,
  secrets,
  addresses: {
    target: WEBHOOK_TARGET,
    check(target, guard) {
      guard.checkUrl(target)
    },
    settingsOf: (target) => ({ webhookUrl: target }),
  },
  hasIntegrations: true,
  checkDetail: noDetail,
  deliveryOf: () => ({
    openings: 'grouped',
    usesHistory: true,
    deliver: deliverMessage,
    deliverGroup: deliverGroupMessage,
    test: deliverMessage,
    syncStatus: updateOpening,
  }),
})

/** Slack with its settings, the choice of a channel, and the button presses that it reports. */
export const slackConnector = connector<SlackSettings, SlackMemory, Record<never, never>, SlackState>({
  ...PRODUCT,
  secrets,
  operator: [
    {
      name: URL_SETTING,
      default: DEFAULT_URL,
      meaning: 'Base URL of the Slack Web API; change it for GovSlack or a gateway',
      fault: faultOfUrl,
    },
  ],
  notifies: true,
  configuration: {
    schema: SlackConfigSchema,
    prepare: prepareSlack,
    perOrganization: 'many',
    exclusive: [],
    isComplete: ({ webhookUrl }, state) => webhookUrl !== undefined || state !== null,
    origin: ({ webhookUrl }, operator) => originOf(webhookUrl ?? apiUrl(operator)),
  },
  connection: { by: 'settings' },
  inbound: [{ by: 'socket', connectionKey: ({ appToken }) => appToken ?? null, run: listen }],
  routes: (tools) => [channelRoute(tools)],
})
