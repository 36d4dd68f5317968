import {
  Autocomplete,
  Button,
  Checkbox,
  Fieldset,
  Group,
  JsonInput,
  MultiSelect,
  NativeSelect,
  NumberInput,
  PasswordInput,
  Stack,
  TagsInput,
  Text,
} from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { messages } from '../messages.ts'
import { asData, Data, Sentence } from './data-text.tsx'
import {
  defaultValueOf,
  discriminatorOf,
  type FormSchema,
  type FormValue,
  fieldKindOf,
  fieldsOf,
  shapeOf,
  valuesOf,
  withoutNull,
  withPart,
} from './form-schema.ts'
import classes from './schema-form.module.css'

/** Props of all fields. */
interface Shared {
  /** Returns the error message for a path such as `volume.count`; undefined for none. */
  errorOf(path: string): string | undefined
  /** Returns whether a secret is stored; it can be replaced but not shown. */
  isSet?: (path: string) => boolean
  /** Returns suggestions for a field, such as vendors or events. */
  suggest?: (name: string) => readonly string[]
}

interface SchemaFormProps extends Shared {
  /** Schema of an object. */
  schema: FormSchema
  value: FormValue
  change(value: FormValue): void
  /** Path of the object in the request; empty for the whole body. */
  path?: string
  /** Fields to omit. */
  without?: readonly string[]
}

/** Fields of a form described by the server. Empty fields are removed from the value. */
export function SchemaForm({ schema, value, change, path = '', without = [], ...shared }: SchemaFormProps) {
  const { required = [] } = schema
  const fields = fieldsOf(schema).filter(([name, part]) => !without.includes(name) && fieldKindOf(part) !== null)
  return (
    <Stack gap="md">
      {fields.map(([name, part]) => (
        <SchemaField
          key={name}
          {...shared}
          name={name}
          schema={withoutNull(part)}
          path={path ? `${path}.${name}` : name}
          isRequired={required.includes(name)}
          value={value[name]}
          change={(next) => change(withPart(value, name, next))}
        />
      ))}
    </Stack>
  )
}

export interface SchemaFieldProps extends Shared {
  name: string
  /** Overrides the schema's title. */
  label?: string
  schema: FormSchema
  path: string
  isRequired?: boolean
  value: unknown
  change(value: unknown): void
}

/** One field of a form, rendered from its schema. */
export function SchemaField(props: SchemaFieldProps): ReactNode {
  const { schema, path, isSet } = props
  if (schema['x-secret'] && isSet?.(path)) return <SavedSecret {...props} />
  switch (fieldKindOf(schema)) {
    case 'text':
      return schema['x-secret'] ? <Secret {...props} /> : <TextField {...props} />
    case 'number':
      return <NumberField {...props} />
    case 'boolean':
      return <BooleanField {...props} />
    case 'one':
      return <OneField {...props} />
    case 'some':
    case 'texts':
      return <SeveralField {...props} />
    case 'group':
      return <GroupField {...props} />
    case 'list':
      return <ListField {...props} />
    case 'shape':
      return <ShapeField {...props} />
    case 'json':
      return <JsonField {...props} />
    case null:
      return null
  }
}

const titleOf = ({ label, schema, name }: SchemaFieldProps) => label ?? schema.title ?? name

/** Label, description and error of a field. */
const around = (props: SchemaFieldProps) => ({
  label: props.label ?? <Data>{titleOf(props)}</Data>,
  description: props.schema.description && <Sentence>{props.schema.description}</Sentence>,
  error: props.errorOf(props.path),
  required: props.isRequired,
})

const sayValue = (value: unknown, titles: FormSchema['x-titles'] = {}) =>
  titles[String(value)] ?? messages.forms.values[String(value)] ?? String(value).replaceAll('_', ' ')

function TextField(props: SchemaFieldProps) {
  const { name, schema, value, change, suggest } = props
  return (
    <Autocomplete
      renderOption={asData}
      {...around(props)}
      value={String(value ?? '')}
      onChange={change}
      data={[...(suggest?.(name) ?? [])]}
      limit={20}
      maxLength={schema.maxLength}
      placeholder={placeholderOf(schema)}
    />
  )
}

