import { Button, Paper, Stack, Text } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import type { Event } from '#client/types.gen'
import { useHasRole } from '../../../api/whoami.ts'
import { Breadcrumb } from '../../../components/breadcrumb.tsx'
import { Data, Dot } from '../../../components/data-text.tsx'
import { formatNumber } from '../../../components/format.ts'
import { PageHeader } from '../../../components/page-header.tsx'
import { QueryState } from '../../../components/query-state.tsx'
import { DateTime, TimeOfDay } from '../../../components/time-ago.tsx'
import { messages } from '../../../messages.ts'
import { valuesOf } from '../../../url-state/search-params.ts'
import { useTimeRange } from '../../../url-state/use-search-params.ts'
import classes from '../explore.module.css'
import { NoEvents } from '../explore-header.tsx'
import { EVENTS, eventsQuery } from '../queries.ts'
import { EventButton } from './event-button.tsx'
import { EventDrawer } from './event-drawer.tsx'

/** `/explore/sessions/{id}`: the events of a visitor's session in chronological order. */
export function SessionPage() {
  const sessionId = useParams({ strict: false }).id ?? ''
  const moments = useTimeRange()
  const query = useInfiniteQuery(eventsQuery({ ...valuesOf(EVENTS, {}), sessionId, project: '', ...moments }))
  const [opened, open] = useState<Event | null>(null)
  const mayTest = useHasRole('member')
  const t = messages.explore.session
  return (
    <>
      <PageHeader title={t.title} above={<Breadcrumb to="/explore/events">{messages.explore.pages.events}</Breadcrumb>}>
        {mayTest && (
          <Button component={Link} to="/tests/new" search={{ sessionId } as never} variant="default">
            {t.makeTest}
          </Button>
        )}
      </PageHeader>
      <Stack gap="md">
        <Text c="dimmed">
          <Data>{sessionId}</Data>
        </Text>
        <QueryState
          query={query}
          isEmpty={({ pages }) => pages[0]?.events.length === 0}
          empty={<NoEvents sentence={t.none} />}
        >
          {({ pages }) => <Path events={pages.flatMap(({ events }) => events).toReversed()} open={open} />}
        </QueryState>
      </Stack>
      <EventDrawer event={opened} close={() => open(null)} />
    </>
  )
}

interface Page {
  path: string
  events: Event[]
}

/** Groups consecutive events by page. */
function pagesOf(events: readonly Event[]): Page[] {
  const pages: Page[] = []
  for (const event of events) {
    const path = `${event.host ?? ''}${event.path ?? ''}`
    const last = pages.at(-1)
    if (last?.path === path) last.events.push(event)
    else pages.push({ path, events: [event] })
  }
  return pages
}

function Path({ events, open }: { events: readonly Event[]; open(event: Event): void }) {
  return (
    <>
      <Text mb="md" component="div">
        {events[0] && <DateTime at={events[0].ts} />}
        <Dot />
        {messages.explore.session.about(events.length, formatNumber(events.length, 0))}
      </Text>
      <ol aria-label={messages.explore.session.path} className={classes.path}>
        {pagesOf(events).map(({ path, events }) => (
          <li key={events[0]?.seq}>
            <Paper>
              <Text fw={600} component="div">
                <Data>{path}</Data>
              </Text>
              <ul className={classes.fired}>
                {events.map((event) => (
                  <li key={event.seq}>
                    <TimeOfDay at={event.ts} /> <Data>{event.vendor}</Data> <EventButton event={event} open={open} />
                  </li>
                ))}
              </ul>
            </Paper>
          </li>
        ))}
      </ol>
    </>
  )
}
