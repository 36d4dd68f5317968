import { Button, Stack, Text } from '@mantine/core'
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { listDeliveries } from '#client/sdk.gen'
import type { Delivery } from '#client/types.gen'
import { useHasRole } from '../../api/whoami.ts'
import { Card } from '../../components/card.tsx'
import { ChannelTarget } from '../../components/channel-target.tsx'
import { ColumnsMenu, useShownColumns } from '../../components/columns-menu.tsx'
import { Data, Dot, Sentence } from '../../components/data-text.tsx'
import { ExportMenu } from '../../components/export-menu.tsx'
import { ClearFilters, type Filter, FilterBar, useIsFiltered } from '../../components/filter-bar.tsx'
import { integrationNamesQuery } from '../../components/integration-names-query.ts'
import type { Option } from '../../components/multi-choice.tsx'
import { Num } from '../../components/numbers.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { QueryState, SkeletonRows } from '../../components/query-state.tsx'
import { RoleNotice } from '../../components/role-notice.tsx'
import { StatusMark } from '../../components/status-mark.tsx'
import { DateTime, TimeAgo } from '../../components/time-ago.tsx'
import { type Column, VirtualTable } from '../../components/virtual-table.tsx'
import { messages } from '../../messages.ts'
import { SHARED_PARAMS } from '../../url-state/search-params.ts'
import { useSearchParams, useSorting } from '../../url-state/use-search-params.ts'
import classes from './deliveries.module.css'
import { DELIVERY_MARKS, NextAttempt, Replay, typeOf } from './delivery-parts.tsx'
import { alertsQuery, channelsQuery, DELIVERIES, deliveriesQuery, inboxQuery } from './queries.ts'

/** `/deliveries`: the log of notifications. */
export function DeliveriesPage() {
  const [values] = useSearchParams({ ...SHARED_PARAMS, ...DELIVERIES })
  const listQuery = deliveriesQuery(values)
  const query = useInfiniteQuery({ ...listQuery, placeholderData: keepPreviousData })
  const filters = useDeliveryFilters()
  const sorting = useSorting(DELIVERIES)
  const columns = useColumns()
  const shown = useShownColumns('deliveries', columns)
  const t = messages.deliveries
  const { project, from, to } = values
  const isFiltered = useIsFiltered({ fields: DELIVERIES, filters }) || project !== '' || from !== null || to !== null
  return (
    <>
      <PageHeader title={messages.shell.pages.deliveries}>
        <ColumnsMenu table="deliveries" columns={columns} />
        <ExportMenu of={listDeliveries} queryKey={listQuery.queryKey} name="deliveries" />
      </PageHeader>
      <RoleNotice needs="member" what={t.restrictedAction} />
      <FilterBar fields={DELIVERIES} filters={filters} />
      <QueryState
        query={query}
        skeleton={<SkeletonRows />}
        isEmpty={({ pages }) => pages[0]?.deliveries.length === 0}
        empty={isFiltered ? <NoMatches filters={filters} /> : <NoDeliveries />}
      >
        {({ pages }) => (
          <VirtualTable
            name={messages.shell.pages.deliveries}
            rows={pages.flatMap(({ deliveries }) => deliveries)}
            columns={shown}
            idOf={({ id }) => id}
            linkOf={({ id }) => ({ to: '/deliveries/$id', params: { id } }) as const}
            pages={query}
            sorting={sorting}
            sortColumns={columns}
            isGrowing
          />
        )}
      </QueryState>
      <Inbox />
    </>
  )
}

type DeliveryFilters = readonly Filter<Exclude<keyof typeof DELIVERIES, 'range' | 'sort'>>[]

const optionsOf = (names: Readonly<Record<string, string>>): Option[] =>
  Object.entries(names).map(([value, label]) => ({ value, label }))

/** Adds chosen values that have no option, so that they can be seen and removed. */
const withChosen = (options: readonly Option[], chosen: readonly string[]): Option[] => [
  ...options,
  ...chosen.filter((id) => !options.some(({ value }) => value === id)).map((id) => ({ value: id, label: id })),
]

/** Filters of the list. Viewers can't see targets, so they can't filter by channel. */
function useDeliveryFilters(): DeliveryFilters {
  const seesTargets = useHasRole('member')
  const [{ channel, alertId }] = useSearchParams(DELIVERIES)
  const alerts = useQuery(alertsQuery())
  const channels = useQuery({ ...channelsQuery(), enabled: seesTargets })
  const integrations = useQuery({ ...integrationNamesQuery(), enabled: seesTargets }).data?.integrations ?? []
  const t = messages.deliveries
  const labelOf = (target: string) => integrations.find(({ id }) => id === target)?.label ?? target
  const known = (channels.data?.channels ?? []).map(({ id, target }) => ({ value: id, label: labelOf(target) }))
  const chosenChannels = withChosen(known, channel).map(({ value, label }) => ({ value, label: labelOf(label) }))
  const named = (alerts.data?.alerts ?? []).map(({ id, name }) => ({ value: id, label: name }))
  const byChannel = { is: 'several', name: 'channel', label: t.channel, options: chosenChannels, isData: true } as const
  return [
    { is: 'several', name: 'status', label: t.status, options: optionsOf(t.statuses) },
    { is: 'several', name: 'channelType', label: t.channelType, options: optionsOf(t.channels) },
    ...(seesTargets ? [byChannel] : []),
    { is: 'several', name: 'alertId', label: t.alert, options: withChosen(named, alertId), isData: true },
    { is: 'chip', name: 'issueId', label: t.issue, options: [] },
  ]
}

function NoMatches({ filters }: { filters: DeliveryFilters }) {
  return (
    <Stack align="flex-start" gap="sm">
      <Text>{messages.deliveries.noneMatch}</Text>
      <ClearFilters fields={DELIVERIES} filters={filters} />
    </Stack>
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
      sort: 'status',
      width: '130px',
      isUnderMain: true,
      cell: ({ status }) => <StatusMark status={DELIVERY_MARKS[status]} word={t.statuses[status]} />,
    },
    {
      id: 'what',
      head: t.transition,
      isLink: true,
      cell: (delivery) => <Subject delivery={delivery} />,
      below: (delivery) => <Reason delivery={delivery} />,
    },
    {
      id: 'channel',
      head: t.channel,
      sort: 'channel',
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
      sort: 'attempts',
      width: '90px',
      isFigure: true,
      hideBelow: 1200,
      cell: ({ attempts }) => <Num value={attempts} />,
    },
    {
      id: 'when',
      head: t.created,
      sort: 'createdAt',
      isHighestFirst: true,
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

function Subject({ delivery }: { delivery: Delivery }) {
  return (
    <span className="line">
      {typeOf(delivery)}
      {delivery.alertName && (
        <>
          {messages.deliveries.separator} <Data>{delivery.alertName}</Data>
        </>
      )}
    </span>
  )
}

/** Why the delivery failed or was withdrawn, in full, and when it is tried again. */
function Reason({ delivery }: { delivery: Delivery }) {
  const { lastError, status } = delivery
  if (lastError === null || status === 'delivered') return null
  return (
    <div className={classes.reason}>
      <NextAttempt delivery={delivery} isQuiet />
      {status === 'pending' && <Dot />}
      <Data>{lastError}</Data>
    </div>
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
