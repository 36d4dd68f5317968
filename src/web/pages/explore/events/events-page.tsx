import { Button, Group, Text } from '@mantine/core'
import { IconX } from '@tabler/icons-react'
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useMemo, useState } from 'react'
import { getVolumeOptions } from '#client/@tanstack/react-query.gen'
import { searchEvents } from '#client/sdk.gen'
import type { Event } from '#client/types.gen'
import { MAX_HOURS } from '../../../../contract/limits.ts'
import { STALE_MS } from '../../../api/queries.ts'
import { ColumnsMenu, useShownColumns } from '../../../components/columns-menu.tsx'
import { Data } from '../../../components/data-text.tsx'
import { ExportMenu } from '../../../components/export-menu.tsx'
import { FilterBar } from '../../../components/filter-bar.tsx'
import { UNKNOWN } from '../../../components/format.ts'
import { QueryState, SkeletonRows } from '../../../components/query-state.tsx'
import { TimeAgo } from '../../../components/time-ago.tsx'
import { type Column, VirtualTable } from '../../../components/virtual-table.tsx'
import { messages } from '../../../messages.ts'
import { usePeriod, useSearchParams, useSharedParams, useTimeRange } from '../../../url-state/use-search-params.ts'
import { ExploreHeader, NoEvents, useDomainFilter } from '../explore-header.tsx'
import { EVENTS, eventFilters, eventsQuery } from '../queries.ts'
import { EventButton } from './event-button.tsx'
import { EventDrawer } from './event-drawer.tsx'

const Bars = lazy(async () => ({ default: (await import('../../../charts/bar-chart.tsx')).BarChart }))

const HISTOGRAM_PX = 120
/** Enough for names of two lines. */
const NARROW_ROW_PX = 100

/** `/explore/events`: searches raw events. */
export function EventsPage() {
  const [values] = useSearchParams(EVENTS)
  const [{ project }] = useSharedParams()
  const moments = useTimeRange()
  const listQuery = eventsQuery({ ...values, project, ...moments })
  const query = useInfiniteQuery({ ...listQuery, placeholderData: keepPreviousData })
  const [opened, open] = useState<Event | null>(null)
  const all = useMemo(() => columns(open), [])
  const shown = useShownColumns('events', all)
  const t = messages.explore.events
  return (
    <>
      <ExploreHeader
        name="events"
        period={usePeriod(MAX_HOURS.series)}
        acts={
          <>
            <ColumnsMenu table="events" columns={all} />
            <ExportMenu of={searchEvents} queryKey={listQuery.queryKey} name="events" />
          </>
        }
        filters={<Filters />}
      />
      <LinkedFilters />
      <Text c="dimmed" mb="md">
        {t.about}
      </Text>
      <Histogram />
      <QueryState
        query={query}
        skeleton={<SkeletonRows />}
        isEmpty={({ pages }) => pages[0]?.events.length === 0}
        empty={<NoEvents />}
      >
        {({ pages }) => (
          <VirtualTable
            name={messages.explore.pages.events}
            rows={pages.flatMap(({ events }) => events)}
            columns={shown}
            idOf={({ seq }) => String(seq)}
            narrowRowHeight={NARROW_ROW_PX}
            pages={query}
          />
        )}
      </QueryState>
      <EventDrawer event={opened} close={() => open(null)} />
    </>
  )
}

function Filters() {
  const domain = useDomainFilter()
  const { vendor, event, events } = messages.explore
  return (
    <FilterBar
      views="events"
      fields={EVENTS}
      filters={[
        { is: 'search', name: 'q' },
        { is: 'text', name: 'vendor', label: vendor },
        { is: 'text', name: 'event', label: event },
        { is: 'text', name: 'param', label: events.param, hint: events.paramHint },
        domain,
      ]}
    />
  )
}

/** Filters that links from other pages set, with a button to remove each. */
function LinkedFilters() {
  const [{ version, env, violated }, set] = useSearchParams(EVENTS)
  const t = messages.explore.events.linked
  const active = [
    version !== null && { text: t.version(String(version)), remove: () => set({ version: null }) },
    env !== null && { text: t.env[env], remove: () => set({ env: null }) },
    violated !== null && { text: t.violated[violated], remove: () => set({ violated: null }) },
  ].filter((filter) => filter !== false)
  if (active.length === 0) return null
  return (
    <Group gap="xs" mb="md">
      {active.map(({ text, remove }) => (
        <Button
          key={text}
          variant="default"
          size="compact-sm"
          rightSection={<IconX size={14} aria-hidden />}
          aria-label={t.remove(text)}
          onClick={remove}
        >
          <Data>{text}</Data>
        </Button>
      ))}
    </Group>
  )
}

/** Number of events over time; clicking a bar narrows the time range to it. */
function Histogram() {
  const [values] = useSearchParams(EVENTS)
  const [{ project }, setShared] = useSharedParams()
  const period = usePeriod(MAX_HOURS.series)
  const query = { ...period.query, ...eventFilters({ ...values, project }) }
  const { data, isPending } = useQuery({
    ...getVolumeOptions({ query }),
    staleTime: STALE_MS.insight,
    placeholderData: keepPreviousData,
  })
  const t = messages.explore.events
  return (
    <div style={{ minHeight: HISTOGRAM_PX + 60 }} aria-busy={isPending}>
      {data && (
        <Suspense>
          <Bars
            title={t.histogram}
            isTitleHidden
            summary={t.histogramSummary}
            points={data.series.map(({ start, observed, partial }) => ({ start, value: observed, partial }))}
            unit={messages.overview.unit[data.grain]}
            height={HISTOGRAM_PX}
            special={data.specialPeriods}
            // A single bar is the whole time range.
            onPick={
              data.series.length > 1 ? (from, to) => setShared({ from, to: Math.min(to, Date.now()) }) : undefined
            }
          />
        </Suspense>
      )}
    </div>
  )
}

function columns(open: (event: Event) => void): Column<Event>[] {
  const t = messages.explore.events
  return [
    {
      id: 'event',
      head: messages.explore.event,
      isMain: true,
      cell: (event) => <EventButton event={event} open={open} />,
    },
    {
      id: 'vendor',
      head: messages.explore.vendor,
      width: '200px',
      isUnderMain: true,
      cell: ({ vendor }) => <Data>{vendor}</Data>,
    },
    {
      id: 'host',
      head: t.host,
      width: '260px',
      hideBelow: 768,
      cell: ({ host, path }) => <Data>{`${host ?? UNKNOWN}${path ?? ''}`}</Data>,
    },
    { id: 'when', head: t.time, width: '100px', cell: ({ receivedAt }) => <TimeAgo at={receivedAt} isQuiet /> },
  ]
}
