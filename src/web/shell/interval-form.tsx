import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { Data } from '../components/data-text.tsx'
import { formatSpan } from '../components/format.ts'
import { toLocalInput } from '../components/local-time.ts'
import { useOrganizationTimeZone, useTimeZone } from '../components/use-time-zone.ts'
import { messages } from '../messages.ts'
import { useSharedParams, useTimeRange } from '../url-state/use-search-params.ts'
import { checkInterval, type TypedInterval } from './interval.ts'

/** Start and end of the time range, in the time zone in which all pages show times. */
export function IntervalForm({ close }: { close(): void }) {
  const zone = useTimeZone()
  const shown = useTimeRange()
  const [, setShared] = useSharedParams()
  const [typed, type] = useState<TypedInterval>(() => ({
    from: toLocalInput(shown.from, zone),
    to: toLocalInput(Math.min(shown.to, Date.now()), zone),
  }))
  const [isChecked, check] = useState(false)
  const first = useRef<HTMLInputElement>(null)
  // The form loads after the popover has opened and taken the focus.
  useEffect(() => first.current?.focus(), [])
  const found = checkInterval(typed, zone, Date.now())
  const t = messages.timeRange
  const errorOf = (field: keyof TypedInterval) =>
    isChecked && found.wrong?.field === field ? t.wrong[field][found.wrong.reason] : undefined
  const submit = (event: FormEvent) => {
    event.preventDefault()
    check(true)
    if (found.wrong !== null) return
    setShared({ from: found.from, to: found.to })
    close()
  }
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="sm">
        {(['from', 'to'] as const).map((field) => (
          <TextInput
            key={field}
            type="datetime-local"
            label={t[field]}
            value={typed[field]}
            max={toLocalInput(Date.now(), zone)}
            error={errorOf(field)}
            onChange={({ currentTarget: { value } }) => type({ ...typed, [field]: value })}
            {...(field === 'from' && { ref: first })}
          />
        ))}
        <Text fz="xs" c="dimmed">
          {t.zone} <Data>{zone}</Data>
        </Text>
        <OrganizationZone zone={zone} interval={found.wrong === null ? found : null} />
        <Group gap="xs" justify="flex-end">
          <Button variant="default" size="xs" onClick={close}>
            {t.cancel}
          </Button>
          <Button type="submit" size="xs">
            {t.apply}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

/** The time zone of the organization, and the interval in it, if pages show times in another one. */
function OrganizationZone({ zone, interval }: { zone: string; interval: { from: number; to: number } | null }) {
  const organizationZone = useOrganizationTimeZone()
  if (organizationZone === null || organizationZone === zone) return null
  return (
    <Text fz="xs" c="dimmed">
      {messages.timeRange.organizationZone} <Data>{organizationZone}</Data>
      {interval && (
        <>
          {' · '}
          <Data>{formatSpan(interval.from, interval.to, organizationZone)}</Data>
        </>
      )}
    </Text>
  )
}
