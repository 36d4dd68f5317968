import { Button, Group, NativeSelect, TextInput } from '@mantine/core'
import { dataOption } from '../../components/data-text.tsx'
import { formatDay } from '../../components/format.ts'
import { fromLocalInput, toLocalInput } from '../../components/local-time.ts'
import { useTimeZone } from '../../components/use-time-zone.ts'
import { messages } from '../../messages.ts'
import type { SetValues } from '../../url-state/use-search-params.ts'
import { type COMPARE, type CompareValues, PAIRS, type Pair, recentPeriods } from './compare-sides.ts'

interface Release {
  version: number
  firstSeenAt: number
}

interface FieldsProps {
  values: CompareValues
  set: SetValues<typeof COMPARE>
  domains: readonly { id: string; name: string }[]
  releases: readonly Release[]
  now: number
}

/** The fields that choose what is compared. */
export function CompareFields({ values, set, domains, releases, now }: FieldsProps) {
  const t = messages.compare
  const { by } = values
  return (
    <search aria-label={messages.components.filters}>
      <Group gap="md" align="flex-end" mb="md">
        <NativeSelect
          label={t.by}
          value={by}
          onChange={({ currentTarget }) => set({ by: currentTarget.value as Pair })}
          data={PAIRS.map((value) => ({ value, label: t.pairs[value] }))}
        />
        {by !== 'domains' && (
          <NativeSelect
            label={t.domain}
            value={values.domainId}
            onChange={({ currentTarget }) => set({ domainId: currentTarget.value, aVersion: null, bVersion: null })}
            data={domains.map(({ id, name }) => dataOption(id, name))}
          />
        )}
        {by === 'versions' && releases.length > 1 && <Versions {...{ values, set, releases }} />}
        {by === 'environments' && <Environments {...{ values, set }} />}
        {by === 'domains' && <Domains {...{ values, set, domains }} />}
      </Group>
      {by === 'periods' && <Periods {...{ values, set, now }} />}
    </search>
  )
}

function Versions({ values, set, releases }: Pick<FieldsProps, 'values' | 'set' | 'releases'>) {
  const zone = useTimeZone()
  const t = messages.compare
  const options = releases.map(({ version, firstSeenAt }) => ({
    value: String(version),
    label: t.firstSeen(String(version), formatDay(firstSeenAt, zone)),
  }))
  return (['aVersion', 'bVersion'] as const).map((name, side) => (
    <NativeSelect
      key={name}
      label={t.sides.versions[side]}
      value={String(values[name] ?? '')}
      onChange={({ currentTarget }) => set({ [name]: Number(currentTarget.value) })}
      data={options}
    />
  ))
}

function Environments({ values, set }: Pick<FieldsProps, 'values' | 'set'>) {
  const t = messages.compare
  const other = { prod: 'dev', dev: 'prod' } as const
  return (['aEnv', 'bEnv'] as const).map((name, side) => (
    <NativeSelect
      key={name}
      label={t.sides.environments[side]}
      value={values[name] ?? ''}
      onChange={({ currentTarget }) => {
        const chosen = currentTarget.value === 'dev' ? 'dev' : 'prod'
        set(name === 'aEnv' ? { aEnv: chosen, bEnv: other[chosen] } : { aEnv: other[chosen], bEnv: chosen })
      }}
      data={(['prod', 'dev'] as const).map((value) => ({ value, label: t.environments[value] }))}
    />
  ))
}

function Domains({ values, set, domains }: Pick<FieldsProps, 'values' | 'set' | 'domains'>) {
  const t = messages.compare
  return (['aDomainId', 'bDomainId'] as const).map((name, side) => (
    <NativeSelect
      key={name}
      label={t.sides.domains[side]}
      value={values[name]}
      onChange={({ currentTarget }) => set({ [name]: currentTarget.value })}
      data={domains.map(({ id, name }) => dataOption(id, name))}
    />
  ))
}

/** Start and end of both periods, in the user's time zone, and buttons for common ones. */
function Periods({ values, set, now }: Pick<FieldsProps, 'values' | 'set' | 'now'>) {
  const zone = useTimeZone()
  const t = messages.compare
  const { aFrom, aTo, bFrom, bTo } = values
  const presets = [
    [t.preset.day, recentPeriods(now, 1, 1)],
    [t.preset.week, recentPeriods(now, 1, 7)],
    [t.preset.weeks, recentPeriods(now, 7, 7)],
  ] as const
  const fields = [
    ['aFrom', t.from('A')],
    ['aTo', t.to('A')],
    ['bFrom', t.from('B')],
    ['bTo', t.to('B')],
  ] as const
  return (
    <>
      <Group gap="md" align="flex-end" mb="sm">
        {fields.map(([name, label]) => (
          <TextInput
            key={name}
            type="datetime-local"
            label={label}
            value={values[name] === null ? '' : toLocalInput(values[name] ?? 0, zone)}
            onChange={({ currentTarget: { value } }) => {
              // The defaults become part of the URL together with the changed value.
              if (value) set({ aFrom, aTo, bFrom, bTo, [name]: fromLocalInput(value, zone) })
            }}
          />
        ))}
      </Group>
      <Group gap="xs" mb="md" role="group" aria-label={t.presets}>
        {presets.map(([label, periods]) => (
          <Button key={label} variant="default" size="compact-sm" onClick={() => set(periods)}>
            {label}
          </Button>
        ))}
      </Group>
    </>
  )
}
