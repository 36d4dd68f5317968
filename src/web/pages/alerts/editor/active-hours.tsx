import { Autocomplete, Checkbox, Group, NativeSelect, Stack, Text } from '@mantine/core'
import { Collapsible } from '../../../components/collapsible.tsx'
import { asData, Data } from '../../../components/data-text.tsx'
import { useTimeZone } from '../../../components/use-time-zone.ts'
import { messages } from '../../../messages.ts'
import type { Draft } from './draft.ts'
import classes from './editor.module.css'
import type { SectionProps } from './section-props.ts'
import {
  clockOf,
  dayName,
  daysOf,
  formatDays,
  HOURS_OF_DAY,
  intervalsOf,
  isAllDay,
  isAlways,
  type RunWindows,
  WEEK,
  type WindowsChange,
  withWindows,
} from './weekly-active-hours.ts'

const UTC = 'UTC'
const HOURS = Array.from({ length: HOURS_OF_DAY }, (_, hour) => hour)

/** Days, hours and time zone in which notifications may be sent. */
export function ActiveHours({ draft, change, errorOf }: Pick<SectionProps, 'draft' | 'change' | 'errorOf'>) {
  const t = messages.alert
  const own = useTimeZone()
  const { runWindows = {}, timezone } = draft
  const set = (part: WindowsChange) => {
    const { runWindows: before, ...rest } = draft
    const next = withWindows(before, part)
    // The alert uses the user's time zone until the user selects another one.
    change({ ...rest, timezone: timezone ?? own, ...(next && { runWindows: next }) })
  }
  const mustShow = ['runWindows.hours', 'runWindows.days', 'timezone'].some((path) => errorOf(path) !== undefined)
  const isNarrowed = draft.runWindows !== undefined || (timezone ?? UTC) !== UTC
  return (
    <Collapsible
      title={t.activeHours}
      summary={<HoursSummary draft={draft} />}
      isOpenAtFirst={isNarrowed}
      mustShow={mustShow}
    >
      <Stack gap="md">
        <Text c="dimmed" fz="sm">
          {t.activeHoursHint}
        </Text>
        <Checkbox.Group
          label={t.days}
          description={t.daysHint}
          value={daysOf(runWindows).map(String)}
          onChange={(chosen) => set({ days: WEEK.filter((day) => chosen.includes(String(day))) })}
          error={errorOf('runWindows.days')}
        >
          <Group gap="md" mt="xs">
            {WEEK.map((day) => (
              <Checkbox key={day} value={String(day)} label={<Data>{dayName(day, 'long')}</Data>} />
            ))}
          </Group>
        </Checkbox.Group>
        <Hours windows={runWindows} set={set} error={errorOf('runWindows.hours')} />
        <Week windows={runWindows} />
        <Autocomplete
          renderOption={asData}
          label={t.timezone}
          description={t.timezoneHint}
          value={timezone ?? UTC}
          onChange={(typed) => change({ ...draft, timezone: typed })}
          data={[...new Set([own, UTC, ...Intl.supportedValuesOf('timeZone')])]}
          limit={50}
          error={errorOf('timezone')}
          maxLength={50}
        />
      </Stack>
    </Collapsible>
  )
}

interface HoursProps {
  windows: RunWindows
  set(part: WindowsChange): void
  error: string | undefined
}

function Hours({ windows: { hours }, set, error }: HoursProps) {
  const t = messages.alert
  const options = HOURS.map((hour) => (
    <option key={hour} value={hour} translate="no">
      {clockOf(hour)}
    </option>
  ))
  const [from, to] = hours ?? []
  return (
    <div className={classes.fields}>
      <NativeSelect
        label={t.fromHour}
        value={from ?? ''}
        onChange={({ currentTarget: { value } }) =>
          set({ hours: value === '' ? undefined : [Number(value), to ?? (Number(value) + 8) % HOURS_OF_DAY] })
        }
        error={error}
      >
        <option value="">{t.allDay}</option>
        {options}
      </NativeSelect>
      {hours && (
        <NativeSelect
          label={t.toHour}
          description={isAllDay({ hours }) ? t.equalHours : undefined}
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          value={to}
          onChange={({ currentTarget: { value } }) => set({ hours: [from ?? 0, Number(value)] })}
        >
          {options}
        </NativeSelect>
      )}
    </div>
  )
}

function HoursSummary({ draft: { runWindows, timezone } }: { draft: Draft }) {
  const t = messages.alert
  if (!runWindows || isAlways(runWindows)) {
    return (
      <>
        {t.always} <Data>{timezone ?? UTC}</Data>
      </>
    )
  }
  const days = daysOf(runWindows)
  const [from = 0, to = 0] = runWindows.hours ?? []
  return (
    <>
      {days.length === 0 || days.length === WEEK.length ? t.everyDay : <Data>{formatDays(days)}</Data>}
      {!isAllDay(runWindows) && <Data>{`, ${clockOf(from)}–${clockOf(to)}`}</Data>} <Data>{timezone ?? UTC}</Data>
    </>
  )
}

/** The active hours of a week as a chart. The section heading contains the same information as text. */
function Week({ windows }: { windows: RunWindows }) {
  return (
    <div aria-hidden>
      <svg
        viewBox={`0 0 ${HOURS_OF_DAY} ${WEEK.length}`}
        preserveAspectRatio="none"
        className={classes.week}
        aria-hidden
      >
        {WEEK.map((day, row) =>
          [{ from: 0, to: HOURS_OF_DAY, isOff: true }, ...intervalsOf(windows, day)].map(({ from, to, ...part }) => (
            <rect
              key={`${day} ${from} ${'isOff' in part}`}
              x={from}
              y={row + 0.12}
              width={to - from}
              height={0.76}
              data-off={'isOff' in part || undefined}
            />
          )),
        )}
      </svg>
      <div className={classes.weekHours}>
        {[0, 6, 12, 18, HOURS_OF_DAY].map((hour) => (
          <Data key={hour}>{clockOf(hour)}</Data>
        ))}
      </div>
    </div>
  )
}
