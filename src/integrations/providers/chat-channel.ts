import { AppError } from '../../core/error.ts'
import { Closed, Text, Type } from '../../core/schema.ts'
import { oneLine } from '../message/one-line.ts'

/** The channel that a bot is to post to: every chat is asked alike. */
export const ChatChannelInput = Closed(
  {
    channelId: Text(1, 1000, {
      description:
        'The channel\'s id: in Slack at the end of its details, in Teams what "Get link to channel" gives, or the id in it',
      examples: ['C024BE91L', '19:2fbf6e0d8d2b4f1c9d0d3a6f1c5e7a90@thread.tacv2'],
    }),
    channelName: Text(1, 200, { description: 'The first 100 characters become the label where that is the default' }),
  },
  { $id: 'ChatChannelInput', examples: [{ channelId: 'C024BE91L', channelName: '#web-analytics' }] },
)

/** What is answered when a test was posted there. */
export const ChatChannelAnswer = Closed(
  { ok: Type.Boolean(), label: Type.String({ description: "The integration's label" }) },
  { $id: 'ChatChannelAnswer', examples: [{ ok: true, label: '#web-analytics' }] },
)

const MAX_LABEL = 100

/** A channel's name as it may stand in a label. Fails with `invalid` when nothing of it can be seen. */
export function channelNameIn(text: string): string {
  const name = oneLine(text, MAX_LABEL)
  if (name === '') throw new AppError('invalid', 'channelName: must have something that can be seen')
  return name
}
