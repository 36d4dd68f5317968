import { Autocomplete, NativeSelect, Stack, Text } from '@mantine/core'
import { Fragment } from 'react'
import { Card } from '../../../components/card.tsx'
import { Collapsible } from '../../../components/collapsible.tsx'
import { Data } from '../../../components/data-text.tsx'
import { type FormValue, fieldKindOf, fieldsOf, withPart } from '../../../components/form-schema.ts'
import { FrameError, SchemaField, SchemaForm } from '../../../components/schema-form.tsx'
import { messages } from '../../../messages.ts'
import { ActiveHours } from './active-hours.tsx'
import { ConditionGroups } from './condition-groups.tsx'
import { Conditions, type Naming } from './conditions.tsx'
import {
  type Draft,
  domainsOf,
  eventFilterIndex,
  eventOf,
  hasConditions,
  NO_CONDITION,
  schemaOf,
  vendorOf,
  withFilters,
} from './draft.ts'
import type { RuleSectionProps, SectionProps } from './section-props.ts'
import { useNames } from './use-name-suggestions.ts'

const PERIODS = ['15m', '1h', '1d', '1w']
/** Fields that are shown under "Name and scope" instead. */
const IN_SCOPE = ['vendor', 'event']

/** The conditions that make an alert fire, or the type-specific fields. */
export function TriggerSection({ draft, change, form, errorOf, paths }: SectionProps) {
  const t = messages.alert
  const [domainId = ''] = domainsOf(draft).length === 1 ? domainsOf(draft) : []
  const names = useNames(domainId, vendorOf(draft, form), eventOf(draft, form))
  const part: RuleSectionProps = { draft, change, form, names, errorOf, paths }
  return (
    <Card title={t.trigger}>
      <Stack gap="md">
        {hasConditions(form) ? (
          <RuleConditions {...part} />
        ) : (
          <OwnFields draft={draft} change={change} form={form} errorOf={errorOf} />
        )}
        <Autocomplete
          renderOption={({ option: { value } }) => <PeriodChoice value={value} />}
          label={t.period}
          withAsterisk
          description={t.periodHint}
          value={draft.period}
          onChange={(period) => change({ ...draft, period })}
          data={PERIODS}
          filter={({ options }) => options}
          error={errorOf('period')}
          maxLength={20}
        />
        {(hasConditions(form) || draft.conditionGroups) && <ConditionGroups {...part} />}
        <Filters {...part} />
        <ActiveHours draft={draft} change={change} errorOf={errorOf} />
      </Stack>
    </Card>
  )
}

function RuleConditions({ draft, change, names, errorOf }: RuleSectionProps) {
  const t = messages.alert
  const { logic = 'any', items = [] } = draft.conditions ?? {}
  const set = (part: Partial<NonNullable<Draft['conditions']>>) =>
    change({ ...draft, conditions: { logic, items, ...part } })
  const naming: Naming = {
    parameter: t.parameter,
    operator: t.operator,
    values: t.values,
    add: t.addCondition,
    remove: t.removeCondition,
  }
  return (
    <>
      <Text>{t.fireWhen}</Text>
      {items.length > 1 && (
        <NativeSelect
          label={t.logic}
          value={logic}
          onChange={({ currentTarget }) => set({ logic: currentTarget.value as typeof logic })}
          data={Object.entries(t.logics).map(([value, label]) => ({ value, label }))}
        />
      )}
      <Conditions
        path="conditions.items"
        items={items}
        change={(next) => set({ items: next.length > 0 ? next : [NO_CONDITION] })}
        naming={naming}
        names={names}
        errorOf={errorOf}
      />
    </>
  )
}

function Filters({ draft, change, form, names, errorOf, paths }: RuleSectionProps) {
  const t = messages.alert
  const { filters = [] } = draft
  const event = eventFilterIndex(draft, form)
  const count = filters.length - (event < 0 ? 0 : 1)
  const naming: Naming = {
    parameter: t.filterParameter,
    operator: t.filterOperator,
    values: t.filterValues,
    add: t.addFilter,
    remove: t.removeFilter,
  }
  return (
    <Collapsible
      title={t.filters}
      summary={count === 0 ? t.none : t.filterCount(count)}
      isOpenAtFirst={count > 0}
      mustShow={paths.some((path) => path.startsWith('filters') && errorOf(path) !== undefined)}
    >
      <Stack gap="md">
        <Text c="dimmed" fz="sm">
          {t.filtersHint}
        </Text>
        <Conditions
          path="filters"
          items={filters}
          without={event}
          change={(next) => change(withFilters(draft, next))}
          naming={naming}
          names={names}
          errorOf={errorOf}
        />
      </Stack>
    </Collapsible>
  )
}

function PeriodChoice({ value }: { value: string }) {
  return (
    <>
      <Data>{value}</Data>
      <Text span fz="xs" c="dimmed" ml="sm">
        {messages.alert.periods[value]}
      </Text>
    </>
  )
}

/** The type-specific fields. The fields of an object are shown without a frame. */
function OwnFields({ draft, change, form, errorOf }: Omit<SectionProps, 'forms' | 'paths'>) {
  return fieldsOf(schemaOf(form)).map(([name, schema]) => {
    const value = (draft as FormValue)[name]
    const set = (next: unknown) => change(withPart(draft, name, next) as Draft)
    if (fieldKindOf(schema) !== 'group') {
      return (
        <SchemaField
          key={name}
          name={name}
          schema={schema}
          value={value}
          errorOf={errorOf}
          path={name}
          change={set}
          isRequired
        />
      )
    }
    return (
      <Fragment key={name}>
        <FrameError path={name} errorOf={errorOf} />
        <SchemaForm
          schema={schema}
          errorOf={errorOf}
          path={name}
          without={IN_SCOPE}
          value={(value as FormValue) ?? {}}
          change={set}
        />
      </Fragment>
    )
  })
}