const placeholderOf = ({ examples = [] }: FormSchema) =>
  typeof examples[0] === 'string' || typeof examples[0] === 'number' ? String(examples[0]) : undefined

function Secret(props: SchemaFieldProps) {
  const { schema, value, change } = props
  return (
    <PasswordInput
      {...around(props)}
      value={String(value ?? '')}
      onChange={({ currentTarget }) => change(currentTarget.value)}
      maxLength={schema.maxLength}
      autoComplete="off"
    />
  )
}

/** A stored secret. It is never shown, and it is kept unless replaced. */
function SavedSecret(props: SchemaFieldProps) {
  const [isReplacing, replace] = useState(false)
  const { schema, value, change } = props
  if (isReplacing || value !== undefined) {
    const keep = () => {
      replace(false)
      change(undefined)
    }
    return (
      <Stack gap="xs" align="flex-start">
        <SchemaField {...props} isSet={undefined} />
        <Button variant="subtle" size="compact-sm" onClick={keep}>
          {messages.forms.keepCurrent}
        </Button>
      </Stack>
    )
  }
  return (
    <div>
      <Text fw={600} fz="sm">
        <Data>{titleOf(props)}</Data>
      </Text>
      {schema.description && (
        <Text fz="xs" c="dimmed">
          <Sentence>{schema.description}</Sentence>
        </Text>
      )}
      <Group gap="sm" mt="xs">
        <Text fz="sm">{messages.forms.set}</Text>
        <Button variant="default" size="compact-sm" onClick={() => replace(true)}>
          {messages.forms.replace(titleOf(props))}
        </Button>
      </Group>
    </div>
  )
}

function NumberField(props: SchemaFieldProps) {
  const { schema, value, change } = props
  const unit = schema['x-unit']
  return (
    <NumberInput
      {...around(props)}
      value={typeof value === 'number' ? value : ''}
      onChange={(typed) => change(typeof typed === 'number' ? typed : undefined)}
      min={schema.minimum}
      max={schema.maximum}
      clampBehavior="none"
      allowDecimal={schema.type !== 'integer'}
      suffix={unit && ` ${unit}`}
      placeholder={placeholderOf(schema)}
    />
  )
}

function BooleanField(props: SchemaFieldProps) {
  const { required: _, ...texts } = around(props)
  return (
    <Checkbox
      {...texts}
      checked={props.value === true}
      onChange={({ currentTarget }) => props.change(currentTarget.checked)}
    />
  )
}

function OneField(props: SchemaFieldProps) {
  const { schema, value, change, isRequired } = props
  const values = valuesOf(schema)
  const left = isRequired && value !== undefined ? [] : [{ value: '', label: messages.forms.default }]
  return (
    <NativeSelect
      {...around(props)}
      value={value === undefined ? '' : String(value)}
      onChange={({ currentTarget }) => change(values.find((one) => String(one) === currentTarget.value))}
      data={[...left, ...values.map((one) => ({ value: String(one), label: sayValue(one, schema['x-titles']) }))]}
    />
  )
}

function SeveralField(props: SchemaFieldProps) {
  const { name, schema, value, change, suggest } = props
  const chosen = Array.isArray(value) ? value.map(String) : []
  const given = { value: chosen, onChange: (next: string[]) => change(next.length > 0 ? next : undefined) }
  const known = schema.items?.enum
  if (known) {
    const data = known.map((one) => ({ value: String(one), label: sayValue(one) }))
    return <MultiSelect {...around(props)} {...given} data={data} maxValues={schema.maxItems} />
  }
  return (
    <TagsInput
      renderOption={asData}
      {...around(props)}
      {...given}
      data={[...(suggest?.(name) ?? [])]}
      maxTags={schema.maxItems}
      limit={20}
    />
  )
}

function GroupField(props: SchemaFieldProps) {
  const { schema, value, change, path, errorOf, isSet, suggest } = props
  return (
    <Fieldset className={classes.group} variant="unstyled" legend={<Data>{titleOf(props)}</Data>}>
      <FrameError {...props} />
      <SchemaForm
        schema={schema}
        path={path}
        errorOf={errorOf}
        isSet={isSet}
        suggest={suggest}
        change={change}
        value={(value as FormValue) ?? {}}
      />
    </Fieldset>
  )
}

