import { Button, CloseButton, NativeSelect, NumberInput, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { listIntegrationsOptions } from '#client/@tanstack/react-query.gen'
import type { Channel, Forms, Integration } from '#client/types.gen'
import { MAX_CHANNELS, MAX_THROTTLE } from '../../../../contract/limits.ts'
import { SEVERITIES_DESCENDING, type Severity } from '../../../../contract/severities.ts'
import { STALE_MS } from '../../../api/queries.ts'
import { Card } from '../../../components/card.tsx'
import { Collapsible } from '../../../components/collapsible.tsx'
import { type FormSchema, type FormValue, fieldsOf } from '../../../components/form-schema.ts'
import { formatNumber } from '../../../components/format.ts'
import { SchemaField } from '../../../components/schema-form.tsx'
import { messages } from '../../../messages.ts'
import { DEFAULT_CHANNEL, type Draft } from './draft.ts'
import classes from './editor.module.css'
import type { SectionProps } from './section-props.ts'

/** Severity, estimated cost per issue, and notification channels. */
export function Channels({ draft, change, forms, errorOf }: SectionProps) {
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
        <Rows
          channels={channels}
          forms={forms}
          errorOf={errorOf}
          change={(next) => change({ ...draft, channels: next })}
        />
        <MessageLimit draft={draft} change={change} errorOf={errorOf} />
      </Stack>
    </Card>
  )
}

function withValue({ impactValue: _, ...draft }: Draft, typed: string | number): Draft {
  return { ...draft, ...(typeof typed === 'number' && { impactValue: typed }) }
}

interface RowsProps {
  channels: readonly Channel[]
  change(channels: Channel[]): void
  forms: Forms
  errorOf(path: string): string | undefined
}

function Rows({ channels, change, forms, errorOf }: RowsProps) {
  const { data } = useQuery({ ...listIntegrationsOptions(), staleTime: STALE_MS.insight })
  return (
    <>
      {channels.map((channel, index) => (
        <ChannelRow
          // biome-ignore lint/suspicious/noArrayIndexKey: rows are identified only by their index
          key={index}
          channel={channel}
          index={index}
          forms={forms}
          errorOf={errorOf}
          integrations={data?.integrations ?? []}
          change={(next) => change(channels.with(index, next))}
          remove={() => change(channels.filter((_, other) => other !== index))}
        />
      ))}
      {channels.length < MAX_CHANNELS && (
        <Button
          variant="default"
          w="fit-content"
          onClick={() => change([...channels, { type: DEFAULT_CHANNEL.type, target: '' }])}
        >
          {messages.alert.addChannel}
        </Button>
      )}
    </>
  )
}

interface ChannelRowProps {
  channel: Channel
  index: number
  forms: Forms
  integrations: readonly Integration[]
  errorOf(path: string): string | undefined
  change(channel: Channel): void
  remove(): void
}

function ChannelRow({ channel, index, forms, integrations, errorOf, change, remove }: ChannelRowProps) {
  const t = messages.alert
  const titles: Readonly<Record<string, string>> = messages.deliveries.channels
  const form = forms.channels.find(({ kind }) => kind === channel.type)
  const fields = fieldsOf((form?.schema ?? {}) as FormSchema)
  return (
    <div className={classes.row}>
      <div className={classes.fields}>
        <NativeSelect
          label={t.channel(index + 1)}
          value={channel.type}
          onChange={({ currentTarget }) => change({ type: currentTarget.value as Channel['type'], target: '' })}
          data={forms.channels.map(({ kind, title }) => ({ value: kind, label: titles[kind] ?? title }))}
          error={errorOf(`channels[${index}].type`)}
        />
        {fields.map(([name, schema]) => (
          <ChannelField
            key={name}
            name={name}
            schema={schema}
            index={index}
            integrations={integrations}
            value={String((channel as FormValue)[name] ?? '')}
            change={(next) => change({ ...channel, [name]: next })}
            error={errorOf(`channels[${index}].${name}`)}
          />
        ))}
      </div>
      <CloseButton aria-label={t.removeChannel(index + 1)} onClick={remove} />
    </div>
  )
}

interface ChannelFieldProps {
  name: string
  schema: FormSchema
  index: number
  integrations: readonly Integration[]
  value: string
  change(value: string): void
  error: string | undefined
}

/** The target of a channel: a matching integration, or an address. */
function ChannelField({ name, schema, index, integrations, value, change, error }: ChannelFieldProps) {
  const t = messages.alert
  const fitting = integrations.filter(({ provider }) => provider === schema['x-integration'])
  const isOne = fitting.some(({ id }) => id === value)
  const label = name === 'target' ? t.target(index + 1) : undefined
  return (
    <>
      {fitting.length > 0 && (
        <NativeSelect
          label={t.integration(index + 1)}
          value={isOne ? value : ''}
          onChange={({ currentTarget }) => change(currentTarget.value)}
        >
          <option value="">{t.otherAddress}</option>
          {fitting.map(({ id, label: name }) => (
            <option key={id} value={id} translate="no">
              {name}
            </option>
          ))}
        </NativeSelect>
      )}
      {!isOne && (
        <SchemaField
          name={name}
          schema={schema}
          label={label}
          value={value}
          path={name}
          errorOf={() => error}
          change={(next) => change(String(next ?? ''))}
          isRequired
        />
      )}
    </>
  )
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
