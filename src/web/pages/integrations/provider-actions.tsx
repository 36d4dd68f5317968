import { Stack, TextInput } from '@mantine/core'
import type { ComponentType } from 'react'
import { chooseOfficeChatChannel, chooseTeamChatChannel } from '#client/sdk.gen'
import type { ProviderType } from '../../../contract/products.ts'
import { invalidate } from '../../api/queries.ts'
import { Form } from '../../components/form.tsx'
import { useFormFields } from '../../components/use-form-fields.ts'
import { messages } from '../../messages.ts'
import { notices } from '../../state/notices.ts'
import { DeployForm } from './deploy-tag-form.tsx'

/** Additional actions on the page of an integration, for the providers that have some. */
export const PROVIDER_ACTIONS: Readonly<Partial<Record<ProviderType, ComponentType<{ id: string }>>>> = {
  team_chat: ({ id }) => <ChannelForm id={id} choose={chooseTeamChatChannel} />,
  office_chat: ({ id }) => <ChannelForm id={id} choose={chooseOfficeChatChannel} />,
  tag_manager: DeployForm,
}

/** Selects the channel for messages. */
function ChannelForm({ id, choose }: { id: string; choose: typeof chooseTeamChatChannel }) {
  const t = messages.integrations
  const { field, sending } = useFormFields({ channelId: '', channelName: '' }, async (body) => {
    await choose({ path: { id }, body })
    await invalidate('getIntegration')
    notices.say(t.channelSaved)
  })
  return (
    <Form submission={sending} button={t.saveChannel}>
      <Stack gap="md">
        <TextInput label={t.channelId} {...field('channelId')} required />
        <TextInput label={t.channelName} {...field('channelName')} required />
      </Stack>
    </Form>
  )
}
