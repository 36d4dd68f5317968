import { NativeSelect, Paper, Stack, TagsInput, Text, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { createDomain } from '#client/sdk.gen'
import type { DomainInput } from '#client/types.gen'
import { useMay } from '../../api/who.ts'
import { useFields } from '../../parts/fields.ts'
import { Form } from '../../parts/form.tsx'
import { useGoOn } from '../../parts/is-here.ts'
import { MayLine } from '../../parts/may.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { words } from '../../words.ts'

/** `/domains/new`: a name, and on to the code to paste. */
export function AddDomainPage() {
  const may = useMay('admin')
  return (
    <>
      <PageHead title={words.domains.add} />
      <MayLine needs="admin" what={words.domains.what} />
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
  const said = words.domains
  const { field, sending } = useFields(EMPTY, async (body) => {
    const { data } = await createDomain({ body, throwOnError: true })
    await queries.invalidateQueries({ queryKey: [{ _id: 'listDomains' }] })
    await goOn({ to: '/domains/$id/setup', params: { id: data.id } })
  })
  return (
    <Form sending={sending} button={said.addButton}>
      <Stack gap="md">
        <Text c="dimmed">{said.addHint}</Text>
        <TextInput label={said.name} description={said.nameHint} {...field('name')} required maxLength={200} />
        <TagsInput label={said.urls} description={said.urlsHint} {...field('monitoredUrls')} />
        <NativeSelect
          label={said.system}
          {...field('system')}
          data={Object.entries(said.systems).map(([value, label]) => ({ value, label }))}
        />
      </Stack>
    </Form>
  )
}
