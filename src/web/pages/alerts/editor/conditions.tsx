import { Autocomplete, Button, CloseButton, NativeSelect, TagsInput } from '@mantine/core'
import { asData } from '../../../parts/data.tsx'
import { words } from '../../../words.ts'
import { type Condition, NO_CONDITION, needsValues } from './draft.ts'
import classes from './editor.module.css'
import type { Names } from './names.ts'

/** What the fields of each row are called; rows are counted from 1. */
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
  change(items: readonly Condition[]): void
  naming: Naming
  names: Names
  errorOf(path: string): string | undefined
  /** So many items of the list stand elsewhere, before these. */
  offset?: number
}

/** The operators as people read them; the server has the last word on which fits what. */
const OPERATORS = [
  ...['is_blank', 'not_blank', 'equals', 'not_equals', 'contains', 'not_contains', 'starts_with', 'not_starts_with'],
  ...['ends_with', 'not_ends_with', 'gt', 'lt', 'length_eq', 'length_gt', 'length_lt', 'regex', 'contains_email'],
  ...['contains_phone', 'custom_pii_regex'],
]

/** Conditions, one a row: a parameter, how it is compared, and with what. */
export function Conditions({ path, items, change, naming, names, errorOf, offset = 0 }: ConditionsProps) {
  return (
    <>
      {items.map((item, index) => (
        <Row
          // biome-ignore lint/suspicious/noArrayIndexKey: rows have no other name than their place
          key={index}
          {...{ item, naming, names }}
          n={index + 1}
          path={`${path}[${index + offset}]`}
          errorOf={errorOf}
          change={(next) => change(items.with(index, next))}
          remove={() => change(items.filter((_, other) => other !== index))}
        />
      ))}
      <Button variant="default" w="fit-content" onClick={() => change([...items, NO_CONDITION])}>
        {naming.add}
      </Button>
    </>
  )
}

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
  const { parameter, op, values = [] } = item
  return (
    <div className={classes.row}>
      <div className={classes.fields}>
        <Autocomplete
          renderOption={asData}
          label={naming.parameter(n)}
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
          onChange={({ currentTarget }) => change({ ...item, op: currentTarget.value })}
          data={OPERATORS.map((value) => ({ value, label: words.forms.values[value] ?? value }))}
          error={errorOf(`${path}.op`)}
        />
        {needsValues(op) && (
          <TagsInput
            renderOption={asData}
            label={naming.values(n)}
            value={[...values]}
            onChange={(chosen) => change({ ...item, values: chosen })}
            data={[...names.valuesOf(parameter)]}
            placeholder={values.length === 0 ? words.alert.valuesHint : undefined}
            limit={20}
            maxTags={100}
            error={errorOf(`${path}.values`)}
          />
        )}
      </div>
      <CloseButton aria-label={naming.remove(n)} onClick={remove} />
    </div>
  )
}
