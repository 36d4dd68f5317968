import { Radio, Stack, Text, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { setEndpoint } from '#client/sdk.gen'
import type { Domain } from '#client/types.gen'
import { Data } from '../../../parts/data.tsx'
import { useFields } from '../../../parts/fields.ts'
import { Form } from '../../../parts/form.tsx'
import { notices } from '../../../shell/notices.ts'
import { words } from '../../../words.ts'

type Mode = Domain['routing']['mode']
const MODES: readonly Mode[] = ['default', 'custom', 'legacy']

/** Where the script of a domain sends to. */
export function EndpointForm({ domain: { id, routing, collect } }: { domain: Domain }) {
  const queries = useQueryClient()
  const said = words.domains.settings
  const saved = { mode: routing.mode, hostname: collect?.hostname ?? '' }
  const { values, field, sending } = useFields(saved, async ({ mode, hostname }) => {
    const body = { mode, ...(mode === 'custom' && hostname ? { hostname } : {}) }
    await setEndpoint({ path: { id }, body, throwOnError: true })
    await queries.invalidateQueries({ queryKey: [{ _id: 'getDomain' }] })
    notices.say(said.saved)
  })
  return (
    <Form sending={sending} button={said.saveEndpoint} isAside>
      <Radio.Group aria-label={said.endpoint} {...field('mode')}>
        <Stack gap="sm">
          {MODES.map((one) => (
            <Radio key={one} value={one} label={said.modes[one]} />
          ))}
        </Stack>
      </Radio.Group>
      {values.mode === 'custom' && (
        <TextInput label={said.hostname} description={said.hostnameHint} {...field('hostname')} />
      )}
      <Text fz="sm" c="dimmed">
        <Data>{routing.collectEndpoint}</Data>
        {collect && (
          <>
            <br />
            <Data>{collect.hostname}</Data> {said.dns[collect.status]}
          </>
        )}
      </Text>
    </Form>
  )
}
