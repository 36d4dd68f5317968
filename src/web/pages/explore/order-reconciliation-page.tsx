import { Paper, Stack, Text, Title } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { listPairedEventsOptions, reconcileOrdersOptions } from '#client/@tanstack/react-query.gen'
import { reconcileOrders } from '#client/sdk.gen'
import type { PairedEvent, Reconciliation, VendorReconciliation } from '#client/types.gen'
import { MAX_ORDER_DAYS, MAX_PAIRED_DAYS } from '../../../contract/limits.ts'
import { STALE_MS } from '../../api/queries.ts'
import { Code, Data } from '../../components/data-text.tsx'
import { ExportMenu } from '../../components/export-menu.tsx'
import { formatIsoDay, formatNumber, formatPercent, formatSpan } from '../../components/format.ts'
import { Money, Num, Pct } from '../../components/numbers.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { SimpleTable } from '../../components/simple-table.tsx'
import { messages } from '../../messages.ts'
import type { Period } from '../../url-state/period.ts'
import { usePeriod } from '../../url-state/use-search-params.ts'
import { ExploreHeader } from './explore-header.tsx'
import { OrderCaptureRules } from './order-capture-rules.tsx'
import { useDomains, useOrdersDomain } from './use-domains.ts'

const HOUR_MS = 3_600_000
const DAY_HOURS = 24
/** A period has parts of one more UTC day than its length. */
const MAX_ORDER_HOURS = (MAX_ORDER_DAYS - 1) * DAY_HOURS
const MAX_PAIRED_HOURS = (MAX_PAIRED_DAYS - 1) * DAY_HOURS
/** Maximum number of events whose daily shares are shown. The events with the highest volume are selected. */
const MAX_BY_DAY = 5

/** `/explore/orders`: actual orders compared with what vendors received. */
export function OrdersPage() {
  const domains = useDomains()
  const domainId = useOrdersDomain()
  const options = reconcileOrdersOptions({ query: { domainId, ...daysIn(usePeriod(MAX_ORDER_HOURS)) } })
  const query = useQuery({
    ...options,
    enabled: domainId !== '',
    staleTime: STALE_MS.insight,
    placeholderData: keepPreviousData,
  })
  const t = messages.explore.orders
  const hasNone = ({ days }: Reconciliation) => days.every(({ orders }) => orders === 0)
  return (
    <>
      <ExploreHeader
        name="orders"
        acts={domainId !== '' && <ExportMenu of={reconcileOrders} queryKey={options.queryKey} name="orders" />}
      />
      <Text c="dimmed" mb="md">
        {t.about}
      </Text>
      {domains.data?.domains.length === 0 ? (
        <HowTo />
      ) : (
        <QueryState query={query} isEmpty={hasNone} empty={<HowTo />}>
          {({ vendors, days, withoutIds }) => (
            <Stack gap="lg">
              <CoveredDays days={days} />
              <Paper>
                <VendorTable vendors={vendors} />
                {vendors.some(({ connected }) => connected === false) && (
                  <Text c="dimmed" fz="sm" mt="sm">
                    {t.notConnectedHint}
                  </Text>
                )}
              </Paper>
              {withoutIds.length > 0 && (
                <Paper>
                  <Title order={2} mb="sm">
                    {t.withoutIds}
                  </Title>
                  <ul>
                    {withoutIds.map(({ vendor, purchases }) => (
                      <li key={vendor}>
                        <Data>{t.purchasesOf(vendor, formatNumber(purchases, 0))}</Data>
                      </li>
                    ))}
                  </ul>
                </Paper>
              )}
              <Paper>
                <Title order={2} mb="sm">
                  {t.days}
                </Title>
                <Text c="dimmed" mb="sm">
                  {t.daysAbout}
                </Text>
                <DayTable days={days} vendors={vendors} />
              </Paper>
            </Stack>
          )}
        </QueryState>
      )}
      {domainId !== '' && <OrderCaptureRules domainId={domainId} />}
      <PairedEvents domainId={domainId} />
    </>
  )
}

/** Query fields for all UTC days of which the period has a part. */
function daysIn({ query }: Period) {
  if (!('hours' in query)) return query
  const { hours, ...end } = query
  return { days: Math.ceil(hours / DAY_HOURS) + 1, ...end }
}

/** Line that names the days of the data below it. */
function CoveredDays({ days }: { days: readonly { day: string }[] }) {
  const [first, last] = [days[0], days.at(-1)]
  if (!first || !last) return null
  const to = Date.parse(last.day) + DAY_HOURS * HOUR_MS
  return (
    <Text c="dimmed" fz="sm">
      <Data>{messages.explore.orders.daysCovered(formatSpan(Date.parse(first.day), to, 'UTC', true))}</Data>
    </Text>
  )
}

