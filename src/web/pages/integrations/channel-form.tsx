import { Stack, TextInput } from '@mantine/core'
import { useState } from 'react'
import { chooseOfficeChatChannel, chooseTeamChatChannel } from '#client/sdk.gen'
import type { IntegrationDetail } from '#client/types.gen'
import { queries } from '../../api/queries.ts'
import { Form, useSending } from '../../parts/form.tsx'
import { notices } from '../../shell/notices.ts'
import { words } from '../../words.ts'

/** Which channel of a chat messages go to. */
export function ChannelForm({ integration: { id, provider } }: { integration: IntegrationDetail }) {
  const [given, change] = useState({ channelId: '', channelName: '' })
  const said = words.integrations
  const choose = provider === 'office_chat' ? chooseOfficeChatChannel : chooseTeamChatChannel
  const sending = useSending(['channelId', 'channelName'], async () => {
    await choose({ path: { id }, body: given, throwOnError: true })
    await queries.invalidateQueries({ queryKey: [{ _id: 'getIntegration' }] })
    notices.say(said.channelChosen)
  })
  return (
    <Form sending={sending} button={said.chooseChannel}>
      <Stack gap="md">
        <TextInput
          label={said.channelId}
          value={given.channelId}
          onChange={({ currentTarget }) => change({ ...given, channelId: currentTarget.value })}
          error={sending.errorOf('channelId')}
          required
        />
        <TextInput
          label={said.channelName}
          value={given.channelName}
          onChange={({ currentTarget }) => change({ ...given, channelName: currentTarget.value })}
          error={sending.errorOf('channelName')}
          required
        />
      </Stack>
    </Form>
  )
}
