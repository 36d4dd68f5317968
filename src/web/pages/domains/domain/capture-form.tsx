import { NativeSelect, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { getCaptureOptions, getCaptureQueryKey, getSnippetQueryKey } from '#client/@tanstack/react-query.gen'
import { setCapture } from '#client/sdk.gen'
import type { CaptureSettings, Domain } from '#client/types.gen'
import { queries } from '../../../api/queries.ts'
import { useHasRole } from '../../../api/whoami.ts'
import { Form, useSubmit } from '../../../components/form.tsx'
import { formatPercent } from '../../../components/format.ts'
import { LabelledSwitch } from '../../../components/labelled-switch.tsx'
import { QueryState } from '../../../components/query-state.tsx'
import { messages } from '../../../messages.ts'
import { notices } from '../../../state/notices.ts'
import { isApp } from './domain-platform.ts'

type Rate = CaptureSettings['sampleRate']['prod']
const RATES: readonly Rate[] = [1, 0.5, 0.25, 0.1, 0.05, 0.02, 0.01, 0]

/** Enables capture and sets the share of captured sessions, or of devices for apps. */
export function CaptureForm({ domain }: { domain: Domain }) {
  const query = useQuery(getCaptureOptions({ path: { id: domain.id } }))
  return <QueryState query={query}>{(settings) => <Fields domain={domain} settings={settings} />}</QueryState>
}

function Fields({ domain, settings }: { domain: Domain; settings: CaptureSettings }) {
  const { id } = domain
  const may = useHasRole('admin')
  const [given, change] = useState(settings)
  const t = messages.domains.settings
  const rateLabels = isApp(domain) ? t.deviceRates : t.sessionRates
  const sending = useSubmit(['enabled', 'sampleRate.prod', 'sampleRate.dev'], async () => {
    const { data } = await setCapture({ path: { id }, body: given })
    queries.setQueryData(getCaptureQueryKey({ path: { id } }), data)
    // The installation code of apps contains the sampling rates.
    await queries.invalidateQueries({ queryKey: getSnippetQueryKey({ path: { id } }) })
    notices.say(t.saved)
  })
  const rate = (env: 'prod' | 'dev') => (
    <NativeSelect
      label={rateLabels[env]}
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
      {!isApp(domain) && (
        <LabelledSwitch
          label={t.enabled}
          description={t.enabledHint}
          checked={given.enabled}
          onChange={({ currentTarget }) => change({ ...given, enabled: currentTarget.checked })}
          disabled={!may}
        />
      )}
      {rate('prod')}
      {rate('dev')}
    </Stack>
  )
  if (!may) return fields
  return (
    <Form submission={sending} button={isApp(domain) ? t.saveRates : t.saveCapture}>
      {fields}
    </Form>
  )
}
