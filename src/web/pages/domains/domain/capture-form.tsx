import { NativeSelect, Stack } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { getCaptureOptions, getCaptureQueryKey } from '#client/@tanstack/react-query.gen'
import { setCapture } from '#client/sdk.gen'
import type { CaptureSettings } from '#client/types.gen'
import { useMay } from '../../../api/who.ts'
import { Form, useSending } from '../../../parts/form.tsx'
import { formatPercent } from '../../../parts/format.ts'
import { QueryState } from '../../../parts/query-state.tsx'
import { Toggle } from '../../../parts/toggle.tsx'
import { notices } from '../../../shell/notices.ts'
import { words } from '../../../words.ts'

type Rate = CaptureSettings['sampleRate']['prod']
const RATES: readonly Rate[] = [1, 0.5, 0.25, 0.1, 0.05, 0.02, 0.01, 0]

/** Whether the script captures, and of which share of sessions. */
export function CaptureForm({ id }: { id: string }) {
  const query = useQuery(getCaptureOptions({ path: { id } }))
  return <QueryState query={query}>{(settings) => <Fields id={id} settings={settings} />}</QueryState>
}

function Fields({ id, settings }: { id: string; settings: CaptureSettings }) {
  const may = useMay('admin')
  const queries = useQueryClient()
  const [given, change] = useState(settings)
  const said = words.domains.settings
  const sending = useSending(['enabled', 'sampleRate.prod', 'sampleRate.dev'], async () => {
    const { data } = await setCapture({ path: { id }, body: given, throwOnError: true })
    queries.setQueryData(getCaptureQueryKey({ path: { id } }), data)
    notices.say(said.saved)
  })
  const rate = (env: 'prod' | 'dev') => (
    <NativeSelect
      label={env === 'prod' ? said.prodRate : said.devRate}
      value={String(given.sampleRate[env])}
      onChange={({ currentTarget }) =>
        change({ ...given, sampleRate: { ...given.sampleRate, [env]: Number(currentTarget.value) as Rate } })
      }
      data={RATES.map((value) => ({ value: String(value), label: formatPercent(value) }))}
      error={sending.errorOf(`sampleRate.${env}`)}
      disabled={!may}
    />
  )
  const fields = (
    <Stack gap="md">
      <Toggle
        label={said.enabled}
        description={said.enabledHint}
        checked={given.enabled}
        onChange={({ currentTarget }) => change({ ...given, enabled: currentTarget.checked })}
        disabled={!may}
      />
      {rate('prod')}
      {rate('dev')}
    </Stack>
  )
  if (!may) return fields
  return (
    <Form sending={sending} button={said.saveCapture}>
      {fields}
    </Form>
  )
}
