import { Button, Group, Stack, Text, Title } from '@mantine/core'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { listRejectionsInfiniteOptions, watchDomainOptions } from '#client/@tanstack/react-query.gen'
import type { LiveEvents } from '#client/types.gen'
import { Code, Data } from '../../../components/data-text.tsx'
import { UNKNOWN } from '../../../components/format.ts'
import { Num } from '../../../components/numbers.tsx'
import { QueryState } from '../../../components/query-state.tsx'
import { SimpleTable } from '../../../components/simple-table.tsx'
import { TimeAgo } from '../../../components/time-ago.tsx'
import { messages } from '../../../messages.ts'
import { DomainLayout, useDomainId } from './domain-layout.tsx'

type LiveEvent = LiveEvents['events'][number]

/** Polling interval. The server keeps live capture enabled while it is polled. */
const POLL_INTERVAL_MS = 1000
const SHOWN = 100
const REFUSED_SHOWN = 20

/** `/domains/{id}/live`: incoming events and rejections. */
export function DomainLivePage() {
  return (
    <DomainLayout part="live">
      {() => (
        <Stack gap="xl" className="column">
          <Tail />
          <Refusals />
        </Stack>
      )}
    </DomainLayout>
  )
}

function Tail() {
  const id = useDomainId()
  const [isPaused, pause] = useState(false)
  const t = messages.domains.live
  const query = useQuery({
    ...watchDomainOptions({ path: { id }, query: { limit: SHOWN } }),
    refetchInterval: isPaused ? false : POLL_INTERVAL_MS,
  })
  const events = useSeenEvents(query.data)
  return (
    <Stack gap="md">
      <Group gap="sm">
        <Button variant="default" onClick={() => pause(!isPaused)}>
          {isPaused ? t.resume : t.pause}
        </Button>
        {isPaused && <Text c="dimmed">{t.paused}</Text>}
      </Group>
      <QueryState query={query} isEmpty={() => events.length === 0} empty={<NoLiveEvents id={id} />}>
        {() => (
          <SimpleTable
            name={t.table}
            rows={events}
            keyOf={({ seq }) => String(seq)}
            columns={[
              { head: t.event, cell: ({ event }) => <Data>{String(event.event)}</Data> },
              { head: t.vendor, cell: ({ event }) => <Data>{String(event.vendor)}</Data> },
              { head: t.host, cell: ({ event }) => <Data>{String(event.host ?? UNKNOWN)}</Data> },
              { head: t.env, cell: ({ event }) => <Data>{String(event.env ?? UNKNOWN)}</Data> },
              { head: t.time, cell: ({ ts }) => <TimeAgo at={ts} /> },
            ]}
          />
        )}
      </QueryState>
    </Stack>
  )
}

const NoLiveEvents = ({ id }: { id: string }) => (
  <Stack gap="sm" align="flex-start">
    <Text maw="72ch">{messages.domains.live.none}</Text>
    <Button component={Link} to="/explore/events" search={{ domainId: id } as never} variant="default">
      {messages.domains.live.stored}
    </Button>
  </Stack>
)

/** Events received while the page has been open, most recent first. */
function useSeenEvents(latest: LiveEvents | undefined): readonly LiveEvent[] {
  const [events, setEvents] = useState<readonly LiveEvent[]>([])
  useEffect(() => {
    if (!latest) return
    setEvents((before) => {
      const known = new Set(before.map(({ seq }) => seq))
      const added = latest.events.filter(({ seq }) => !known.has(seq))
      if (added.length === 0) return before
      return [...added, ...before].toSorted((a, b) => b.seq - a.seq).slice(0, SHOWN)
    })
  }, [latest])
  return events
}

function Refusals() {
  const domainId = useDomainId()
  const query = useInfiniteQuery(listRejectionsInfiniteOptions({ query: { domainId, limit: SHOWN } }))
  const t = messages.domains.live
  return (
    <Stack gap="md">
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
            size={REFUSED_SHOWN}
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
