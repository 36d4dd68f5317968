import { Button, Group, Paper, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { getIntegrationOptions, listFormsOptions } from '#client/@tanstack/react-query.gen'
import { deleteIntegration, replaceIntegration } from '#client/sdk.gen'
import type { IntegrationDetail } from '#client/types.gen'
import { invalidate, STALE_MS } from '../../api/queries.ts'
import { useHasRole } from '../../api/whoami.ts'
import { Breadcrumb } from '../../components/breadcrumb.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { ManagedNotice } from '../../components/managed-by.tsx'
import { NotFoundNotice } from '../../components/not-found-notice.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { RoleNotice } from '../../components/role-notice.tsx'
import { StatusMark } from '../../components/status-mark.tsx'
import { useNavigateIfMounted } from '../../components/use-is-mounted.ts'
import { messages } from '../../messages.ts'
import { notices } from '../../state/notices.ts'
import { IntegrationForm } from './integration-form.tsx'
import { DeliveriesLink, INTEGRATION_MARKS, TestButton, titleOf } from './integration-parts.tsx'
import { PROVIDER_ACTIONS } from './provider-actions.tsx'

/** `/integrations/{id}`: status and settings of an integration. */
export function IntegrationPage() {
  const id = useParams({ strict: false }).id ?? ''
  const query = useQuery(getIntegrationOptions({ path: { id } }))
  const t = messages.integrations
  const gone = (
    <NotFoundNotice sentence={t.notFound}>
      <Link to="/integrations">{t.toList}</Link>
    </NotFoundNotice>
  )
  return (
    <QueryState query={query} title={messages.shell.pages.integrations} notFound={gone}>
      {(integration) => <Detail integration={integration} />}
    </QueryState>
  )
}

function Detail({ integration }: { integration: IntegrationDetail }) {
  const { id, label, provider, status } = integration
  const may = useHasRole('admin')
  const [isLeaving, leave] = useState(false)
  const goOn = useNavigateIfMounted()
  const Action = PROVIDER_ACTIONS[provider]
  const t = messages.integrations
  const remove = async () => {
    await deleteIntegration({ path: { id } })
    await goOn({ to: '/integrations' })
    await invalidate('listIntegrations')
    notices.say(t.deleted(label))
  }
  return (
    <>
      <PageHeader
        title={label}
        isData
        above={<Breadcrumb to="/integrations">{messages.shell.pages.integrations}</Breadcrumb>}
      >
        <StatusMark status={INTEGRATION_MARKS[status]} word={t.statuses[status]} />
        <DeliveriesLink id={id} provider={provider} label={label} />
        {may && <TestButton id={id} label={label} />}
      </PageHeader>
      <RoleNotice needs="admin" what={t.restrictedAction} />
      <ManagedNotice managedBy={integration.managedBy} />
      <Stack gap="lg" maw={640}>
        <Text c="dimmed">{titleOf(provider)}</Text>
        {may ? <Settings integration={integration} /> : <Text>{t.hidden}</Text>}
        {may && Action && (
          <Paper>
            <Action id={id} />
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
      <ConfirmDialog
        close={() => leave(false)}
        confirmation={isLeaving ? { title: t.delete, sentence: t.deleteHint, button: t.delete, action: remove } : null}
      />
    </>
  )
}

function Settings({ integration: { id, label, provider, config, secrets } }: { integration: IntegrationDetail }) {
  const query = useQuery({ ...listFormsOptions(), staleTime: STALE_MS.dictionary })
  const t = messages.integrations
  const send: Parameters<typeof IntegrationForm>[0]['send'] = async (body) => {
    await replaceIntegration({ path: { id }, body })
    await invalidate('getIntegration', 'listIntegrations')
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
