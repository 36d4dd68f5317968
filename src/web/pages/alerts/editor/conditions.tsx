import { Autocomplete, Button, CloseButton, NativeSelect, TagsInput, Text, TextInput } from '@mantine/core'
import type { Condition } from '#client/types.gen'
import type { Operator } from '../../../../contract/condition-operators.ts'
import { asData, Data } from '../../../components/data-text.tsx'
import { messages } from '../../../messages.ts'
import { isBlank, NO_CONDITION, needsValues, withOperator } from './draft.ts'
import classes from './editor.module.css'
import type { Names } from './use-name-suggestions.ts'

/** Labels of the fields in each row. Row numbers start at 1. */
export interface Naming {
  parameter(n: number): string
  operator(n: number): string
  values(n: number): string
  add: string
  remove(n: number): string
}

interface ConditionsProps {
  /** The path of the list in the alert. */
  path: string
  items: readonly Condition[]
  change(items: Condition[]): void
  naming: Naming
  names: Names
  errorOf(path: string): string | undefined
  /** Index of an item to omit, because it is edited in its own field. */
  without?: number
}

/** Operators in display order. The server decides which ones are valid for a parameter. */
const OPERATORS: readonly Operator[] = [
  'is_blank',
  'not_blank',
  'equals',
  'not_equals',
  'contains',
  'not_contains',
  'starts_with',
  'not_starts_with',
  'ends_with',
  'not_ends_with',
  'gt',
  'lt',
  'length_eq',
  'length_gt',
  'length_lt',
  'regex',
  'contains_email',
  'contains_phone',
  'custom_pii_regex',
]

/** Conditions, one per row: parameter, operator and values. */
export function Conditions({ path, items, change, naming, names, errorOf, without = -1 }: ConditionsProps) {
  return (
    <>
      {items.map((item, index) =>
        index === without ? null : (
          <Row
            // biome-ignore lint/suspicious/noArrayIndexKey: rows are identified only by their index
            key={index}
            item={item}
            naming={naming}
            names={names}
            n={without >= 0 && without < index ? index : index + 1}
            path={`${path}[${sentIndex(items, index)}]`}
            errorOf={errorOf}
            change={(next) => change(items.with(index, next))}
            remove={() => change(items.toSpliced(index, 1))}
          />
        ),
      )}
      <Button variant="default" w="fit-content" onClick={() => change([...items, NO_CONDITION])}>
        {naming.add}
      </Button>
    </>
  )
}

/** The row's index in the request, which omits empty rows. */
const sentIndex = (items: readonly Condition[], index: number): number =>
  items.slice(0, index).filter((item) => !isBlank(item)).length

interface RowProps {
  item: Condition
  n: number
  path: string
  naming: Naming
  names: Names
  errorOf(path: string): string | undefined
  change(item: Condition): void
  remove(): void
}

function Row({ item, n, path, naming, names, errorOf, change, remove }: RowProps) {
  const { parameter, op } = item
  return (
    <div className={classes.row}>
      <div className={classes.condition}>
        <Autocomplete
          renderOption={({ option: { value } }) => <Parameter name={value} example={names.valuesOf(value)[0]} />}
          label={naming.parameter(n)}
          withAsterisk
          description={names.isUnseen(parameter) ? messages.alert.notSeen : undefined}
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          value={parameter}
          onChange={(typed) => change({ ...item, parameter: typed })}
          data={[...names.parameters]}
          limit={30}
          error={errorOf(`${path}.parameter`)}
          maxLength={200}
        />
        <NativeSelect
          label={naming.operator(n)}
          value={op}
          onChange={({ currentTarget }) => change(withOperator(item, currentTarget.value as Operator))}
          data={OPERATORS.map((value) => ({ value, label: messages.forms.values[value] ?? value }))}
          error={errorOf(`${path}.op`)}
        />
        <Values n={n} path={path} naming={naming} names={names} errorOf={errorOf} item={item} change={change} />
      </div>
      <CloseButton aria-label={naming.remove(n)} onClick={remove} />
    </div>
  )
}

/** The values of a condition. Always rendered, so that the layout doesn't change with the operator. */
function Values({ item, n, path, naming, names, errorOf, change }: Omit<RowProps, 'remove'>) {
  const { parameter, op, values = [] } = item
  if (!needsValues(op)) return <TextInput label={naming.values(n)} placeholder={messages.alert.noValues} disabled />
  return (
    <TagsInput
      renderOption={asData}
      label={naming.values(n)}
      withAsterisk
      value={[...values]}
      onChange={(chosen) => change({ ...item, values: chosen })}
      data={[...names.valuesOf(parameter)]}
      placeholder={values.length === 0 ? messages.alert.valuesHint : undefined}
      limit={20}
      maxTags={100}
      error={errorOf(`${path}.values`)}
    />
  )
}

/** An option for a parameter, with an example value. */
function Parameter({ name, example }: { name: string; example: string | undefined }) {
  return (
    <Data>
      {name}
      {example !== undefined && (
        <Text span fz="xs" c="dimmed" ml="sm">
          {example}
        </Text>
      )}
    </Data>
  )
}
