import { NativeSelect, Stack, TextInput } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { listDomainsOptions } from '#client/@tanstack/react-query.gen'
import { postChange } from '#client/sdk.gen'
import { messages } from '../../messages.ts'
import { dataOption } from '../../parts/data.tsx'
import { useFields } from '../../parts/fields.ts'
import { Form } from '../../parts/form.tsx'
import { useIsHere } from '../../parts/is-here.ts'
import { notices } from '../../shell/notices.ts'

/** The source of changes that people record. */
const SOURCE = 'by_hand'

/** Records a change that no pipeline reported. */
export function RecordForm({ close }: { close(): void }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const { data } = useQuery(listDomainsOptions({ query: { limit: 200 } }))
  const domains = data?.domains ?? []
  const firstId = domains[0]?.id ?? ''
  const t = messages.changes
  const isHere = useIsHere()
  const { field, sending } = useFields({ domainId: '', title: '', ref: '' }, async ({ domainId, title, ref }) => {
    const body = { domainId: domainId || firstId, source: SOURCE, ref: ref || title, title }
    const answer = await postChange({ body, throwOnError: true })
    await queries.invalidateQueries({ queryKey: [{ _id: 'listChanges' }] })
    notices.say(t.recorded)
    if (!isHere()) return
    close()
    await navigate({ to: '/changes/$id', params: { id: answer.data.id } })
  })
  return (
    <Form sending={sending} button={t.save}>
      <Stack gap="md">
        <NativeSelect
          label={t.domain}
          {...field('domainId')}
          data={domains.map(({ id, name }) => dataOption(id, name))}
        />
        <TextInput label={t.title} {...field('title')} required maxLength={200} data-autofocus />
        <TextInput label={t.ref} description={t.refHint} {...field('ref')} maxLength={200} />
      </Stack>
    </Form>
  )
}