/** Events sent by both browser and server to vendors that deduplicate them; renders nothing when there are none. */
function PairedEvents({ domainId }: { domainId: string }) {
  const t = messages.explore.orders
  const { data } = useQuery({
    ...listPairedEventsOptions({ query: { domainId, ...daysIn(usePeriod(MAX_PAIRED_HOURS)) } }),
    enabled: domainId !== '',
    staleTime: STALE_MS.insight,
    placeholderData: keepPreviousData,
  })
  const events = data?.events ?? []
  const [first] = events
  if (!first) return null
  const nameOf = ({ vendor, event }: PairedEvent) => `${vendor} ${event}`
  const named = events.slice(0, MAX_BY_DAY)
  const byDay = first.days.map(({ day }, at) => ({
    day,
    shares: named.map(({ days }) => days[at]?.matchedPct ?? null),
  }))
  return (
    <Paper mt="lg">
      <Title order={2} mb="sm">
        {t.pairs}
      </Title>
      <Text c="dimmed">{t.pairsAbout}</Text>
      <CoveredDays days={first.days} />
      <SimpleTable
        name={t.pairs}
        rows={events}
        keyOf={nameOf}
        columns={[
          { head: t.vendor, cell: ({ vendor }) => <Data>{vendor}</Data> },
          { head: t.event, cell: ({ event }) => <Data>{event}</Data> },
          { head: t.pairCount, isNumber: true, cell: ({ matched }) => <Num value={matched} /> },
          { head: t.browserOnly, isNumber: true, cell: ({ browserOnly }) => <Num value={browserOnly} /> },
          { head: t.serverOnly, isNumber: true, cell: ({ serverOnly }) => <Num value={serverOnly} /> },
          {
            head: t.withoutId,
            isNumber: true,
            cell: ({ browserWithoutId, serverWithoutId }) => <Num value={browserWithoutId + serverWithoutId} />,
          },
          {
            head: t.matchedShare,
            isNumber: true,
            cell: ({ matchedPct }) => <Pct value={matchedPct === null ? null : matchedPct / 100} />,
          },
        ]}
      />
      <Title order={3} mt="md" mb="sm">
        {t.matchedByDay}
      </Title>
      <SimpleTable
        name={t.matchedByDay}
        rows={byDay.filter(({ shares }) => shares.some((share) => share !== null)).toReversed()}
        keyOf={({ day }) => day}
        columns={[
          { head: t.day, cell: ({ day }) => <Data>{formatIsoDay(day)}</Data> },
          ...named.map((one, at) => ({
            head: t.columnOf(nameOf(one)),
            isNumber: true,
            cell: ({ shares }: (typeof byDay)[number]) => <Pct value={shareOf(shares[at])} />,
          })),
        ]}
      />
    </Paper>
  )
}

const shareOf = (percent: number | null | undefined) => (typeof percent === 'number' ? percent / 100 : null)

/** Returns a figure that says nothing about a vendor that is not connected. */
const ifConnected = ({ connected }: VendorReconciliation, figure: number) => (connected === false ? null : figure)

function VendorTable({ vendors }: { vendors: readonly VendorReconciliation[] }) {
  const t = messages.explore.orders
  return (
    <SimpleTable
      name={t.table}
      rows={vendors}
      keyOf={({ vendor }) => vendor}
      columns={[
        { head: t.vendor, cell: ({ vendor }) => <Data>{vendor}</Data> },
        { head: t.paid, isNumber: true, cell: ({ orders }) => <Num value={orders} /> },
        {
          head: t.captured,
          isNumber: true,
          cell: ({ connected, captured }) => (connected === false ? t.notConnected : <Num value={captured} />),
        },
        { head: t.share, isNumber: true, cell: (row) => <Pct value={shareOf(ifConnected(row, row.capturePct))} /> },
        { head: t.missing, isNumber: true, cell: (row) => <Num value={ifConnected(row, row.missing)} /> },
        { head: t.missingValue, isNumber: true, cell: (row) => <Money value={ifConnected(row, row.missingValue)} /> },
        { head: t.withoutOrder, isNumber: true, cell: ({ extra }) => <Num value={extra} /> },
        { head: t.duplicates, isNumber: true, cell: ({ duplicates }) => <Num value={duplicates} /> },
        { head: t.valueDiffers, isNumber: true, cell: ({ valueMismatches }) => <Num value={valueMismatches} /> },
      ]}
    />
  )
}

interface DayTableProps {
  days: Reconciliation['days']
  vendors: readonly VendorReconciliation[]
}

/** Orders of each day, with a column for each connected vendor. */
function DayTable({ days, vendors }: DayTableProps) {
  const t = messages.explore.orders
  const connected = vendors.filter(({ connected }) => connected !== false)
  return (
    <SimpleTable
      name={t.days}
      rows={days.toReversed()}
      keyOf={({ day }) => day}
      columns={[
        { head: t.day, cell: ({ day }) => <Data>{formatIsoDay(day)}</Data> },
        { head: t.paid, isNumber: true, cell: ({ orders }) => <Num value={orders} /> },
        { head: t.value, isNumber: true, cell: ({ value }) => <Money value={value} /> },
        ...connected.map(({ vendor }) => ({
          head: t.columnOf(vendor),
          isNumber: true,
          cell: ({ vendors }: Reconciliation['days'][number]) => (
            <CapturedOf tally={vendors.find((one) => one.vendor === vendor)} />
          ),
        })),
      ]}
    />
  )
}

/** Number and share of the captured orders of a day; unknown on days without orders. */
function CapturedOf({ tally }: { tally: VendorReconciliation | undefined }) {
  if (!tally || tally.orders === 0) return <Num value={null} />
  const { captured, capturePct } = tally
  return (
    <span className="figure">
      <Data>{messages.explore.orders.capturedOf(formatNumber(captured, 0), formatPercent(capturePct / 100))}</Data>
    </span>
  )
}

const EXAMPLE = `curl -X POST ${location.origin}/v1/orders \\
  -H 'Authorization: Bearer ak_…' -H 'Content-Type: application/json' \\
  -d '{"domainId": "dom_…", "orders": [{"id": "10042", "at": 1790000000000, "value": 49.9, "currency": "EUR", "status": "paid"}]}'`

/** Instructions for sending orders. */
function HowTo() {
  const t = messages.explore.orders
  return (
    <Paper maw={840}>
      <Stack gap="sm">
        <Text>{t.none}</Text>
        <Title order={2}>{t.howToSend}</Title>
        <Text>{t.howToSendText}</Text>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrolling by keyboard requires focus */}
        <pre className="scroll" tabIndex={0}>
          <Code>{EXAMPLE}</Code>
        </pre>
      </Stack>
    </Paper>
  )
}
