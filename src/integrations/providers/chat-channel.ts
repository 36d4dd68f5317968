import { AppError } from '../../core/error.ts'
import { Closed, Text, Type } from '../../core/schema.ts'
import { oneLine } from '../../core/text.ts'

/** Request to set the channel that a bot posts to, for Slack and Teams. */
export const ChatChannelInput = Closed(
  {
    channelId: Text(1, 1000, {
      description:
        'Channel id. In Slack, it is shown at the bottom of the channel details. For Teams, pass the link from "Get link to channel" or the id it contains.',
      examples: ['C024BE91L', '19:2fbf6e0d8d2b4f1c9d0d3a6f1c5e7a90@thread.tacv2'],
    }),
    channelName: Text(1, 200, {
      description:
        'Channel name. Its first 100 characters become the label of an integration that still has the default label.',
    }),
  },
  { $id: 'ChatChannelInput', examples: [{ channelId: 'C024BE91L', channelName: '#web-analytics' }] },
)

/** Response after a test message was posted to the channel. */
export const ChatChannelAnswer = Closed(
  { ok: Type.Boolean(), label: Type.String({ description: 'Label of the integration' }) },
  { $id: 'ChatChannelAnswer', examples: [{ ok: true, label: '#web-analytics' }] },
)

const MAX_LABEL = 100

/** Returns the channel name in a form that fits a label. Fails with `invalid` if it has no visible characters. */
export function channelNameIn(text: string): string {
  const name = oneLine(text, MAX_LABEL)
  if (name === '') throw new AppError('invalid', 'channelName: must contain a visible character')
  return name
}
