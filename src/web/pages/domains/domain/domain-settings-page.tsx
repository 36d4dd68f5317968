import { Button, Paper, Radio, Stack, Text, TextInput, Title } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { deleteDomain, renameDomain, rotateToken, setEndpoint } from '#client/sdk.gen'
import type { Domain } from '#client/types.gen'
import { invalidate, queries } from '../../../api/queries.ts'
import { useHasRole } from '../../../api/whoami.ts'
import { Data } from '../../../components/data-text.tsx'
import { Form, useSubmit } from '../../../components/form.tsx'
import { RoleNotice } from '../../../components/role-notice.tsx'
import { useFormFields } from '../../../components/use-form-fields.ts'
import { useNavigateIfMounted } from '../../../components/use-is-mounted.ts'
import { messages } from '../../../messages.ts'
import { notices } from '../../../state/notices.ts'
import { CaptureForm } from './capture-form.tsx'
import { DomainLayout } from './domain-layout.tsx'

type Mode = Domain['routing']['mode']
const MODES: readonly Mode[] = ['default', 'custom', 'legacy']

/** `/domains/{id}/settings`: name, endpoint, capture, token and deletion. */
export function DomainSettingsPage() {
  return <DomainLayout part="settings">{(domain) => <Settings domain={domain} />}</DomainLayout>
}

function Settings({ domain }: { domain: Domain }) {
  const may = useHasRole('admin')
  const t = messages.domains.settings
  return (
    <Stack gap="lg" maw={560} className="column">
      <RoleNotice needs="admin" what={messages.domains.restrictedAction} />
      {domain.system !== 'server' && (
        <Part title={t.capture}>
          <CaptureForm domain={domain} />
        </Part>
      )}
      {may && (
        <>
          <Part title={t.rename}>
            <NameForm domain={domain} />
          </Part>
          <Part title={t.endpoint}>
            <EndpointForm domain={domain} />
          </Part>
          <Part title={t.token}>
            <Token domain={domain} />
          </Part>
          <Part title={t.remove}>
            <DeleteForm domain={domain} />
          </Part>
        </>
      )}
    </Stack>
  )
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Paper component="section">
      <Title order={2} mb="md">
        {title}
      </Title>
      {children}
    </Paper>
  )
}

function useRefresh(): () => Promise<void> {
  return async () => {
    await invalidate('getDomain', 'listDomains')
  }
}

function NameForm({ domain }: { domain: Domain }) {
  const refresh = useRefresh()
  const t = messages.domains
  const { field, sending } = useFormFields({ name: domain.name }, async (body) => {
    await renameDomain({ path: { id: domain.id }, body })
    await refresh()
    notices.say(t.settings.renamed)
  })
  return (
    <Form submission={sending} button={t.settings.rename} isAside>
      <TextInput label={t.name} {...field('name')} required maxLength={200} />
    </Form>
  )
}

function Token({ domain }: { domain: Domain }) {
  const refresh = useRefresh()
  const t = messages.domains.settings
  const sending = useSubmit([], async () => {
    await rotateToken({ path: { id: domain.id } })
    await refresh()
    notices.say(t.rotated)
  })
  return (
    <Form submission={sending} button={t.rotate} isAside>
      <TextInput label={t.token} description={t.tokenHint} value={domain.token} readOnly translate="no" />
      <Text c="dimmed" fz="sm">
        {t.rotateHint}
      </Text>
    </Form>
  )
}

/** Requires typing the domain's name, since deleting a domain deletes its data. */
function DeleteForm({ domain }: { domain: Domain }) {
  const [typed, type] = useState('')
  const goOn = useNavigateIfMounted()
  const t = messages.domains.settings
  const { submit, isSending, refusal } = useSubmit([], async () => {
    await deleteDomain({ path: { id: domain.id } })
    await goOn({ to: '/domains' })
    await queries.invalidateQueries()
    notices.say(t.removed(domain.name))
  })
  return (
    <form onSubmit={submit}>
      <Stack gap="md" align="flex-start">
        <Text>
          {t.removeHint} <Data>{domain.name}</Data>
        </Text>
        <TextInput
          label={messages.domains.name}
          value={typed}
          onChange={({ currentTarget }) => type(currentTarget.value)}
          error={refusal}
          autoComplete="off"
        />
        <Button type="submit" className="destroys" loading={isSending} disabled={typed !== domain.name}>
          {t.remove}
        </Button>
      </Stack>
    </form>
  )
}

/** The endpoint to which a domain's script sends events. */
function EndpointForm({ domain: { id, routing, collect } }: { domain: Domain }) {
  const t = messages.domains.settings
  const saved = { mode: routing.mode, hostname: collect?.hostname ?? '' }
  const { values, field, sending } = useFormFields(saved, async ({ mode, hostname }) => {
    const body = { mode, ...(mode === 'custom' && hostname ? { hostname } : {}) }
    await setEndpoint({ path: { id }, body })
    await invalidate('getDomain')
    notices.say(t.saved)
  })
  return (
    <Form submission={sending} button={t.saveEndpoint} isAside>
      <Radio.Group aria-label={t.endpoint} {...field('mode')}>
        <Stack gap="sm">
          {MODES.map((one) => (
            <Radio key={one} value={one} label={t.modes[one]} />
          ))}
        </Stack>
      </Radio.Group>
      {values.mode === 'custom' && <TextInput label={t.hostname} description={t.hostnameHint} {...field('hostname')} />}
      <Text fz="sm" c="dimmed">
        <Data>{routing.collectEndpoint}</Data>
        {collect && (
          <>
            <br />
            <Data>{collect.hostname}</Data> {t.dns[collect.status]}
          </>
        )}
      </Text>
    </Form>
  )
}
