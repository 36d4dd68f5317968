import { Alert, Button, Group, Stack, Text, Title } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { listRejectionsInfiniteOptions } from '#client/@tanstack/react-query.gen'
import type { Domain, Event } from '#client/types.gen'
import { Code, Data } from '../../../components/data-text.tsx'
import { ClearFilters, type Filter, FilterBar } from '../../../components/filter-bar.tsx'
import { formatDate, formatNumber, UNKNOWN } from '../../../components/format.ts'
import { Num } from '../../../components/numbers.tsx'
import { QueryState, SkeletonRows } from '../../../components/query-state.tsx'
import { SimpleTable } from '../../../components/simple-table.tsx'
import { TimeAgo } from '../../../components/time-ago.tsx'
import { useTimeZone } from '../../../components/use-time-zone.ts'
import { type Column, VirtualTable } from '../../../components/virtual-table.tsx'
import { messages } from '../../../messages.ts'
import { useSearchParams } from '../../../url-state/use-search-params.ts'
import { EventButton } from '../../explore/events/event-button.tsx'
import { EventDrawer } from '../../explore/events/event-drawer.tsx'
import { LIVE } from '../queries.ts'
import { DomainLayout, useDomainId } from './domain-layout.tsx'
import { LiveStrip } from './live-strip.tsx'
import { filterEvents, type LiveTimeline, valuesOf } from './live-timeline.ts'
import { HISTORY_MINUTES, useLiveEvents } from './use-live-events.ts'

const MAX_REJECTIONS = 100
const REJECTIONS_SHOWN = 20
const TIME: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit', second: '2-digit' }

/** `/domains/{id}/live`: incoming events and rejections. */
export function DomainLivePage() {
  return (
    <DomainLayout part="live">
      {(domain) => (
        <Stack gap="xl">
          <Timeline domain={domain} />
          <Rejections />
        </Stack>
      )}
    </DomainLayout>
  )
}

function Timeline({ domain }: { domain: Domain }) {
  const [values] = useSearchParams(LIVE)
  const { timeline, isLoaded, error, isPaused, pause } = useLiveEvents(domain.id)
  const { shown, waiting } = timeline
  const events = useMemo(() => filterEvents(shown, values), [shown, values])
  const [opened, open] = useState<Event | null>(null)
  const filters = useLiveFilters(shown)
  const t = messages.domains.live
  return (
    <Stack gap="md">
      <FilterBar fields={LIVE} filters={filters} />
      <LiveStrip events={events} isPaused={isPaused} />
      <Group gap="sm">
        <Button variant="default" onClick={() => pause(!isPaused)}>
          {isPaused ? t.resume : t.pause}
        </Button>
        <Text c="dimmed" fz="sm" role="status">
          {isPaused ? t.waiting(formatNumber(waiting.length, 0)) : t.about(HISTORY_MINUTES)}
        </Text>
      </Group>
      {error !== null && (
        <Alert role="alert" color="red" variant="light">
          {t.interrupted} <Data>{error}</Data>
        </Alert>
      )}
      {!isLoaded && error === null && <SkeletonRows />}
      {isLoaded && shown.length === 0 && <NoLiveEvents domain={domain} />}
      {shown.length > 0 && events.length === 0 && (
        <Stack gap="sm" align="flex-start">
          <Text>{t.noMatch}</Text>
          <ClearFilters fields={LIVE} filters={filters} />
        </Stack>
      )}
      {events.length > 0 && <EventTable events={events} open={open} />}
      <Dropped timeline={timeline} domainId={domain.id} />
      <EventDrawer event={opened} close={() => open(null)} />
    </Stack>
  )
}

function useLiveFilters(events: readonly Event[]): readonly Filter<keyof typeof LIVE>[] {
  const [{ vendor, event }] = useSearchParams(LIVE)
  return useMemo(() => {
    const optionsOf = (name: 'vendor' | 'event', selected: readonly string[]) =>
      valuesOf(events, name, selected).map((value) => ({ value, label: value }))
    const { explore } = messages
    return [
      { is: 'search', name: 'q' },
      { is: 'several', name: 'vendor', label: explore.vendor, options: optionsOf('vendor', vendor), isData: true },
      { is: 'several', name: 'event', label: explore.event, options: optionsOf('event', event), isData: true },
    ]
  }, [events, vendor, event])
}

