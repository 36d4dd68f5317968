import { NativeSelect, Paper, Stack, TagsInput, Text, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { createDomain } from '#client/sdk.gen'
import type { DomainInput } from '#client/types.gen'
import { useMay } from '../../api/who.ts'
import { Form, useSending } from '../../parts/form.tsx'
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

function AddForm() {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [given, change] = useState<Required<Pick<DomainInput, 'name' | 'system' | 'monitoredUrls'>>>({
    ...{ name: '', system: 'global', monitoredUrls: [] },
  })
  const said = words.domains
  const sending = useSending(['name', 'system', 'monitoredUrls'], async () => {
    const { data } = await createDomain({ body: given, throwOnError: true })
    await queries.invalidateQueries({ queryKey: [{ _id: 'listDomains' }] })
    await navigate({ to: '/domains/$id/setup', params: { id: data.id } })
  })
  return (
    <Form sending={sending} button={said.addButton}>
      <Stack gap="md">
        <Text c="dimmed">{said.addHint}</Text>
        <TextInput
          label={said.name}
          description={said.nameHint}
          value={given.name}
          onChange={({ currentTarget }) => change({ ...given, name: currentTarget.value })}
          error={sending.errorOf('name')}
          required
          maxLength={200}
        />
        <TagsInput
          label={said.urls}
          description={said.urlsHint}
          value={given.monitoredUrls}
          onChange={(monitoredUrls) => change({ ...given, monitoredUrls })}
          error={sending.errorOf('monitoredUrls')}
        />
        <NativeSelect
          label={said.system}
          value={given.system}
          onChange={({ currentTarget }) => change({ ...given, system: currentTarget.value as typeof given.system })}
          data={Object.entries(said.systems).map(([value, label]) => ({ value, label }))}
          error={sending.errorOf('system')}
        />
      </Stack>
    </Form>
  )
}
