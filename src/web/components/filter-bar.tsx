import { Button, CloseButton, NativeSelect, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconAdjustmentsHorizontal } from '@tabler/icons-react'
import { type ReactNode, useId } from 'react'
import type { SavedViewPage } from '../../contract/saved-view-pages.ts'
import { messages } from '../messages.ts'
import type { ParamType, ParamTypes, ValuesOf } from '../url-state/param-types.ts'
import { useSearchParams } from '../url-state/use-search-params.ts'
import { Data, dataOption } from './data-text.tsx'
import classes from './filter-bar.module.css'
import { MultiChoice, type Option } from './multi-choice.tsx'
import { SavedViewsMenu } from './saved-views.tsx'
import { useDebouncedInput } from './use-debounced-input.ts'

/** A field in a filter bar. Its name is also its search param. */
export type Filter<Name extends string = string> =
  /** Search text; visible on every screen. */
  | { is: 'search'; name: Name; label?: string }
  /** Text to look for in one field. */
  | { is: 'text'; name: Name; label: string; hint?: string }
  /** Multi-select; `isData` if its labels are user data. */
  | { is: 'several'; name: Name; label: string; options: readonly Option[]; isData?: boolean }
  /** Single select. It is a filter if one of its options is empty, and a choice such as the sort order otherwise. */
  | { is: 'one'; name: Name; label: string; options: readonly Option[]; isData?: boolean }
  /** Chip without an input, for filters set by links; `options` contains the labels of its values. */
  | { is: 'chip'; name: Name; label: string; options: readonly Option[] }

interface FilterBarProps<F extends ParamTypes> {
  fields: F
  filters: readonly Filter<keyof F & string>[]
  /** The list whose filters can be saved as views. */
  views?: SavedViewPage
}

/**
 * Filters of a list, stored in the URL, with a chip for each active filter. On a phone, the fields other than the search
 * are behind a button with the number of active filters.
 */
export function FilterBar<F extends ParamTypes>({ fields, filters, views }: FilterBarProps<F>) {
  const [values, set] = useSearchParams(fields)
  const change = (name: string, value: unknown) => set({ [name]: value } as Partial<ValuesOf<F>>)
  const active = filters.filter((filter) => isFilter(filter) && !isAtRest(fields[filter.name], values[filter.name]))
  const field = (filter: Filter<keyof F & string>) => (
    <FilterField
      key={filter.name}
      filter={filter}
      value={values[filter.name]}
      change={(value) => change(filter.name, value)}
    />
  )
  const others = filters.filter(({ is }) => is !== 'search' && is !== 'chip')
  return (
    <div className={classes.bar}>
      <search className={classes.fields} aria-label={messages.components.filters}>
        {filters.filter(({ is }) => is === 'search').map(field)}
        {others.length > 1 ? (
          <Folded active={active.filter(({ is }) => is !== 'search').length}>
            {others.map(field)}
            {views && <SavedViewsMenu fields={fields} page={views} />}
          </Folded>
        ) : (
          others.map(field)
        )}
      </search>
      {active.length > 0 && (
        <div className={classes.chips}>
          {active.map((filter) => (
            <Chip
              key={filter.name}
              filter={filter}
              value={values[filter.name]}
              remove={() => change(filter.name, fields[filter.name]?.fallback)}
            />
          ))}
          <Button variant="subtle" size="compact-sm" onClick={() => set(atRest(fields, filters))}>
            {messages.components.clearAll}
          </Button>
        </div>
      )}
    </div>
  )
}

/** Fields that are behind a button on a phone. */
function Folded({ active, children }: { active: number; children: ReactNode }) {
  const [isOpen, { toggle }] = useDisclosure()
  const id = useId()
  return (
    <>
      <Button
        variant="default"
        className={classes.opener}
        leftSection={<IconAdjustmentsHorizontal size={16} aria-hidden />}
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={toggle}
      >
        {messages.components.filtersActive(active)}
      </Button>
      <div id={id} className={classes.folded} data-open={isOpen || undefined}>
        {children}
      </div>
    </>
  )
}

/** Button for lists that are empty because of their filters. */
export function ClearFilters<F extends ParamTypes>({ fields, filters }: FilterBarProps<F>) {
  const [, set] = useSearchParams(fields)
  return (
    <Button variant="default" onClick={() => set(atRest(fields, filters))}>
      {messages.components.clearFilters}
    </Button>
  )
}

/** Returns whether a filter is active. */
export function useIsFiltered<F extends ParamTypes>({ fields, filters }: FilterBarProps<F>): boolean {
  const [values] = useSearchParams(fields)
  return filters.some((filter) => isFilter(filter) && !isAtRest(fields[filter.name], values[filter.name]))
}

/** Returns false for choices that limit nothing, such as the sort order. */
const isFilter = (filter: Filter): boolean => filter.is !== 'one' || filter.options.some(({ value }) => value === '')

const isAtRest = (field: ParamType<never> | ParamType<unknown> | undefined, value: unknown): boolean => {
  const { write, fallback } = field as ParamType<unknown>
  return write(value) === write(fallback)
}

function atRest<F extends ParamTypes>(fields: F, filters: readonly Filter[]): Partial<ValuesOf<F>> {
  const cleared = filters.filter(isFilter).map(({ name }) => [name, fields[name]?.fallback])
  return Object.fromEntries(cleared)
}

interface FieldProps {
  filter: Filter
  value: unknown
  change(value: unknown): void
}

function FilterField({ filter, value, change }: FieldProps) {
  switch (filter.is) {
    case 'search':
      return <SearchField label={filter.label ?? messages.components.search} value={String(value)} change={change} />
    case 'text':
      return <TextField {...filter} value={String(value)} change={change} />
    case 'several':
      return (
        <MultiChoice
          label={filter.label}
          options={filter.options}
          chosen={value as readonly string[]}
          choose={change}
          isData={filter.isData}
        />
      )
    case 'one':
      return (
        <NativeSelect
          label={filter.label}
          value={String(value)}
          onChange={({ currentTarget }) => change(currentTarget.value)}
          data={filter.options.map((one) => (filter.isData && one.value ? dataOption(one.value, one.label) : one))}
        />
      )
    case 'chip':
      return null
  }
}

function SearchField({ label, value, change }: { label: string; value: string; change(value: string): void }) {
  const typed = useDebouncedInput(value, change)
  return <TextInput className={classes.search} type="search" label={label} maxLength={200} {...typed} />
}

interface TextFieldProps {
  label: string
  hint?: string
  value: string
  change(value: string): void
}

function TextField({ label, hint, value, change }: TextFieldProps) {
  const typed = useDebouncedInput(value, change)
  return <TextInput label={label} placeholder={hint} maxLength={200} {...typed} />
}

function Chip({ filter, value, remove }: { filter: Filter; value: unknown; remove(): void }) {
  const label = filter.label ?? messages.components.search
  const options = 'options' in filter ? filter.options : []
  const values = Array.isArray(value) ? (value as string[]) : [String(value)]
  const names = values.map((one) => options.find((option) => option.value === one)?.label ?? one)
  const isOurs = filter.is === 'several' && !filter.isData
  const text = names.length === 0 ? messages.components.any : names.join(', ')
  return (
    <span className={classes.chip}>
      {messages.components.chip(label)} {isOurs ? text : <Data className={classes.value}>{text}</Data>}
      <CloseButton size="xs" aria-label={messages.components.removeFilter(label)} onClick={remove} />
    </span>
  )
}
