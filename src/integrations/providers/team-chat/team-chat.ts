import { originOf } from '../../transport/address-guard.ts'
import { provider } from '../provider.ts'
import { channelRoute } from './channel-route.ts'
import { deliverOne, deliverTogether } from './deliver.ts'
import type { ChatMemory } from './memory.ts'
import {
  apiUrl,
  DEFAULT_URL,
  faultOfUrl,
  HOOK_TARGET,
  prepareTeamChat,
  TeamChatConfigSchema,
  type TeamChatSettings,
  type TeamChatState,
  URL_SETTING,
} from './settings.ts'
import { listen } from './socket-mode.ts'
import { updateOpening } from './update.ts'

/** Slack, by the bot of an app or by an incoming webhook, and what takes webhooks as Slack does. */
export const teamChat = provider<TeamChatSettings, ChatMemory, Record<never, never>, TeamChatState>({
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
    form: TeamChatConfigSchema,
    prepare: prepareTeamChat,
    isComplete: ({ webhookUrl }, state) => webhookUrl !== undefined || state !== null,
  },
  addresses: {
    target: HOOK_TARGET,
    check(target, guard) {
      guard.checkUrl(target)
    },
    settingsOf: (target) => ({ webhookUrl: target }),
  },
  origin: ({ webhookUrl }, operator) => originOf(webhookUrl ?? apiUrl(operator)),
  deliver: deliverOne,
  deliverGroup: deliverTogether,
  syncStatus: updateOpening,
  listener: {
    lineOf: ({ appToken }) => appToken ?? null,
    run: listen,
  },
  routes: (tools) => [channelRoute(tools)],
})
