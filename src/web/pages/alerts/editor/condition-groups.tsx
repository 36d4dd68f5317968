import { Button, Fieldset, Group as Line, NativeSelect, Stack, Text } from '@mantine/core'
import { MAX_CONDITION_GROUPS } from '../../../../contract/limits.ts'
import { Collapsible } from '../../../components/collapsible.tsx'
import { messages } from '../../../messages.ts'
import { Conditions, type Naming } from './conditions.tsx'
import { type Group, NO_CONDITION } from './draft.ts'
import type { RuleSectionProps } from './section-props.ts'

/** Groups of conditions; every group must match, in addition to the conditions above. */
export function ConditionGroups({ draft, change, names, errorOf, paths }: RuleSectionProps) {
  const t = messages.alert
  const groups = draft.conditionGroups ?? []
  const set = (next: Group[]) => {
    const { conditionGroups: _, ...rest } = draft
    change({ ...rest, ...(next.length > 0 && { conditionGroups: next }) })
  }
  return (
    <Collapsible
      title={t.groups}
      summary={groups.length === 0 ? t.none : t.groupCount(groups.length)}
      isOpenAtFirst={groups.length > 0}
      mustShow={paths.some((path) => path.startsWith('conditionGroups') && errorOf(path) !== undefined)}
    >
      <Stack gap="md">
        <Text c="dimmed" fz="sm">
          {t.groupsHint}
        </Text>
        {groups.map((group, index) => (
          <OneGroup
            // biome-ignore lint/suspicious/noArrayIndexKey: groups are identified only by their index
            key={index}
            group={group}
            names={names}
            errorOf={errorOf}
            n={index + 1}
            change={(next) => set(groups.with(index, next))}
            remove={() => set(groups.filter((_, other) => other !== index))}
          />
        ))}
        {groups.length < MAX_CONDITION_GROUPS && (
          <Button
            variant="default"
            w="fit-content"
            onClick={() => set([...groups, { op: 'any', items: [NO_CONDITION] }])}
          >
            {t.addGroup}
          </Button>
        )}
      </Stack>
    </Collapsible>
  )
}

interface OneGroupProps extends Pick<RuleSectionProps, 'names' | 'errorOf'> {
  group: Group
  /** Number of the group, from 1. */
  n: number
  change(group: Group): void
  remove(): void
}

function OneGroup({ group, n, names, errorOf, change, remove }: OneGroupProps) {
  const t = messages.alert
  const naming: Naming = {
    parameter: (row) => t.inGroup(t.parameter(row), n),
    operator: (row) => t.inGroup(t.operator(row), n),
    values: (row) => t.inGroup(t.values(row), n),
    remove: (row) => t.inGroup(t.removeCondition(row), n),
    add: t.addToGroup(n),
  }
  const path = `conditionGroups[${n - 1}]`
  return (
    <Fieldset variant="unstyled" legend={t.group(n)}>
      <Stack gap="md">
        <NativeSelect
          label={t.inGroup(t.logic, n)}
          value={group.op}
          onChange={({ currentTarget }) => change({ ...group, op: currentTarget.value as Group['op'] })}
          data={Object.entries(t.logics).map(([value, label]) => ({ value, label }))}
          error={errorOf(`${path}.op`)}
        />
        <Conditions
          path={`${path}.items`}
          items={group.items}
          change={(items) => change({ ...group, items })}
          naming={naming}
          names={names}
          errorOf={errorOf}
        />
        <Line justify="flex-end">
          <Button variant="subtle" size="compact-sm" onClick={remove}>
            {t.removeGroup(n)}
          </Button>
        </Line>
      </Stack>
    </Fieldset>
  )
}
