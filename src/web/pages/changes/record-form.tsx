import { NativeSelect, Stack, TextInput } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { listDomainsOptions } from '#client/@tanstack/react-query.gen'
import { postChange } from '#client/sdk.gen'
import { dataOption } from '../../parts/data.tsx'
import { Form, useSending } from '../../parts/form.tsx'
import { notices } from '../../shell/notices.ts'
import { words } from '../../words.ts'

/** Who the change comes from when a person records it. */
const SOURCE = 'by_hand'

/** Tells of a change that no pipeline told of. */
export function RecordForm({ close }: { close(): void }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const { data } = useQuery(listDomainsOptions({ query: { limit: 200 } }))
  const domains = data?.domains ?? []
  const [given, change] = useState({ domainId: '', title: '', ref: '' })
  const domainId = given.domainId || (domains[0]?.id ?? '')
  const said = words.changes
  const sending = useSending(['domainId', 'title', 'ref'], async () => {
    const body = { domainId, source: SOURCE, ref: given.ref || given.title, title: given.title }
    const answer = await postChange({ body, throwOnError: true })
    await queries.invalidateQueries({ queryKey: [{ _id: 'listChanges' }] })
    notices.say(said.recorded)
    close()
    await navigate({ to: '/changes/$id', params: { id: answer.data.id } })
  })
  return (
    <Form sending={sending} button={said.save}>
      <Stack gap="md">
        <NativeSelect
          label={said.domain}
          value={domainId}
          onChange={({ currentTarget }) => change({ ...given, domainId: currentTarget.value })}
          data={domains.map(({ id, name }) => dataOption(id, name))}
          error={sending.errorOf('domainId')}
        />
        <TextInput
          label={said.title}
          value={given.title}
          onChange={({ currentTarget }) => change({ ...given, title: currentTarget.value })}
          error={sending.errorOf('title')}
          required
          maxLength={200}
          data-autofocus
        />
        <TextInput
          label={said.ref}
          description={said.refHint}
          value={given.ref}
          onChange={({ currentTarget }) => change({ ...given, ref: currentTarget.value })}
          error={sending.errorOf('ref')}
          maxLength={200}
        />
      </Stack>
    </Form>
  )
}
