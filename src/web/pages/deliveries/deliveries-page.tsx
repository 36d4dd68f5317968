import { Anchor, Button, Stack, Text } from '@mantine/core'
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { replayDelivery } from '#client/sdk.gen'
import type { Delivery } from '#client/types.gen'
import { SHARED } from '../../address/search.ts'
import { useValues } from '../../address/use-search.ts'
import { mutate } from '../../api/mutate.ts'
import { useMay } from '../../api/who.ts'
import { messages } from '../../messages.ts'
import { Ago, At } from '../../parts/ago.tsx'
import { Card } from '../../parts/card.tsx'
import { Data, Dot, Sentence } from '../../parts/data.tsx'
import { FilterBar } from '../../parts/filter-bar.tsx'
import { MayLine } from '../../parts/may.tsx'
import { Num } from '../../parts/numbers.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { QueryState, Rows } from '../../parts/query-state.tsx'
import { type Standing, StatusMark } from '../../parts/status-mark.tsx'
import { Target } from '../../parts/target.tsx'
import { type Column, VirtualTable } from '../../parts/virtual-table.tsx'
import classes from './inbox.module.css'
import { DELIVERIES, deliveriesQuery, inboxQuery } from './queries.ts'

/** The mark of each status. */
const STATUS_MARKS: Record<Delivery['status'], Standing> = {
  ...{ pending: 'learning', sending: 'learning', delivered: 'resolved', failed: 'failed', withdrawn: 'muted' },
}

/** `/deliveries`: the log of notifications. */
export function DeliveriesPage() {
  const [values] = useValues({ ...DELIVERIES, ...SHARED })
  const query = useInfiniteQuery({ ...deliveriesQuery(values), placeholderData: keepPreviousData })
  const columns = useColumns()
  const t = messages.deliveries
  const isFiltered = [values.status, values.issueId, values.project].some(Boolean)
  return (
    <>
      <PageHead title={messages.shell.pages.deliveries} />
      <MayLine needs="member" what={t.restrictedAction} />
      <FilterBar
        fields={DELIVERIES}
        filters={[
          {
            ...{ is: 'one', name: 'status', label: t.status },
            options: [
              { value: '', label: messages.parts.any },
              ...Object.entries(t.statuses).map(([value, label]) => ({ value, label })),
            ],
          },
          { is: 'chip', name: 'issueId', label: t.issue, options: [] },
        ]}
      />
      <QueryState
        query={query}
        skeleton={<Rows />}
        isEmpty={({ pages }) => pages[0]?.deliveries.length === 0}
        empty={isFiltered ? <Text>{messages.parts.noneMatch}</Text> : <NoDeliveries />}
      >
        {({ pages }) => (
          <VirtualTable
            name={messages.shell.pages.deliveries}
            rows={pages.flatMap(({ deliveries }) => deliveries)}
            columns={columns}
            idOf={({ id }) => id}
            pages={query}
          />
        )}
      </QueryState>
      <Inbox />
    </>
  )
}

function NoDeliveries() {
  const may = useMay('member')
  return (
    <Stack align="flex-start">
      <Text>{messages.deliveries.none}</Text>
      {may && (
        <Button component={Link} to="/alerts/new" variant="default">
          {messages.deliveries.newAlert}
        </Button>
      )}
    </Stack>
  )
}

function useColumns(): Column<Delivery>[] {
  const may = useMay('member')
  const t = messages.deliveries
  return [
    {
      ...{ id: 'status', head: t.status, width: '130px', isUnderMain: true },
      cell: ({ status }) => <StatusMark status={STATUS_MARKS[status]} word={t.statuses[status]} />,
    },
    { id: 'what', head: t.transition, isMain: true, cell: (delivery) => <Subject delivery={delivery} /> },
    {
      ...{ id: 'channel', head: t.channel, width: '220px', hideBelow: 768 },
      cell: ({ channel }) => (
        <div>
          {t.channels[channel.type]}
          <div className="under">
            <Target target={channel.target} />
          </div>
        </div>
      ),
    },
    {
      ...{ id: 'attempts', head: t.attempts, width: '90px', isFigure: true, hideBelow: 1200 },
      cell: ({ attempts }) => <Num value={attempts} />,
    },
    {
      ...{ id: 'when', head: t.created, width: '120px', isUnderMain: true },
      cell: ({ createdAt }) => <Ago at={createdAt} isQuiet />,
    },
    {
      ...{ id: 'acts', head: messages.settings.actions, isHeadHidden: true, width: '100px' },
      cell: (delivery) => may && <Replay delivery={delivery} />,
    },
  ]
}

function Subject({ delivery: { transition, issueId, alertName, lastError, dueAt, status } }: { delivery: Delivery }) {
  const t = messages.deliveries
  return (
    <div>
      <div className="line">
        {issueId === null ? (
          t.transitions[transition]
        ) : (
          <Anchor component={Link} to={`/issues/${issueId}`} c="inherit">
            {t.transitions[transition]}
          </Anchor>
        )}
        {alertName && (
          <>
            {t.separator} <Data>{alertName}</Data>
          </>
        )}
      </div>
      {lastError !== null && status !== 'delivered' && (
        <div className="under">
          {status === 'pending' && dueAt !== null && (
            <>
              {t.nextAttempt} <Ago at={dueAt} isQuiet />
              <Dot />
            </>
          )}
          <Data>{lastError}</Data>
        </div>
      )}
    </div>
  )
}

/** Sends a finished delivery again: the same message under the same id. */
function Replay({ delivery: { id, status, transition } }: { delivery: Delivery }) {
  const t = messages.deliveries
  if (status !== 'failed' && status !== 'delivered') return null
  const replay = () =>
    mutate({
      send: () => replayDelivery({ path: { id }, throwOnError: true }),
      invalidates: [[{ _id: 'listDeliveries' }]],
      message: t.replayed,
    })
  return (
    <Button
      size="compact-sm"
      variant="default"
      aria-description={t.transitions[transition]}
      onClick={() => void replay()}
    >
      {t.replay}
    </Button>
  )
}

/** The messages that the demo delivered. */
function Inbox() {
  const { data } = useQuery(inboxQuery)
  const t = messages.deliveries
  if (!data) return null
  return (
    <div className={classes.inbox}>
      <Card title={t.inbox}>
        <Text c="dimmed" mb="md">
          {t.inboxHint}
        </Text>
        {data.length === 0 && <Text>{t.noMessages}</Text>}
        <Stack gap="sm">
          {data.map(({ id, at, via, title, text }) => (
            <details key={id}>
              <summary>
                <At at={at} isQuiet /> <Data>{via}</Data> <Sentence>{title}</Sentence>
              </summary>
              {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrolling by keyboard requires focus */}
              <pre className={classes.text} tabIndex={0} translate="no">
                {text}
              </pre>
            </details>
          ))}
        </Stack>
      </Card>
    </div>
  )
}
