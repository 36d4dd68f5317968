import { AppError } from '../../../core/error.ts'
import { ById, type Route, route } from '../../../http/route.ts'
import { CallFailed, retryAfterS } from '../../delivery-outcome.ts'
import { type Message, testMessage } from '../../message/message.ts'
import { ChatChannelAnswer, ChatChannelInput, channelNameIn } from '../chat-channel.ts'
import type { ProviderTools } from '../connector.ts'
import { renderOne } from './render-message.ts'
import { callMethod, type SlackAnswer } from './slack-api.ts'
import type { SlackSettings, SlackState } from './slack-config.ts'
import type { SlackContext, SlackMemory } from './slack-context.ts'
import { Refused } from './slack-errors.ts'

type Tools = ProviderTools<SlackSettings, SlackMemory, Record<never, never>, SlackState>

/** Route that sets the channel that a bot posts to, after posting a test message there. */
export function channelRoute(tools: Tools): Route {
  return route({
    id: 'chooseTeamChatChannel',
    method: 'POST',
    path: '/v1/integrations/team_chat/{id}/channel',
    access: 'configure',
    tag: 'Integrations',
    summary: 'Choose the channel that a Slack bot posts to',
    description: 'Posts a test message to the channel first. If Slack rejects the message, nothing changes.',
    refusals: ['conflict', 'upstream'],
    asynchronous: true,
    params: ById,
    body: ChatChannelInput,
    answer: ChatChannelAnswer,
    async handle({ principal: { orgId }, params: { id }, body: { channelId, channelName }, signal }) {
      const name = channelNameIn(channelName)
      const context = tools.open({ orgId, id }, signal)
      if (context.settings.botToken === undefined) {
        throw new AppError('conflict', 'this integration has no bot, and an incoming webhook posts to a fixed channel')
      }
      const message = testMessage({ at: context.now(), publicUrl: tools.publicUrl, label: name })
      const state = await tools.runAttempt(context, () => postTest(context, channelId, message))
      await context.saveState(state)
      return { ok: true, label: tools.complete(context, name) }
    },
    note: ({ body: { channelId, channelName } }) => ({ channelId, channelName }),
  })
}

async function postTest(context: SlackContext, channel: string, message: Message): Promise<SlackState> {
  const { text, blocks } = renderOne(message, null)
  try {
    return stateOf(
      await callMethod(context, 'chat.postMessage', { channel, text, blocks, unfurl_links: false }),
      channel,
    )
  } catch (error) {
    if (error instanceof Refused) {
      throw new AppError('upstream', `the test post failed: ${error.message}`, retryAfterS(error.retryAfterMs))
    }
    if (error instanceof CallFailed) {
      throw new AppError('upstream', `the test post failed: ${error.message}`, error.retryAfterS(context.now()))
    }
    throw error
  }
}

/** Returns the state to save. Slack also accepts a channel name in requests, and its response contains the id. */
function stateOf({ channel, message }: SlackAnswer, asked: string): SlackState {
  const team = (message as { team?: unknown } | undefined)?.team
  return {
    channelId: typeof channel === 'string' ? channel : asked,
    teamId: typeof team === 'string' ? team : null,
  }
}
