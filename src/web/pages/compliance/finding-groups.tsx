import { Checkbox, Group, Skeleton, Stack, Text, Title, UnstyledButton } from '@mantine/core'
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react'
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { useId, useState } from 'react'
import type { ComplianceGroupList } from '#client/types.gen'
import { useHasRole } from '../../api/whoami.ts'
import { Data } from '../../components/data-text.tsx'
import { Paginated } from '../../components/paginated.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { messages } from '../../messages.ts'
import { kindOf } from './finding-texts.tsx'
import classes from './findings.module.css'
import { FindingList } from './findings.tsx'
import { FINDINGS_PAGE_SIZE, type FindingsParams, findingsQuery, type Grouping, openAtFirst } from './queries.ts'
import type { FindingSelection } from './use-finding-selection.ts'

type FindingGroup = ComplianceGroupList['groups'][number]

interface GroupsProps {
  params: FindingsParams
  groups: readonly FindingGroup[]
  selection: FindingSelection
}

/** The groups of findings. A group loads its findings when it is opened. */
export function FindingGroups({ params, groups, selection }: GroupsProps) {
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set())
  const initiallyOpen = openAtFirst(groups)
  return (
    <Stack gap="lg">
      {groups.map((group) => {
        const id = `${params.by} ${group.value}`
        const toggle = () =>
          setToggled((was) => (was.has(id) ? new Set([...was].filter((one) => one !== id)) : new Set([...was, id])))
        return (
          <GroupSection
            key={id}
            params={params}
            group={group}
            isOpen={initiallyOpen.includes(group) !== toggled.has(id)}
            toggle={toggle}
            selection={selection}
          />
        )
      })}
    </Stack>
  )
}

/** Name of a group; null for findings without a known page. */
function titleOf(by: Grouping, value: string): string | null {
  if (by === 'kind') return kindOf(value)
  return value === '' ? null : value
}

interface GroupProps extends Omit<GroupsProps, 'groups'> {
  group: FindingGroup
  isOpen: boolean
  toggle(): void
}

function GroupSection({ params, group, isOpen, toggle, selection }: GroupProps) {
  const { value, findings, undecided, lastSeenAt } = group
  const id = useId()
  const t = messages.compliance
  const title = titleOf(params.by, value)
  const Icon = isOpen ? IconChevronDown : IconChevronRight
  return (
    <section aria-labelledby={id}>
      <Group gap="md" className={classes.group}>
        <Title order={2} fz="md" className={classes.groupTitle}>
          <UnstyledButton id={id} aria-expanded={isOpen} onClick={toggle} className={classes.toggle}>
            <Icon size={18} aria-hidden />
            {title === null ? t.pageUnknown : params.by === 'kind' ? title : <Data>{title}</Data>}
          </UnstyledButton>
        </Title>
        <Text c="dimmed" fz="sm" component="div">
          {t.groupCount(findings, undecided)} · {t.lastSeen} <TimeAgo at={lastSeenAt} />
        </Text>
      </Group>
      {isOpen && <GroupFindings params={params} group={group} title={title ?? t.pageUnknown} selection={selection} />}
    </section>
  )
}

function GroupFindings({ params, group, title, selection }: Omit<GroupProps, 'isOpen' | 'toggle'> & { title: string }) {
  const query = useInfiniteQuery({ ...findingsQuery(params, group.value), placeholderData: keepPreviousData })
  const may = useHasRole('member')
  const t = messages.compliance
  return (
    <QueryState
      query={query}
      skeleton={<FindingsSkeleton count={Math.min(group.findings, FINDINGS_PAGE_SIZE)} />}
      isEmpty={({ pages }) => pages[0]?.findings.length === 0}
      empty={<Text>{t.groupEmpty}</Text>}
    >
      {({ pages }) => (
        <Paginated rows={pages.flatMap(({ findings }) => findings)} pages={query} size={FINDINGS_PAGE_SIZE}>
          {(findings) => (
            <>
              {may && findings.length > 1 && (
                <Checkbox
                  size="xs"
                  label={t.selectShown(findings.length)}
                  aria-description={title}
                  checked={findings.every((finding) => selection.has(finding))}
                  indeterminate={
                    findings.some((finding) => selection.has(finding)) &&
                    !findings.every((finding) => selection.has(finding))
                  }
                  onChange={({ currentTarget }) => selection.set(findings, currentTarget.checked)}
                />
              )}
              <FindingList findings={findings} by={params.by} selection={may ? selection : null} />
            </>
          )}
        </Paginated>
      )}
    </QueryState>
  )
}

/** As high as the findings, so that the groups below hardly move when the findings are shown. */
function FindingsSkeleton({ count }: { count: number }) {
  return (
    <div className={classes.list}>
      {Array.from({ length: count }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines are identical
        <Skeleton key={index} className={classes.skeleton} />
      ))}
    </div>
  )
}
