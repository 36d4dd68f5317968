import { NativeSelect, NumberInput, Stack } from '@mantine/core'
import { MAX_THROTTLE } from '../../../../contract/limits.ts'
import { SEVERITIES_DESCENDING, type Severity } from '../../../../contract/severities.ts'
import { Card } from '../../../components/card.tsx'
import { ChannelRows } from '../../../components/channel-rows.tsx'
import { Collapsible } from '../../../components/collapsible.tsx'
import { formatNumber } from '../../../components/format.ts'
import { messages } from '../../../messages.ts'
import { AlertEscalation } from './alert-escalation.tsx'
import type { Draft } from './draft.ts'
import classes from './editor.module.css'
import type { SectionProps } from './section-props.ts'

/** Severity, estimated cost per issue, and notification channels. */
export function Channels({ draft, change, forms, errorOf, paths }: SectionProps) {
  const { channels = [], severity = 'low', impactValue } = draft
  const t = messages.alert
  return (
    <Card title={t.notifications}>
      <Stack gap="md">
        <div className={classes.fields}>
          <NativeSelect
            label={t.severity}
            value={severity}
            onChange={({ currentTarget }) => change({ ...draft, severity: currentTarget.value as Severity })}
            data={SEVERITIES_DESCENDING.map((value) => ({ value, label: messages.displayNames.severities[value] }))}
            error={errorOf('severity')}
          />
          <NumberInput
            label={t.value}
            description={t.valueHint}
            value={impactValue ?? ''}
            onChange={(typed) => change(withValue(draft, typed))}
            min={0}
            allowDecimal={false}
            error={errorOf('impactValue')}
          />
        </div>
        <ChannelRows
          channels={channels}
          forms={forms}
          path="channels"
          errorOf={errorOf}
          change={(next) => change({ ...draft, channels: next })}
        />
        <MessageLimit draft={draft} change={change} errorOf={errorOf} />
        <AlertEscalation draft={draft} change={change} forms={forms} errorOf={errorOf} paths={paths} />
      </Stack>
    </Card>
  )
}

function withValue({ impactValue: _, ...draft }: Draft, typed: string | number): Draft {
  return { ...draft, ...(typeof typed === 'number' && { impactValue: typed }) }
}

/** Limits the number of messages within a period. */
function MessageLimit({ draft, change, errorOf }: Pick<SectionProps, 'draft' | 'change' | 'errorOf'>) {
  const t = messages.alert
  const { throttle: limit, ...rest } = draft
  const set = (part: Partial<NonNullable<typeof limit>>) =>
    change({ ...draft, throttle: { count: 1, per: 1, unit: 'hours', ...limit, ...part } })
  const says = limit ? t.limitSummary(formatNumber(limit.count), formatNumber(limit.per), limit.unit) : t.noLimit
  const mustShow = ['count', 'per', 'unit'].some((part) => errorOf(`throttle.${part}`) !== undefined)
  return (
    <Collapsible title={t.limit} summary={says} isOpenAtFirst={limit !== undefined} mustShow={mustShow}>
      <div className={classes.fields}>
        <NativeSelect
          label={t.limit}
          description={t.limitHint}
          style={{ gridColumn: '1 / -1' }}
          value={limit?.unit ?? ''}
          onChange={({ currentTarget: { value } }) =>
            value === '' ? change(rest) : set({ unit: value as 'hours' | 'minutes' })
          }
          data={[
            { value: '', label: t.noLimit },
            ...Object.entries(t.limitUnits).map(([value, label]) => ({ value, label })),
          ]}
          error={errorOf('throttle.unit')}
        />
        {limit && (
          <>
            <NumberInput
              label={t.maxNotifications}
              value={limit.count}
              min={1}
              max={MAX_THROTTLE.count}
              onChange={(typed) => set({ count: Number(typed) || 1 })}
              error={errorOf('throttle.count')}
            />
            <NumberInput
              label={t.per(limit.unit)}
              value={limit.per}
              min={1}
              max={MAX_THROTTLE.per}
              onChange={(typed) => set({ per: Number(typed) || 1 })}
              error={errorOf('throttle.per')}
            />
          </>
        )}
      </div>
    </Collapsible>
  )
}