/** Error message for a group or list. */
export function FrameError({ errorOf, path }: Pick<SchemaFieldProps, 'errorOf' | 'path'>) {
  const sentence = errorOf(path)
  return sentence === undefined ? null : (
    <Text role="alert" fz="xs" c="var(--mantine-color-error)">
      <Data>{sentence}</Data>
    </Text>
  )
}

function ListField(props: SchemaFieldProps) {
  const { schema, value, change, path, ...rest } = props
  const items = Array.isArray(value) ? value : []
  const item = schema.items ?? {}
  const title = titleOf(props)
  const one = item.title ?? title
  const set = (next: unknown[]) => change(next.length > 0 ? next : undefined)
  return (
    <Fieldset className={classes.group} variant="unstyled" legend={<Data>{title}</Data>}>
      <Stack gap="md">
        {schema.description && (
          <Text fz="xs" c="dimmed">
            <Sentence>{schema.description}</Sentence>
          </Text>
        )}
        <FrameError {...props} />
        {items.map((value, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: items are identified only by their index
          <div key={index}>
            <SchemaField
              {...rest}
              label={undefined}
              schema={{ ...item, title: `${one} ${index + 1}` }}
              path={`${path}[${index}]`}
              value={value}
              change={(next) => set(items.with(index, next ?? defaultValueOf(item)))}
            />
            <Button
              variant="subtle"
              size="compact-sm"
              mt="xs"
              onClick={() => set(items.filter((_, other) => other !== index))}
            >
              {messages.forms.remove(`${one} ${index + 1}`)}
            </Button>
          </div>
        ))}
        {items.length < (schema.maxItems ?? Number.POSITIVE_INFINITY) && (
          <Button
            variant="default"
            size="compact-sm"
            w="fit-content"
            onClick={() => set([...items, defaultValueOf(item)])}
          >
            {messages.forms.add(title)}
          </Button>
        )}
      </Stack>
    </Fieldset>
  )
}

/** A field with alternatives, selected by their discriminator. */
function ShapeField(props: SchemaFieldProps) {
  const { schema, value, change } = props
  const shapes = schema.anyOf ?? []
  const mark = discriminatorOf(shapes)
  const index = shapeOf(shapes, value)
  const shape = shapes[index] ?? {}
  if (fieldKindOf(shape) !== 'group') return <SchemaField {...props} schema={{ ...shape, title: schema.title }} />
  const { path, errorOf, isSet, suggest } = props
  return (
    <Fieldset className={classes.group} variant="unstyled" legend={<Data>{titleOf(props)}</Data>}>
      <Stack gap="md">
        <FrameError {...props} />
        {mark !== null && (
          <NativeSelect
            label={messages.forms.type}
            description={schema.description && <Sentence>{schema.description}</Sentence>}
            value={String(index)}
            onChange={({ currentTarget }) => change(defaultValueOf(shapes[Number(currentTarget.value)] ?? {}))}
            data={shapes.map(({ properties }, at) => ({
              value: String(at),
              label: sayValue(properties?.[mark]?.const),
            }))}
          />
        )}
        <SchemaForm
          path={path}
          errorOf={errorOf}
          isSet={isSet}
          suggest={suggest}
          change={change}
          schema={shape}
          value={(value as FormValue) ?? {}}
        />
      </Stack>
    </Fieldset>
  )
}

/** JSON input for objects without a schema, such as a key file. */
function JsonField(props: SchemaFieldProps) {
  const { value, change, errorOf, path } = props
  const [typed, type] = useState(value === undefined ? '' : JSON.stringify(value, null, 2))
  const read = (text: string): unknown => {
    try {
      return JSON.parse(text)
    } catch {
      return undefined
    }
  }
  const isNone = typed.trim() !== '' && read(typed) === undefined
  return (
    <JsonInput
      {...around(props)}
      error={isNone ? messages.forms.notJson : errorOf(path)}
      value={typed}
      onChange={(text) => {
        type(text)
        change(read(text))
      }}
      autosize
      minRows={3}
      maxRows={12}
    />
  )
}
