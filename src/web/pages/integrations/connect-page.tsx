import { NativeSelect, Paper, Stack, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { listFormsOptions } from '#client/@tanstack/react-query.gen'
import { createIntegration } from '#client/sdk.gen'
import type { NewIntegration } from '#client/types.gen'
import { invalidate, STALE_MS } from '../../api/queries.ts'
import { useHasRole } from '../../api/whoami.ts'
import { Data, dataOption } from '../../components/data-text.tsx'
import { OneTimeSecret } from '../../components/one-time-secret.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { RoleNotice } from '../../components/role-notice.tsx'
import { useNavigateIfMounted } from '../../components/use-is-mounted.ts'
import { messages } from '../../messages.ts'
import { notices } from '../../state/notices.ts'
import { useSearchParams } from '../../url-state/use-search-params.ts'
import { IntegrationForm } from './integration-form.tsx'
import { CONNECT } from './queries.ts'

/** `/integrations/new`: connects a provider. */
export function ConnectPage() {
  const query = useQuery({ ...listFormsOptions(), staleTime: STALE_MS.dictionary })
  const [{ provider }, set] = useSearchParams(CONNECT)
  const may = useHasRole('admin')
  const [made, show] = useState<NewIntegration | null>(null)
  const t = messages.integrations
  return (
    <>
      <PageHeader title={t.connect} />
      <RoleNotice needs="admin" what={t.restrictedAction} />
      {may && made === null && (
        <QueryState query={query}>
          {({ integrations }) => {
            const form = integrations.find(({ kind }) => kind === provider) ?? integrations[0]
            return (
              <Paper maw={640}>
                <Stack gap="md">
                  <NativeSelect
                    label={t.provider}
                    value={form?.kind}
                    onChange={({ currentTarget }) => set({ provider: currentTarget.value })}
                    data={integrations.map(({ kind, title }) => dataOption(kind, title))}
                  />
                  {form && (
                    <>
                      <Text c="dimmed">
                        <Data>{form.help}</Data>
                      </Text>
                      <NewForm key={form.kind} form={form} show={show} />
                    </>
                  )}
                </Stack>
              </Paper>
            )
          }}
        </QueryState>
      )}
      {made && <OneTimeSecrets made={made} />}
    </>
  )
}

interface NewFormProps {
  form: Parameters<typeof IntegrationForm>[0]['form']
  show(made: NewIntegration): void
}

function NewForm({ form, show }: NewFormProps) {
  const goOn = useNavigateIfMounted()
  const send: Parameters<typeof IntegrationForm>[0]['send'] = async (body) => {
    const { data } = await createIntegration({ body })
    await invalidate('listIntegrations')
    notices.say(messages.integrations.wasConnected)
    if (data.secret ?? data.webhookUrl) show(data)
    else await goOn({ to: '/integrations/$id', params: { id: data.id } })
  }
  return <IntegrationForm form={form} saved={null} button={messages.integrations.connectButton} send={send} />
}

/** Secrets that are shown only once. */
function OneTimeSecrets({ made: { id, secret, webhookUrl } }: { made: NewIntegration }) {
  const navigate = useNavigate()
  const t = messages.integrations
  return (
    <Paper maw={640}>
      <Stack gap="md">
        {webhookUrl && <TextInput label={t.callUrl} description={t.callUrlHint} value={webhookUrl} readOnly />}
        {secret && (
          <OneTimeSecret
            label={t.secret}
            hint={t.secretHint}
            value={secret}
            button={messages.settings.keys.stored}
            close={() => void navigate({ to: '/integrations/$id', params: { id } })}
          />
        )}
      </Stack>
    </Paper>
  )
}
