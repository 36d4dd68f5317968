import { Button, Group, Paper, Stack, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { getIntegrationOptions, listFormsOptions } from '#client/@tanstack/react-query.gen'
import { chooseOfficeChatChannel, chooseTeamChatChannel, deleteIntegration, replaceIntegration } from '#client/sdk.gen'
import type { IntegrationDetail } from '#client/types.gen'
import { FRESH, queries } from '../../api/queries.ts'
import { useMay } from '../../api/who.ts'
import { messages } from '../../messages.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { useFields } from '../../parts/fields.ts'
import { Form } from '../../parts/form.tsx'
import { useGoOn } from '../../parts/is-here.ts'
import { MayLine } from '../../parts/may.tsx'
import { NoSuch } from '../../parts/no-such.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { QueryState } from '../../parts/query-state.tsx'
import { StatusMark } from '../../parts/status-mark.tsx'
import { notices } from '../../shell/notices.ts'
import { DeployForm } from './deploy-form.tsx'
import { IntegrationForm } from './integration-form.tsx'
import { INTEGRATION_MARKS, TestButton, titleOf } from './integration-parts.tsx'

/** `/integrations/{id}`: status and settings of an integration. */
export function IntegrationPage() {
  const id = useParams({ strict: false }).id ?? ''
  const query = useQuery(getIntegrationOptions({ path: { id } }))
  const t = messages.integrations
  const gone = (
    <NoSuch sentence={t.notFound}>
      <Link to="/integrations">{t.toList}</Link>
    </NoSuch>
  )
  return (
    <QueryState query={query} room={messages.shell.pages.integrations} gone={gone}>
      {(integration) => <Detail integration={integration} />}
    </QueryState>
  )
}

/** Providers whose channel is selected after connecting. */
const CHATS = ['team_chat', 'office_chat']

function Detail({ integration }: { integration: IntegrationDetail }) {
  const { id, label, provider, status } = integration
  const may = useMay('admin')
  const [isLeaving, leave] = useState(false)
  const goOn = useGoOn()
  const t = messages.integrations
  const remove = async () => {
    await deleteIntegration({ path: { id }, throwOnError: true })
    await goOn({ to: '/integrations' })
    await queries.invalidateQueries({ queryKey: [{ _id: 'listIntegrations' }] })
    notices.say(t.deleted(label))
  }
  return (
    <>
      <PageHead title={label} isData>
        <StatusMark status={INTEGRATION_MARKS[status]} word={t.statuses[status]} />
        {may && <TestButton id={id} label={label} />}
      </PageHead>
      <MayLine needs="admin" what={t.restrictedAction} />
      <Stack gap="lg" maw={640}>
        <Text c="dimmed">{titleOf(provider)}</Text>
        {may ? <Settings integration={integration} /> : <Text>{t.hidden}</Text>}
        {may && CHATS.includes(provider) && (
          <Paper>
            <ChannelForm integration={integration} />
          </Paper>
        )}
        {may && provider === 'tag_manager' && (
          <Paper>
            <DeployForm />
          </Paper>
        )}
        {may && (
          <Group>
            <Button variant="default" onClick={() => leave(true)}>
              {t.delete}
            </Button>
          </Group>
        )}
      </Stack>
      <Confirm
        close={() => leave(false)}
        asks={isLeaving ? { title: t.delete, sentence: t.deleteHint, button: t.delete, act: remove } : null}
      />
    </>
  )
}

function Settings({ integration: { id, label, provider, config, secrets } }: { integration: IntegrationDetail }) {
  const query = useQuery({ ...listFormsOptions(), staleTime: FRESH.dictionary })
  const t = messages.integrations
  const send: Parameters<typeof IntegrationForm>[0]['send'] = async (body) => {
    await replaceIntegration({ path: { id }, body, throwOnError: true })
    await queries.invalidateQueries({ queryKey: [{ _id: 'getIntegration' }] })
    await queries.invalidateQueries({ queryKey: [{ _id: 'listIntegrations' }] })
    notices.say(t.saved)
  }
  return (
    <Paper>
      <QueryState query={query}>
        {({ integrations }) => {
          const form = integrations.find(({ kind }) => kind === provider)
          return (
            form && (
              <IntegrationForm
                form={form}
                saved={{ label, config: config ?? {}, secrets: secrets ?? [] }}
                button={t.save}
                send={send}
              />
            )
          )
        }}
      </QueryState>
    </Paper>
  )
}

/** Selects the Slack or Microsoft Teams channel for messages. */
function ChannelForm({ integration: { id, provider } }: { integration: IntegrationDetail }) {
  const t = messages.integrations
  const choose = provider === 'office_chat' ? chooseOfficeChatChannel : chooseTeamChatChannel
  const { field, sending } = useFields({ channelId: '', channelName: '' }, async (body) => {
    await choose({ path: { id }, body, throwOnError: true })
    await queries.invalidateQueries({ queryKey: [{ _id: 'getIntegration' }] })
    notices.say(t.channelSaved)
  })
  return (
    <Form sending={sending} button={t.saveChannel}>
      <Stack gap="md">
        <TextInput label={t.channelId} {...field('channelId')} required />
        <TextInput label={t.channelName} {...field('channelName')} required />
      </Stack>
    </Form>
  )
}
