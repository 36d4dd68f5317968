import { Button, CloseButton, NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { listIntegrationsOptions } from '#client/@tanstack/react-query.gen'
import type { Channel, Forms, Integration } from '#client/types.gen'
import { MAX_CHANNELS } from '../../contract/limits.ts'
import { STALE_MS } from '../api/queries.ts'
import { messages } from '../messages.ts'
import classes from './channel-rows.module.css'
import { DEFAULT_CHANNEL } from './edited-channels.ts'
import { type FormSchema, type FormValue, fieldsOf } from './form-schema.ts'
import { SchemaField } from './schema-form.tsx'

interface ChannelRowsProps {
  channels: readonly Channel[]
  change(channels: Channel[]): void
  forms: Forms
  /** Path of the list in the request. */
  path: string
  errorOf(path: string): string | undefined
  /** Returns the label of a field; lists of channels on the same page have different labels. */
  labelOf?(label: string): string
}

/** Channels that are notified: a row for each, and a button to add another. */
export function ChannelRows({ channels, change, forms, path, errorOf, labelOf = (label) => label }: ChannelRowsProps) {
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
          errorOf={(field) => errorOf(`${path}[${index}].${field}`)}
          labelOf={labelOf}
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
          {labelOf(messages.alert.addChannel)}
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
  /** Returns the error of a field of this channel. */
  errorOf(field: string): string | undefined
  labelOf(label: string): string
  change(channel: Channel): void
  remove(): void
}

function ChannelRow({ channel, index, forms, integrations, errorOf, labelOf, change, remove }: ChannelRowProps) {
  const t = messages.alert
  const titles: Readonly<Record<string, string>> = messages.deliveries.channels
  const form = forms.channels.find(({ kind }) => kind === channel.type)
  const fields = fieldsOf((form?.schema ?? {}) as FormSchema)
  return (
    <div className={classes.row}>
      <div className={classes.fields}>
        <NativeSelect
          label={labelOf(t.channel(index + 1))}
          value={channel.type}
          onChange={({ currentTarget }) => change({ type: currentTarget.value as Channel['type'], target: '' })}
          data={forms.channels.map(({ kind, title }) => ({ value: kind, label: titles[kind] ?? title }))}
          error={errorOf('type')}
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
            labelOf={labelOf}
            error={errorOf(name)}
          />
        ))}
      </div>
      <CloseButton aria-label={labelOf(t.removeChannel(index + 1))} onClick={remove} />
    </div>
  )
}

interface ChannelFieldProps {
  name: string
  schema: FormSchema
  index: number
  integrations: readonly Integration[]
  value: string
  labelOf(label: string): string
  change(value: string): void
  error: string | undefined
}

/** The target of a channel: a matching integration, or an address. */
function ChannelField({ name, schema, index, integrations, value, labelOf, change, error }: ChannelFieldProps) {
  const t = messages.alert
  const fitting = integrations.filter(({ provider }) => provider === schema['x-integration'])
  const isOne = fitting.some(({ id }) => id === value)
  const label = name === 'target' ? labelOf(t.target(index + 1)) : undefined
  return (
    <>
      {fitting.length > 0 && (
        <NativeSelect
          label={labelOf(t.integration(index + 1))}
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