function EventTable({ events, open }: { events: readonly Event[]; open(event: Event): void }) {
  const zone = useTimeZone()
  const columns = useMemo(() => eventColumns(zone, open), [zone, open])
  return (
    <VirtualTable name={messages.domains.live.table} rows={events} columns={columns} idOf={({ seq }) => String(seq)} />
  )
}

function eventColumns(zone: string, open: (event: Event) => void): Column<Event>[] {
  const t = messages.domains.live
  return [
    {
      id: 'time',
      head: t.time,
      width: '96px',
      cell: ({ receivedAt }) => (
        <span className="figure">
          <Data>{formatDate(receivedAt, zone, TIME)}</Data>
        </span>
      ),
    },
    { id: 'event', head: t.event, isMain: true, cell: (event) => <EventButton event={event} open={open} /> },
    { id: 'vendor', head: t.vendor, width: '200px', isUnderMain: true, cell: ({ vendor }) => <Data>{vendor}</Data> },
    {
      id: 'host',
      head: t.page,
      width: '300px',
      hideBelow: 768,
      cell: ({ host, path }) => <Data>{`${host ?? UNKNOWN}${path ?? ''}`}</Data>,
    },
    { id: 'env', head: t.env, width: '110px', hideBelow: 1200, cell: ({ env }) => <Data>{env}</Data> },
  ]
}

function NoLiveEvents({ domain }: { domain: Domain }) {
  const t = messages.domains.live
  return (
    <Stack gap="sm" align="flex-start">
      <Text maw="72ch">
        {t.none(HISTORY_MINUTES)} {t.open}
      </Text>
      <StoredEventsLink domainId={domain.id} />
    </Stack>
  )
}

const StoredEventsLink = ({ domainId }: { domainId: string }) => (
  <Button component={Link} to="/explore/events" search={{ domainId } as never} variant="default" w="fit-content">
    {messages.domains.live.stored}
  </Button>
)

/** Says how many events the timeline no longer shows. */
function Dropped({ timeline: { shown, dropped }, domainId }: { timeline: LiveTimeline; domainId: string }) {
  if (dropped === 0) return null
  const t = messages.domains.live
  return (
    <Stack gap="sm">
      <Text c="dimmed" fz="sm">
        {t.dropped(formatNumber(shown.length, 0), formatNumber(dropped, 0))}
      </Text>
      <StoredEventsLink domainId={domainId} />
    </Stack>
  )
}

function Rejections() {
  const domainId = useDomainId()
  const query = useInfiniteQuery(listRejectionsInfiniteOptions({ query: { domainId, limit: MAX_REJECTIONS } }))
  const t = messages.domains.live
  return (
    <Stack gap="md" className="column">
      <Title order={2}>{t.rejectedTitle}</Title>
      <QueryState
        query={query}
        isEmpty={({ pages }) => pages[0]?.rejections.length === 0}
        empty={<Text>{t.noneRejected}</Text>}
      >
        {({ pages }) => (
          <SimpleTable
            name={t.rejectedTable}
            rows={pages.flatMap(({ rejections }) => rejections)}
            pages={query}
            size={REJECTIONS_SHOWN}
            keyOf={({ reason, sample }) => `${reason} ${sample}`}
            columns={[
              { head: t.reason, cell: ({ reason }) => <Data>{reason}</Data> },
              { head: t.sample, cell: ({ sample }) => <Code>{sample}</Code> },
              { head: t.count, isNumber: true, cell: ({ count }) => <Num value={count} /> },
              { head: t.lastSeen, cell: ({ lastSeenAt }) => <TimeAgo at={lastSeenAt} /> },
            ]}
          />
        )}
      </QueryState>
    </Stack>
  )
}
