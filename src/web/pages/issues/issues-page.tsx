import { Button, Stack, Text } from '@mantine/core'
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState } from 'react'
import type { Issue } from '#client/types.gen'
import { useShared, useValues } from '../../address/use-search.ts'
import { useMay } from '../../api/who.ts'
import { messages } from '../../messages.ts'
import { ClearFilters, FilterBar, useIsFiltered } from '../../parts/filter-bar.tsx'
import { MayLine } from '../../parts/may.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { QueryState, Rows } from '../../parts/query-state.tsx'
import { useSelection } from '../../parts/selection.ts'
import { useSteady } from '../../parts/steady.ts'
import { VirtualTable } from '../../parts/virtual-table.tsx'
import { notices } from '../../shell/notices.ts'
import { ISSUES } from './address.ts'
import { rememberList } from './came-from.ts'
import { useIssueFilters } from './filters.ts'
import { setStatus } from './issue-acts.ts'
import { issueColumns } from './issue-columns.tsx'
import classes from './issues-page.module.css'
import { MuteMenu } from './mute-menu.tsx'
import { NoIssues } from './no-issues.tsx'
import { issuesAskedFor } from './question.ts'
import { SelectedIssues } from './selected-issues.tsx'

/** `/issues`: the list of issues. */
export function IssuesPage() {
  const [values] = useValues(ISSUES)
  const [{ project }] = useShared()
  const asked = issuesAskedFor({ ...values, project })
  const query = useInfiniteQuery({ ...asked, placeholderData: keepPreviousData })
  const filters = useIssueFilters()
  const isFiltered = useIsFiltered({ fields: ISSUES, filters })
  useEffect(() => rememberList(asked.queryKey, values))
  const counts = query.data?.pages[0]?.openCounts
  const open = counts ? Object.values(counts).reduce((sum, count) => sum + count, 0) : 0
  const issues = useMemo(() => query.data?.pages.flatMap((page) => page.issues) ?? [], [query.data])
  return (
    <>
      <PageHead title={messages.shell.pages.issues} count={open > 0 ? String(open) : null} />
      <MayLine what={messages.issues.changing} needs="member" />
      <FilterBar fields={ISSUES} filters={filters} />
      <QueryState
        query={query}
        skeleton={<Rows />}
        isEmpty={() => issues.length === 0}
        empty={isFiltered ? <NoneMatches filters={filters} /> : <NoIssues />}
      >
        {() => <IssueTable latest={issues} pages={query} question={JSON.stringify(asked.queryKey)} />}
      </QueryState>
    </>
  )
}

function NoneMatches({ filters }: { filters: ReturnType<typeof useIssueFilters> }) {
  return (
    <Stack align="center" gap="sm" p="xl">
      <Text fz="lg">{messages.issues.noneMatches}</Text>
      <ClearFilters fields={ISSUES} filters={filters} />
    </Stack>
  )
}

const idOf = ({ id }: Issue) => id
const nameOf = ({ title }: Issue) => title
const linkOf = ({ id }: Issue) => ({ to: '/issues/$id', params: { id } }) as const

interface IssueTableProps {
  latest: readonly Issue[]
  /** Identifies the query of the list. */
  question: string
  pages: React.ComponentProps<typeof VirtualTable>['pages']
}

function IssueTable({ latest, question, pages }: IssueTableProps) {
  const list = useRef<HTMLDivElement>(null)
  const { rows: issues, newer, show } = useSteady(latest, idOf, list, question)
  const mayChange = useMay('member')
  const ids = useMemo(() => issues.map(idOf), [issues])
  const selection = useSelection(ids)
  const [muting, mute] = useState<{ issue: Issue; top: number } | null>(null)
  const chosen = issues.filter(({ id }) => selection.ids.has(id))
  const columns = useMemo(() => issueColumns(), [])
  const openMute = ([issue, ...others]: readonly Issue[]) => {
    if (issue === undefined || others.length > 0) return notices.say(messages.issues.muteOne)
    const { top = 0 } = document.activeElement?.closest('tr')?.getBoundingClientRect() ?? {}
    mute({ issue, top })
  }
  const acts = {
    a: (those: readonly Issue[]) => void setStatus(those, 'acknowledged'),
    r: (those: readonly Issue[]) => void setStatus(those, 'resolved'),
    u: (those: readonly Issue[]) => void setStatus(those, 'open'),
    m: openMute,
  }
  return (
    <>
      <div aria-live="polite" className={classes.newer}>
        {newer > 0 && (
          <Button size="compact-sm" radius="xl" onClick={show}>
            {messages.issues.newer(newer)}
          </Button>
        )}
      </div>
      <div ref={list}>
        <VirtualTable
          name={messages.issues.table}
          {...{ columns, idOf, nameOf, linkOf, pages }}
          rows={issues}
          selection={mayChange ? selection : null}
          acts={mayChange ? acts : {}}
          narrowRowHeight={88}
        />
      </div>
      {mayChange && chosen.length > 0 && <SelectedIssues issues={chosen} selection={selection} />}
      {muting && (
        <MuteMenu issue={muting.issue} isOpen open={(isOpen) => isOpen || mute(null)}>
          <span className={classes.anchor} style={{ top: muting.top + 44 }} />
        </MuteMenu>
      )}
    </>
  )
}
