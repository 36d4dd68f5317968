import { Paper, Stack, Text } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { getEscalationOptions, getEscalationQueryKey, listFormsOptions } from '#client/@tanstack/react-query.gen'
import { setEscalation } from '#client/sdk.gen'
import type { Escalation, Forms } from '#client/types.gen'
import { STALE_MS } from '../../api/queries.ts'
import { useHasRole } from '../../api/whoami.ts'
import { type EditedStep, escalationPaths } from '../../components/edited-channels.ts'
import { EscalationSteps } from '../../components/escalation-steps.tsx'
import { Form, useSubmit } from '../../components/form.tsx'
import { ManagedNotice } from '../../components/managed-by.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { RoleNotice } from '../../components/role-notice.tsx'
import { messages } from '../../messages.ts'
import { notices } from '../../state/notices.ts'
import { SettingsLayout } from './settings-layout.tsx'

/** `/settings/escalation`: the channels that are notified if nobody acknowledges an issue. */
export function EscalationPage() {
  const escalation = useQuery(getEscalationOptions())
  const forms = useQuery({ ...listFormsOptions(), staleTime: STALE_MS.dictionary })
  const t = messages.escalation
  return (
    <SettingsLayout name="escalation">
      <RoleNotice needs="admin" what={t.restrictedAction} />
      <ManagedNotice managedBy={escalation.data?.managedBy} />
      <Text c="dimmed" mb="md" maw="72ch">
        {t.intro} {t.ofAlerts}
      </Text>
      <QueryState query={escalation}>
        {(saved) => <QueryState query={forms}>{(forms) => <EscalationForm saved={saved} forms={forms} />}</QueryState>}
      </QueryState>
    </SettingsLayout>
  )
}

function EscalationForm({ saved, forms }: { saved: Escalation; forms: Forms }) {
  const may = useHasRole('admin')
  const queries = useQueryClient()
  const [steps, change] = useState<readonly EditedStep[]>(saved.steps)
  const t = messages.escalation
  const sending = useSubmit(escalationPaths(steps), async () => {
    const { data } = await setEscalation({ body: { steps } as Escalation })
    queries.setQueryData(getEscalationQueryKey(), data)
    notices.say(t.saved)
  })
  const fields = (
    <fieldset disabled={!may} className="plain">
      <Stack gap="md" maw={640}>
        {steps.length === 0 && <Text>{t.none}</Text>}
        <EscalationSteps steps={steps} change={change} forms={forms} errorOf={sending.errorOf} />
      </Stack>
    </fieldset>
  )
  return (
    <Paper maw={680}>
      {may ? (
        <Form submission={sending} button={messages.settings.save} isWide>
          {fields}
        </Form>
      ) : (
        fields
      )}
    </Paper>
  )
}
