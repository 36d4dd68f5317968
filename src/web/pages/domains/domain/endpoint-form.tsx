import { Radio, Stack, Text, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { setEndpoint } from '#client/sdk.gen'
import type { Domain } from '#client/types.gen'
import { messages } from '../../../messages.ts'
import { Data } from '../../../parts/data.tsx'
import { useFields } from '../../../parts/fields.ts'
import { Form } from '../../../parts/form.tsx'
import { notices } from '../../../shell/notices.ts'

type Mode = Domain['routing']['mode']
const MODES: readonly Mode[] = ['default', 'custom', 'legacy']

/** The endpoint to which the script of a domain sends. */
export function EndpointForm({ domain: { id, routing, collect } }: { domain: Domain }) {
  const queries = useQueryClient()
  const t = messages.domains.settings
  const saved = { mode: routing.mode, hostname: collect?.hostname ?? '' }
  const { values, field, sending } = useFields(saved, async ({ mode, hostname }) => {
    const body = { mode, ...(mode === 'custom' && hostname ? { hostname } : {}) }
    await setEndpoint({ path: { id }, body, throwOnError: true })
    await queries.invalidateQueries({ queryKey: [{ _id: 'getDomain' }] })
    notices.say(t.saved)
  })
  return (
    <Form sending={sending} button={t.saveEndpoint} isAside>
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
