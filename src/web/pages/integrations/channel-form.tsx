import { Stack, TextInput } from '@mantine/core'
import { chooseOfficeChatChannel, chooseTeamChatChannel } from '#client/sdk.gen'
import type { IntegrationDetail } from '#client/types.gen'
import { queries } from '../../api/queries.ts'
import { messages } from '../../messages.ts'
import { useFields } from '../../parts/fields.ts'
import { Form } from '../../parts/form.tsx'
import { notices } from '../../shell/notices.ts'

/** Selects the Slack or Microsoft Teams channel for messages. */
export function ChannelForm({ integration: { id, provider } }: { integration: IntegrationDetail }) {
  const t = messages.integrations
  const choose = provider === 'office_chat' ? chooseOfficeChatChannel : chooseTeamChatChannel
  const { field, sending } = useFields({ channelId: '', channelName: '' }, async (body) => {
    await choose({ path: { id }, body, throwOnError: true })
    await queries.invalidateQueries({ queryKey: [{ _id: 'getIntegration' }] })
    notices.say(t.channelChosen)
  })
  return (
    <Form sending={sending} button={t.chooseChannel}>
      <Stack gap="md">
        <TextInput label={t.channelId} {...field('channelId')} required />
        <TextInput label={t.channelName} {...field('channelName')} required />
      </Stack>
    </Form>
  )
}
