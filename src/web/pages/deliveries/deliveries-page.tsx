import { Anchor, Button, Stack, Text } from '@mantine/core'
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { replayDelivery } from '#client/sdk.gen'
import type { Delivery } from '#client/types.gen'
import { mutate } from '../../api/mutate.ts'
import { useHasRole } from '../../api/whoami.ts'
import { Card } from '../../components/card.tsx'
import { ChannelTarget } from '../../components/channel-target.tsx'
import { Data, Dot, Sentence } from '../../components/data-text.tsx'
import { FilterBar } from '../../components/filter-bar.tsx'
import { Num } from '../../components/numbers.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { QueryState, SkeletonRows } from '../../components/query-state.tsx'
import { RoleNotice } from '../../components/role-notice.tsx'
import { type StatusIcon, StatusMark } from '../../components/status-mark.tsx'
import { DateTime, TimeAgo } from '../../components/time-ago.tsx'
import { type Column, VirtualTable } from '../../components/virtual-table.tsx'
import { messages } from '../../messages.ts'
import { SHARED_PARAMS } from '../../url-state/search-params.ts'
import { useSearchParams } from '../../url-state/use-search-params.ts'
import classes from './inbox.module.css'
import { DELIVERIES, deliveriesQuery, inboxQuery } from './queries.ts'

/** The mark of each status. */
const STATUS_MARKS: Record<Delivery['status'], StatusIcon> = {
  pending: 'learning',
  sending: 'learning',
  delivered: 'resolved',
  failed: 'failed',
  withdrawn: 'muted',
}

/** `/deliveries`: the log of notifications. */
export function DeliveriesPage() {
  const [values] = useSearchParams({ ...DELIVERIES, ...SHARED_PARAMS })
  const query = useInfiniteQuery({ ...deliveriesQuery(values), placeholderData: keepPreviousData })
  const columns = useColumns()
  const t = messages.deliveries
  const isFiltered = [values.status, values.issueId, values.project].some(Boolean)
  return (
    <>
      <PageHeader title={messages.shell.pages.deliveries} />
      <RoleNotice needs="member" what={t.restrictedAction} />
      <FilterBar
        fields={DELIVERIES}
        filters={[
          {
            is: 'one',
            name: 'status',
            label: t.status,
            options: [
              { value: '', label: messages.components.any },
              ...Object.entries(t.statuses).map(([value, label]) => ({ value, label })),
            ],
          },
          { is: 'chip', name: 'issueId', label: t.issue, options: [] },
        ]}
      />
      <QueryState
        query={query}
        skeleton={<SkeletonRows />}
        isEmpty={({ pages }) => pages[0]?.deliveries.length === 0}
        empty={isFiltered ? <Text>{messages.components.noneMatch}</Text> : <NoDeliveries />}
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
  const may = useHasRole('member')
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
  const may = useHasRole('member')
  const t = messages.deliveries
  return [
    {
      id: 'status',
      head: t.status,
      width: '130px',
      isUnderMain: true,
      cell: ({ status }) => <StatusMark status={STATUS_MARKS[status]} word={t.statuses[status]} />,
    },
    { id: 'what', head: t.transition, isMain: true, cell: (delivery) => <Subject delivery={delivery} /> },
    {
      id: 'channel',
      head: t.channel,
      width: '220px',
      hideBelow: 768,
      cell: ({ channel }) => (
        <div>
          {t.channels[channel.type]}
          <div className="under">
            <ChannelTarget target={channel.target} />
          </div>
        </div>
      ),
    },
    {
      id: 'attempts',
      head: t.attempts,
      width: '90px',
      isFigure: true,
      hideBelow: 1200,
      cell: ({ attempts }) => <Num value={attempts} />,
    },
    {
      id: 'when',
      head: t.created,
      width: '120px',
      isUnderMain: true,
      cell: ({ createdAt }) => <TimeAgo at={createdAt} isQuiet />,
    },
    {
      id: 'acts',
      head: messages.settings.actions,
      isHeadHidden: true,
      width: '100px',
      cell: (delivery) => may && <Replay delivery={delivery} />,
    },
  ]
}

/** Type of a notification. */
const typeOf = ({ transition, escalationStep }: Delivery): string =>
  escalationStep === undefined
    ? messages.deliveries.transitions[transition]
    : messages.escalation.delivery(escalationStep)

function Subject({ delivery }: { delivery: Delivery }) {
  const { issueId, alertName, lastError, dueAt, status } = delivery
  const t = messages.deliveries
  return (
    <div>
      <div className="line">
        {issueId === null ? (
          typeOf(delivery)
        ) : (
          <Anchor component={Link} to={`/issues/${issueId}`} c="inherit">
            {typeOf(delivery)}
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
              {t.nextAttempt} <TimeAgo at={dueAt} isQuiet />
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
function Replay({ delivery }: { delivery: Delivery }) {
  const { id, status } = delivery
  const t = messages.deliveries
  if (status !== 'failed' && status !== 'delivered') return null
  const replay = () =>
    mutate({
      send: () => replayDelivery({ path: { id } }),
      invalidates: ['listDeliveries'],
      message: t.replayed,
    })
  return (
    <Button size="compact-sm" variant="default" aria-description={typeOf(delivery)} onClick={() => void replay()}>
      {t.replay}
    </Button>
  )
}

/** Messages delivered by the demo. */
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
                <DateTime at={at} isQuiet /> <Data>{via}</Data> <Sentence>{title}</Sentence>
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
