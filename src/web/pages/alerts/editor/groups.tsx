import { Button, Fieldset, Group as Line, NativeSelect, Stack, Text } from '@mantine/core'
import { Fold } from '../../../parts/fold.tsx'
import { words } from '../../../words.ts'
import { Conditions, type Naming } from './conditions.tsx'
import { type Group, NO_CONDITION } from './draft.ts'
import type { RulePart } from './part.ts'

const MOST_GROUPS = 20

/** Conditions in brackets: with those above, each group must hold. */
export function Groups({ draft, change, names, errorOf, paths }: RulePart) {
  const said = words.alert
  const groups = draft.conditionGroups ?? []
  const set = (next: readonly Group[]) => {
    const { conditionGroups: _, ...rest } = draft
    change({ ...(rest as typeof draft), ...(next.length > 0 && { conditionGroups: next }) })
  }
  return (
    <Fold
      title={said.groups}
      says={groups.length === 0 ? said.none : said.groupsSay(groups.length)}
      isOpenAtFirst={groups.length > 0}
      mustShow={paths.some((path) => path.startsWith('conditionGroups') && errorOf(path) !== undefined)}
    >
      <Stack gap="md">
        <Text c="dimmed" fz="sm">
          {said.groupsHint}
        </Text>
        {groups.map((group, index) => (
          <OneGroup
            // biome-ignore lint/suspicious/noArrayIndexKey: groups have no other name than their place
            key={index}
            {...{ group, names, errorOf }}
            n={index + 1}
            change={(next) => set(groups.with(index, next))}
            remove={() => set(groups.filter((_, other) => other !== index))}
          />
        ))}
        {groups.length < MOST_GROUPS && (
          <Button
            variant="default"
            w="fit-content"
            onClick={() => set([...groups, { op: 'any', items: [NO_CONDITION] }])}
          >
            {said.addGroup}
          </Button>
        )}
      </Stack>
    </Fold>
  )
}

interface OneGroupProps extends Pick<RulePart, 'names' | 'errorOf'> {
  group: Group
  /** From 1. */
  n: number
  change(group: Group): void
  remove(): void
}

function OneGroup({ group, n, names, errorOf, change, remove }: OneGroupProps) {
  const said = words.alert
  const naming: Naming = {
    parameter: (row) => said.ofGroup(said.parameter(row), n),
    operator: (row) => said.ofGroup(said.operator(row), n),
    values: (row) => said.ofGroup(said.values(row), n),
    remove: (row) => said.ofGroup(said.removeCondition(row), n),
    add: said.addToGroup(n),
  }
  const path = `conditionGroups[${n - 1}]`
  return (
    <Fieldset variant="unstyled" legend={said.group(n)}>
      <Stack gap="md">
        <NativeSelect
          label={said.ofGroup(said.logic, n)}
          value={group.op}
          onChange={({ currentTarget }) => change({ ...group, op: currentTarget.value })}
          data={Object.entries(said.logics).map(([value, label]) => ({ value, label }))}
          error={errorOf(`${path}.op`)}
        />
        <Conditions
          path={`${path}.items`}
          items={group.items}
          change={(items) => change({ ...group, items })}
          {...{ naming, names, errorOf }}
        />
        <Line justify="flex-end">
          <Button variant="subtle" size="compact-sm" onClick={remove}>
            {said.removeGroup(n)}
          </Button>
        </Line>
      </Stack>
    </Fieldset>
  )
}
