import { NativeSelect, Paper, Stack, TagsInput, Text, TextInput } from '@mantine/core'
import { createDomain } from '#client/sdk.gen'
import type { DomainInput } from '#client/types.gen'
import { invalidate } from '../../api/queries.ts'
import { useHasRole } from '../../api/whoami.ts'
import { Form } from '../../components/form.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { RoleNotice } from '../../components/role-notice.tsx'
import { useFormFields } from '../../components/use-form-fields.ts'
import { useNavigateIfMounted } from '../../components/use-is-mounted.ts'
import { messages } from '../../messages.ts'

/** `/domains/new`: creates a domain and opens its set-up page. */
export function AddDomainPage() {
  const may = useHasRole('admin')
  return (
    <>
      <PageHeader title={messages.domains.add} />
      <RoleNotice needs="admin" what={messages.domains.restrictedAction} />
      {may && (
        <Paper maw={560}>
          <AddForm />
        </Paper>
      )}
    </>
  )
}

const EMPTY: DomainInput = { name: '', system: 'global', monitoredUrls: [] }

function AddForm() {
  const goOn = useNavigateIfMounted()
  const t = messages.domains
  const { field, sending } = useFormFields(EMPTY, async (body) => {
    const { data } = await createDomain({ body })
    await invalidate('listDomains')
    await goOn({ to: '/domains/$id/setup', params: { id: data.id } })
  })
  return (
    <Form submission={sending} button={t.addButton}>
      <Stack gap="md">
        <Text c="dimmed">{t.addHint}</Text>
        <TextInput label={t.name} description={t.nameHint} {...field('name')} required maxLength={200} />
        <TagsInput label={t.urls} description={t.urlsHint} {...field('monitoredUrls')} />
        <NativeSelect
          label={t.system}
          {...field('system')}
          data={Object.entries(t.systems).map(([value, label]) => ({ value, label }))}
        />
      </Stack>
    </Form>
  )
}
