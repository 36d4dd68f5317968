import { ActionIcon, Group, Paper, Text, Title } from '@mantine/core'
import { IconX } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { SessionFlows } from '#client/types.gen'
import { Flow } from '../../../charts/session-paths-chart.tsx'
import { allSessions } from '../../../charts/session-paths-layout.ts'
import { Code, Data } from '../../../components/data-text.tsx'
import { formatNumber, formatPercent } from '../../../components/format.ts'
import { Num, Pct } from '../../../components/numbers.tsx'
import { QueryState } from '../../../components/query-state.tsx'
import { SamplingNote } from '../../../components/sampling-note.tsx'
import { type SimpleColumn, SimpleTable } from '../../../components/simple-table.tsx'
import { messages } from '../../../messages.ts'
import { useSearchParams } from '../../../url-state/use-search-params.ts'
import classes from '../explore.module.css'
import { ExploreHeader, NoEvents, useExploreParams } from '../explore-header.tsx'
import { exploreQueries, JOURNEYS, periodOn } from '../queries.ts'
import { type Transition, transitionsOf } from './transitions.ts'

const MAX_SHOWN = 25
/** Rows per page of the table of paths. */
const SHOWN_PATHS = 10

/** `/explore/journeys`: the pages that sessions visit in sequence, and the tags that fire on them. */
export function JourneysPage() {
  const params = useExploreParams()
  const query = useQuery({ ...exploreQueries.flows(params), placeholderData: keepPreviousData })
  const [{ step, path }, set] = useSearchParams(JOURNEYS)
  const chosen = step !== null && path !== '' ? { step, path } : null
  const t = messages.explore.journeys
  return (
    <>
      <ExploreHeader name="journeys" period={periodOn('journeys', params)} />
      <QueryState query={query} isEmpty={({ sessionsSampled }) => sessionsSampled === 0} empty={<NoEvents />}>
        {(flows) => (
          <>
            <Paper>
              <SamplingNote sampling={flows.sampling} />
              <Flow
                title={t.title}
                summary={summaryOf(flows)}
                flows={flows}
                caption={t.sampled(formatNumber(allSessions(flows)))}
                chosen={chosen}
                choose={set}
              />
              <Text c="dimmed" fz="xs" mt="sm">
                {t.hint}
              </Text>
            </Paper>
            {chosen && <FiringTags flows={flows} {...chosen} close={() => set({ step: null, path: '' })} />}
            <Transitions flows={flows} />
          </>
        )}
      </QueryState>
    </>
  )
}

/** Summary with the most frequent start page and the share of sessions that end on their first page. */
function summaryOf(flows: SessionFlows): string {
  const all = allSessions(flows)
  const [first] = [...(flows.steps[0]?.nodes ?? [])].sort((a, b) => b.sessions - a.sessions)
  const left = transitionsOf(flows)
    .filter(({ step, to }) => step === 0 && to === null)
    .reduce((sum, { sessions }) => sum + sessions, 0)
  return messages.explore.journeys.summary(
    first?.path ?? '/',
    formatPercent((first?.sessions ?? 0) / all),
    formatPercent(left / all),
  )
}

interface FiringProps {
  flows: SessionFlows
  step: number
  path: string
  close(): void
}

type Tag = SessionFlows['steps'][number]['nodes'][number]['vendors'][number]

/** Tags that fire on a page in a step; renders nothing if that page is no longer in the data. */
function FiringTags({ flows, step, path, close }: FiringProps) {
  const node = flows.steps.find(({ index }) => index === step)?.nodes.find((one) => one.path === path)
  if (!node) return null
  const t = messages.explore.journeys
  const columns: SimpleColumn<Tag>[] = [
    { head: t.tag, cell: ({ vendor, event }) => <Data>{`${vendor} · ${event}`}</Data> },
    { head: t.count, isNumber: true, cell: ({ count }) => <Num value={count} digits={0} /> },
    { head: t.perSession, isNumber: true, cell: ({ count }) => <Num value={count / node.sessions} /> },
  ]
  return (
    <Paper className={classes.panel} component="section" aria-label={t.tagsInStep(step + 1)}>
      <Group justify="space-between" mb="md" wrap="nowrap">
        <div>
          <Title order={2}>{t.tagsInStep(step + 1)}</Title>
          <Code>{path}</Code>
        </div>
        <ActionIcon variant="subtle" color="gray" aria-label={t.close} onClick={close}>
          <IconX size={16} aria-hidden />
        </ActionIcon>
      </Group>
      {node.vendors.length === 0 ? (
        <Text>{t.noTags}</Text>
      ) : (
        <SimpleTable
          name={t.tagsInStep(step + 1)}
          columns={columns}
          rows={node.vendors}
          keyOf={({ vendor, event }) => JSON.stringify([vendor, event])}
        />
      )}
    </Paper>
  )
}

/** The most frequent paths between pages. */
function Transitions({ flows }: { flows: SessionFlows }) {
  const all = transitionsOf(flows)
  const t = messages.explore.journeys
  const columns: SimpleColumn<Transition>[] = [
    { head: t.from, cell: ({ from }) => <Code>{from}</Code> },
    {
      head: t.to,
      cell: ({ to }) =>
        to === null ? (
          <Text c="dimmed" fz="sm" span>
            {t.leftSite}
          </Text>
        ) : (
          <Code>{to}</Code>
        ),
    },
    { head: t.step, isNumber: true, cell: ({ step }) => <Num value={step + 1} /> },
    { head: t.sessions, isNumber: true, cell: ({ sessions }) => <Num value={sessions} /> },
    { head: t.share, isNumber: true, cell: ({ share }) => <Pct value={share} /> },
  ]
  return (
    <Paper className={classes.panel}>
      {all.length > MAX_SHOWN && <Text mb="md">{t.topPaths(formatNumber(MAX_SHOWN), formatNumber(all.length))}</Text>}
      <SimpleTable
        name={messages.explore.pages.journeys}
        columns={columns}
        rows={all.slice(0, MAX_SHOWN)}
        size={SHOWN_PATHS}
        keyOf={({ step, from, to }) => JSON.stringify([step, from, to])}
      />
    </Paper>
  )
}
