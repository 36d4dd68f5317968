import { NativeSelect, Paper, Stack, TagsInput, Text, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { createDomain } from '#client/sdk.gen'
import type { DomainInput } from '#client/types.gen'
import { useMay } from '../../api/who.ts'
import { messages } from '../../messages.ts'
import { useFields } from '../../parts/fields.ts'
import { Form } from '../../parts/form.tsx'
import { useGoOn } from '../../parts/is-here.ts'
import { MayLine } from '../../parts/may.tsx'
import { PageHead } from '../../parts/page-head.tsx'

/** `/domains/new`: creates a domain and opens its set-up page. */
export function AddDomainPage() {
  const may = useMay('admin')
  return (
    <>
      <PageHead title={messages.domains.add} />
      <MayLine needs="admin" what={messages.domains.restrictedAction} />
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
  const queries = useQueryClient()
  const goOn = useGoOn()
  const t = messages.domains
  const { field, sending } = useFields(EMPTY, async (body) => {
    const { data } = await createDomain({ body, throwOnError: true })
    await queries.invalidateQueries({ queryKey: [{ _id: 'listDomains' }] })
    await goOn({ to: '/domains/$id/setup', params: { id: data.id } })
  })
  return (
    <Form sending={sending} button={t.addButton}>
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
