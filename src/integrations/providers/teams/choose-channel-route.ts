import { AppError } from '../../../core/error.ts'
import { ById, type Route, route } from '../../../http/route.ts'
import { CallFailed, retryAfterMs, retryAfterS } from '../../delivery-outcome.ts'
import { ChatChannelAnswer, ChatChannelInput, channelNameIn } from '../chat-channel.ts'
import type { ProviderTools } from '../connector.ts'
import { noteCard } from './adaptive-card.ts'
import { callService, reasonOf, type TeamsContext, type TeamsTokens } from './bot-connector.ts'
import { channelIdIn, type Destination, serviceFor, stateOf, type TeamsState } from './bot-installations.ts'
import type { TeamsMemory } from './post-card.ts'
import { type Bot, botOf, type TeamsSettings } from './teams-config.ts'

type Tools = ProviderTools<TeamsSettings, TeamsMemory, TeamsTokens, TeamsState>

/** The route that sets a bot's channel after posting a test message there. */
export const routes = (tools: Tools): Route[] => [
  route({
    id: 'chooseOfficeChatChannel',
    method: 'POST',
    path: '/v1/integrations/office_chat/{id}/channel',
    access: 'configure',
    tag: 'Integrations',
    summary: 'Choose the channel that a Teams bot posts to',
    description: 'Posts a test message to the channel first. If Teams rejects the message, nothing changes.',
    refusals: ['conflict', 'upstream'],
    asynchronous: true,
    params: ById,
    body: ChatChannelInput,
    answer: ChatChannelAnswer,
    async handle({ principal: { orgId }, params: { id }, body, signal }) {
      const name = channelNameIn(body.channelName)
      const context = tools.open({ orgId, id }, signal)
      const bot = botOf(context.settings)
      if (!bot) throw new AppError('conflict', 'this integration has no bot, and a workflow posts to a fixed channel')
      const channelId = channelIdIn(body.channelId)
      const known = knownTo(tools, context, orgId)
      const serviceUrl = serviceFor(known, channelId)
      if (serviceUrl === null)
        throw new AppError('conflict', 'the bot is not installed in any team: add it to one first')
      const channel: Destination = { id: channelId, name, serviceUrl }
      await tools.runAttempt(context, () => postTest(context, bot, channel, known))
      // Read the state again because activities may have arrived during the test.
      await context.saveState({ ...knownTo(tools, context, orgId), channel })
      return { ok: true, label: tools.complete(context, name) }
    },
    note: ({ body: { channelName } }) => ({ channelName }),
  }),
]

/**
 * The integration's known installations. If it has none because it was created after the bot was installed, uses the
 * installations known to another integration with the same bot.
 */
function knownTo(tools: Tools, { settings, state, signal }: TeamsContext, orgId: string): TeamsState {
  const own = stateOf(settings, state)
  if (own.teams.length > 0) return own
  const others = tools.integrations(orgId).map((id) => tools.open({ orgId, id }, signal).state)
  return { ...own, teams: others.map((other) => stateOf(settings, other).teams).find(({ length }) => length > 0) ?? [] }
}

async function postTest(
  context: TeamsContext,
  bot: Bot,
  { id, name, serviceUrl }: Destination,
  known: TeamsState,
): Promise<void> {
  const activity = noteCard('Tagwarden: test', `Notifications will be posted to ${name}.`, null)
  const body = JSON.stringify({ isGroup: true, channelData: { channel: { id } }, activity })
  const failed = (reason: string, waitS?: number) => new AppError('upstream', `the test post failed: ${reason}`, waitS)
  const request = { method: 'POST', serviceUrl, known, path: '/v3/conversations', body } as const
  const answer = await callService(context, bot, request).catch((error: unknown) => {
    if (error instanceof CallFailed) throw failed(error.message, error.retryAfterS(context.now()))
    throw error instanceof AppError ? failed(error.message, error.retryAfterS) : error
  })
  if (answer.status >= 200 && answer.status < 300) return
  throw failed(reasonOf(answer), retryAfterS(retryAfterMs(answer.headers['retry-after'], context.now())))
}
