import { MultiSelect, Select, Stack, TagsInput, Text, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { listDomainsOptions, listProjectsOptions } from '#client/@tanstack/react-query.gen'
import { createMaintenance, previewMaintenance, replaceMaintenance } from '#client/sdk.gen'
import type { Maintenance, MaintenanceTimes } from '#client/types.gen'
import { MAX_PAGE_SIZE } from '../../../contract/limits.ts'
import { Form } from '../../components/form.tsx'
import { formatMoment } from '../../components/format.ts'
import { fromLocalInput, timeZones, toLocalInput } from '../../components/local-time.ts'
import { useFormFields } from '../../components/use-form-fields.ts'
import { useIsMounted } from '../../components/use-is-mounted.ts'
import { useNow } from '../../components/use-now.ts'
import { useTimeZone } from '../../components/use-time-zone.ts'
import { messages } from '../../messages.ts'
import { notices } from '../../state/notices.ts'
import { type Frequency, frequencyOf, ruleOf } from './recurrence-rules.ts'

const HOUR_MS = 3_600_000
const PAUSE_MS = 400
const FREQUENCIES: readonly Frequency[] = ['never', 'daily', 'weekdays', 'weekly', 'monthly', 'custom']

interface MaintenanceFormProps {
  /** Null for a new window. */
  window: Maintenance | null
  close(): void
  refresh(): Promise<void>
}

/** The fields of a maintenance window. Times are entered in the window's time zone. */
export function MaintenanceForm({ window, close, refresh }: MaintenanceFormProps) {
  const page = { query: { limit: MAX_PAGE_SIZE } }
  const domains = useQuery(listDomainsOptions(page)).data?.domains ?? []
  const projects = useQuery(listProjectsOptions(page)).data?.projects ?? []
  const t = messages.maintenance
  const isHere = useIsMounted()
  const initial = useInitialValues(window)
  const { values, set, field, sending } = useFormFields(initial, async (filled) => {
    const { name, domainIds, projectId, vendors } = filled
    const body = {
      name,
      domainIds: domainIds.length > 0 ? domainIds : null,
      projectId,
      vendors: vendors.length > 0 ? vendors : null,
      ...timesOf(filled),
    }
    if (window) await replaceMaintenance({ path: { id: window.id }, body })
    else await createMaintenance({ body })
    await refresh()
    notices.say(window ? t.saved(name) : t.created(name))
    if (isHere()) close()
  })
  const repeat = (chosen: string | null) => {
    const repeats = (chosen ?? 'never') as Frequency
    // A custom rule starts from the rule that was chosen before.
    set({ repeats, rrule: repeats === 'custom' ? (ruleOf(values.repeats, values.from) ?? values.rrule) : values.rrule })
  }
  return (
    <Form submission={sending} button={messages.settings.save}>
      <Stack gap="md">
        <TextInput label={messages.settings.fields.name} {...field('name')} required maxLength={100} data-autofocus />
        <TextInput label={t.from} type="datetime-local" {...field('from')} required />
        <TextInput label={t.to} type="datetime-local" {...field('to')} required />
        <Select
          label={t.timezone}
          {...field('timezone')}
          data={timeZones(values.timezone)}
          allowDeselect={false}
          searchable
        />
        <Select
          label={t.repeats}
          value={values.repeats}
          onChange={repeat}
          data={FREQUENCIES.map((value) => ({ value, label: t.frequencies[value] }))}
          allowDeselect={false}
          error={values.repeats === 'custom' ? undefined : sending.errorOf('rrule')}
        />
        {values.repeats === 'custom' && (
          <TextInput label={t.rule} description={t.ruleHint} {...field('rrule')} required maxLength={500} />
        )}
        <NextOccurrences times={timesOf(values)} />
        <MultiSelect
          label={t.domains}
          placeholder={values.domainIds.length === 0 ? t.any : ''}
          {...field('domainIds')}
          data={domains.map(({ id, name }) => ({ value: id, label: name }))}
          searchable
        />
        <Select
          label={t.project}
          placeholder={t.any}
          {...field('projectId')}
          data={projects.map(({ id, name }) => ({ value: id, label: name }))}
          searchable
          clearable
        />
        <TagsInput label={t.vendors} placeholder={values.vendors.length === 0 ? t.any : ''} {...field('vendors')} />
      </Stack>
    </Form>
  )
}

const timesOf = ({ from, to, timezone, repeats, rrule }: ReturnType<typeof useInitialValues>) => ({
  from: fromLocalInput(from, timezone),
  to: fromLocalInput(to, timezone),
  rrule: repeats === 'custom' ? rrule : ruleOf(repeats, from),
  timezone,
})

/** The next occurrences of the window being edited; nothing while its times are invalid. */
function NextOccurrences({ times }: { times: MaintenanceTimes }) {
  // Compared as strings, so that a request is sent only after a change.
  const [entered] = useDebouncedValue(JSON.stringify(times), PAUSE_MS)
  const body = JSON.parse(entered) as MaintenanceTimes
  const { data, isError } = useQuery({
    queryKey: [{ _id: 'previewMaintenance', body }],
    queryFn: async ({ signal }) => (await previewMaintenance({ body, signal })).data,
    placeholderData: keepPreviousData,
    retry: false,
  })
  if (!data || isError) return null
  const t = messages.maintenance
  return (
    <div role="status">
      <Text fz="sm" fw={600}>
        {t.when}
      </Text>
      {data.nextOccurrences.length === 0 && <Text fz="sm">{t.over}</Text>}
      {data.nextOccurrences.map(({ from, to }) => (
        <Text key={from} fz="sm" className="figure">
          {`${formatMoment(from, times.timezone)} – ${formatMoment(to, times.timezone)}`}
        </Text>
      ))}
    </div>
  )
}

function useInitialValues(window: Maintenance | null) {
  const own = useTimeZone()
  const now = useNow()
  const timezone = window?.timezone ?? own
  const nextHour = (Math.floor(now / HOUR_MS) + 1) * HOUR_MS
  const from = toLocalInput(window?.from ?? nextHour, timezone)
  return {
    name: window?.name ?? '',
    domainIds: window?.domainIds ?? [],
    projectId: window?.projectId ?? null,
    vendors: window?.vendors ?? [],
    from,
    to: toLocalInput(window?.to ?? nextHour + 2 * HOUR_MS, timezone),
    timezone,
    repeats: frequencyOf(window?.rrule ?? null, from),
    rrule: window?.rrule ?? '',
  }
}
