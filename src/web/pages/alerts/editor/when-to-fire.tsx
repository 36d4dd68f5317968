import { Autocomplete, NativeSelect, Stack, Text } from '@mantine/core'
import { Card } from '../../../parts/card.tsx'
import { asData } from '../../../parts/data.tsx'
import { type FormValue, fieldsOf, kindOf, withPart } from '../../../parts/schema.ts'
import { SchemaField, SchemaForm } from '../../../parts/schema-form.tsx'
import { words } from '../../../words.ts'
import { Conditions, type Naming } from './conditions.tsx'
import { type Draft, domainsOf, eventOf, filtersOf, hasConditions, NO_CONDITION, schemaOf, vendorOf } from './draft.ts'
import { useNames } from './names.ts'
import type { PartProps } from './part.ts'

const PERIODS = ['15m', '1h', '1d', '1w']
/** Asked for under "What to watch". */
const IN_SCOPE = ['vendor', 'event']

/** When an alert fires: by conditions, or by the fields that its type has. */
export function WhenToFire({ draft, change, form, errorOf }: PartProps) {
  const said = words.alert
  const [domainId = ''] = domainsOf(draft).length === 1 ? domainsOf(draft) : []
  const names = useNames(domainId, vendorOf(draft, form), eventOf(draft, form))
  const groups = draft.conditionGroups?.length ?? 0
  return (
    <Card title={said.whenToFire}>
      <Stack gap="md">
        {hasConditions(form) ? (
          <RuleConditions {...{ draft, change, names, errorOf }} />
        ) : (
          <OwnFields {...{ draft, change, form, errorOf }} />
        )}
        {groups > 0 && <Text fz="sm">{said.groups(groups)}</Text>}
        <Filters {...{ draft, change, names, errorOf }} />
        <Autocomplete
          renderOption={asData}
          label={said.period}
          description={said.periodHint}
          value={draft.period}
          onChange={(period) => change({ ...draft, period })}
          data={PERIODS}
          filter={({ options }) => options}
          error={errorOf('period')}
          maxLength={20}
        />
      </Stack>
    </Card>
  )
}

type RulePart = Pick<PartProps, 'draft' | 'change' | 'errorOf'> & { names: ReturnType<typeof useNames> }

function RuleConditions({ draft, change, names, errorOf }: RulePart) {
  const said = words.alert
  const { logic = 'any', items = [] } = draft.conditions ?? {}
  const set = (part: Partial<NonNullable<Draft['conditions']>>) =>
    change({ ...draft, conditions: { logic, items, ...part } })
  const naming: Naming = {
    ...{ parameter: said.parameter, operator: said.operator, values: said.values },
    ...{ add: said.addCondition, remove: said.removeCondition },
  }
  return (
    <>
      <Text>{said.fires}</Text>
      {items.length > 1 && (
        <NativeSelect
          label={said.logic}
          value={logic}
          onChange={({ currentTarget }) => set({ logic: currentTarget.value })}
          data={Object.entries(said.logics).map(([value, label]) => ({ value, label }))}
        />
      )}
      <Conditions
        path="conditions.items"
        items={items}
        change={(next) => set({ items: next.length > 0 ? next : [NO_CONDITION] })}
        {...{ naming, names, errorOf }}
      />
    </>
  )
}

function Filters({ draft, change, names, errorOf }: RulePart) {
  const said = words.alert
  const own = filtersOf(draft)
  const event = (draft.filters ?? []).filter((filter) => !own.includes(filter))
  const naming: Naming = {
    ...{ parameter: said.filterParameter, operator: said.filterOperator, values: said.filterValues },
    ...{ add: said.addFilter, remove: said.removeFilter },
  }
  return (
    <>
      {own.length > 0 && <Text>{said.onlyWhere}</Text>}
      <Conditions
        path="filters"
        items={own}
        offset={event.length}
        change={(next) => change({ ...draft, filters: [...event, ...next] })}
        {...{ naming, names, errorOf }}
      />
    </>
  )
}

/** The fields that only this type has. One object of fields stands without a frame around it. */
function OwnFields({ draft, change, form, errorOf }: Omit<PartProps, 'forms'>) {
  return fieldsOf(schemaOf(form)).map(([name, schema]) => {
    const value = draft[name]
    const set = (next: unknown) => change(withPart(draft as FormValue, name, next) as unknown as Draft)
    if (kindOf(schema) !== 'group') {
      return <SchemaField key={name} {...{ name, schema, value, errorOf }} path={name} change={set} isRequired />
    }
    return (
      <SchemaForm
        key={name}
        {...{ schema, errorOf }}
        path={name}
        without={IN_SCOPE}
        value={(value as FormValue) ?? {}}
        change={set}
      />
    )
  })
}
