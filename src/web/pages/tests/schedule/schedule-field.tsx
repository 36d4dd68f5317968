import { Group, NativeSelect, NumberInput, Select, Stack, Text, TextInput } from '@mantine/core'
import { useEffect, useState } from 'react'
import { Data } from '../../../components/data-text.tsx'
import { formatDate } from '../../../components/format.ts'
import { timeZones } from '../../../components/local-time.ts'
import { useNow } from '../../../components/use-now.ts'
import { useOrganizationTimeZone } from '../../../components/use-time-zone.ts'
import { messages } from '../../../messages.ts'
import { INTERVALS, nextRuns, patternOf, type Schedule, scheduleOf } from './schedule-pattern.ts'

const SHOWN_RUNS = 3
/** Sunday, in UTC. Its week names the weekdays. */
const SUNDAY = Date.UTC(2026, 0, 4)
const DAY_MS = 24 * 3_600_000
/** Monday first. */
const WEEKDAYS = [1, 2, 3, 4, 5, 6, 0]

interface ScheduleFieldProps {
  /** Cron pattern; empty for no automatic runs. */
  pattern: string
  /** Time zone of the pattern; empty until it has been chosen or is known. */
  timezone: string
  change(values: { schedule?: string; timezone?: string }): void
  errorOf(field: 'schedule' | 'timezone'): string | undefined
}

/** A schedule as an interval, or as a cron pattern, with its next runs. */
export function ScheduleField({ pattern, timezone, change, errorOf }: ScheduleFieldProps) {
  // A pattern that is also an interval can be edited as a pattern.
  const [isCustom, setCustom] = useState(false)
  const own = useOrganizationTimeZone()
  // A new schedule is in the time zone of the organization.
  useEffect(() => {
    if (timezone === '' && own !== null) change({ timezone: own })
  }, [timezone, own, change])
  const read = scheduleOf(pattern)
  const schedule: Schedule = isCustom ? { ...read, interval: 'custom' } : read
  const { interval, hour, minute, weekday } = schedule
  const t = messages.tests.scheduling
  const choose = (next: Schedule) => {
    setCustom(next.interval === 'custom')
    // A custom pattern starts from the interval that was chosen before.
    if (next.interval !== 'custom') change({ schedule: patternOf(next) })
    else if (pattern === '') change({ schedule: patternOf({ ...next, interval: 'day' }) })
  }
  return (
    <Stack gap="sm">
      <Group gap="sm" align="flex-start">
        <NativeSelect
          label={messages.tests.cron}
          flex="1 1 200px"
          value={interval}
          onChange={({ currentTarget }) =>
            choose({ ...schedule, interval: currentTarget.value as Schedule['interval'] })
          }
          data={INTERVALS.map((value) => ({ value, label: t.intervals[value] }))}
          error={interval === 'custom' ? undefined : errorOf('schedule')}
        />
        {interval === 'week' && (
          <NativeSelect
            label={t.weekday}
            value={String(weekday)}
            onChange={({ currentTarget }) => choose({ ...schedule, weekday: Number(currentTarget.value) })}
            data={WEEKDAYS.map((day) => ({
              value: String(day),
              label: formatDate(SUNDAY + day * DAY_MS, 'UTC', { weekday: 'long' }),
              translate: 'no' as const,
            }))}
          />
        )}
        {interval === 'hour' && (
          <NumberInput
            label={t.minute}
            w={110}
            value={minute}
            onChange={(value) => choose({ ...schedule, minute: Number(value) })}
            min={0}
            max={59}
            clampBehavior="strict"
            allowDecimal={false}
          />
        )}
        {['day', 'weekdays', 'week'].includes(interval) && (
          <TextInput
            type="time"
            label={t.time}
            value={`${twoDigits(hour)}:${twoDigits(minute)}`}
            onChange={({ currentTarget: { value } }) => {
              const [hour, minute] = value.split(':').map(Number)
              if (hour !== undefined && minute !== undefined) choose({ ...schedule, hour, minute })
            }}
            required
          />
        )}
      </Group>
      {interval === 'custom' && (
        <TextInput
          label={t.pattern}
          description={messages.tests.cronHint}
          value={pattern}
          onChange={({ currentTarget }) => change({ schedule: currentTarget.value })}
          error={errorOf('schedule')}
          maxLength={100}
          ff="monospace"
          translate="no"
        />
      )}
      {interval !== 'none' && (
        <>
          <Select
            label={t.timezone}
            value={timezone}
            onChange={(zone) => zone && change({ timezone: zone })}
            data={timeZones(timezone || 'UTC')}
            error={errorOf('timezone')}
            allowDeselect={false}
            searchable
          />
          <NextRuns pattern={pattern} timezone={timezone || 'UTC'} zone={own ?? 'UTC'} />
        </>
      )}
    </Stack>
  )
}

const twoDigits = (value: number) => String(value).padStart(2, '0')

/** The next runs of a schedule, in the time zone of the organization. */
function NextRuns({ pattern, timezone, zone }: { pattern: string; timezone: string; zone: string }) {
  const runs = nextRuns(pattern, timezone, useNow(), SHOWN_RUNS)
  const t = messages.tests.scheduling
  if (runs === null || runs.length === 0) {
    return (
      <Text fz="sm" c="dimmed" role="status">
        {t.noNextRuns}
      </Text>
    )
  }
  return (
    <Text fz="sm" c="dimmed" component="div">
      {t.nextRuns(zone)}
      <ul aria-label={t.nextRunsName} style={{ margin: 0, paddingInlineStart: 20 }}>
        {runs.map((at) => (
          <li key={at}>
            <time dateTime={new Date(at).toISOString()}>
              <Data>
                {formatDate(at, zone, {
                  weekday: 'short',
                  day: 'numeric',
                  month: 'short',
                  year: 'numeric',
                  hour: '2-digit',
                  minute: '2-digit',
                })}
              </Data>
            </time>
          </li>
        ))}
      </ul>
    </Text>
  )
}
