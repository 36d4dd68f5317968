import { Paper, Stack, Text, Title } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { listPairedEventsOptions, reconcileOrdersOptions } from '#client/@tanstack/react-query.gen'
import type { PairedEvent, Reconciliation, VendorReconciliation } from '#client/types.gen'
import { MAX_PAIRED_DAYS } from '../../../contract/limits.ts'
import { STALE_MS } from '../../api/queries.ts'
import { Code, Data } from '../../components/data-text.tsx'
import { formatIsoDay, formatList, formatNumber, formatPercent } from '../../components/format.ts'
import { Money, Num, Pct } from '../../components/numbers.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { SimpleTable } from '../../components/simple-table.tsx'
import { messages } from '../../messages.ts'
import { useTimeRange } from '../../url-state/use-search-params.ts'
import { ExploreHeader } from './explore-header.tsx'
import { OrderCaptureRules } from './order-capture-rules.tsx'
import { useDomains, useOrdersDomain } from './use-domains.ts'

const DAY_HOURS = 24
const MIN_DAYS = 7
/** Maximum number of events whose daily shares are shown. The events with the highest volume are selected. */
const MAX_BY_DAY = 5

/** `/explore/orders`: actual orders compared with what vendors received. */
export function OrdersPage() {
  const domains = useDomains()
  const domainId = useOrdersDomain()
  const days = Math.max(MIN_DAYS, Math.ceil(useTimeRange().hours / DAY_HOURS))
  const query = useQuery({
    ...reconcileOrdersOptions({ query: { domainId, days } }),
    enabled: domainId !== '',
    staleTime: STALE_MS.insight,
    placeholderData: keepPreviousData,
  })
  const t = messages.explore.orders
  const hasNone = ({ days }: Reconciliation) => days.every(({ orders }) => orders === 0)
  return (
    <>
      <ExploreHeader name="orders" />
      <Text c="dimmed" mb="md">
        {t.about}
      </Text>
      {domains.data?.domains.length === 0 ? (
        <HowTo />
      ) : (
        <QueryState query={query} isEmpty={hasNone} empty={<HowTo />}>
          {({ vendors, days, withoutIds }) => (
            <Stack gap="lg">
              <Paper>
                <VendorTable vendors={vendors} />
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
                <DayTable days={days} />
              </Paper>
            </Stack>
          )}
        </QueryState>
      )}
      {domainId !== '' && <OrderCaptureRules domainId={domainId} />}
      <PairedEvents domainId={domainId} days={Math.min(MAX_PAIRED_DAYS, days)} />
    </>
  )
}

/** Events sent by both browser and server to vendors that deduplicate them; renders nothing when there are none. */
function PairedEvents({ domainId, days }: { domainId: string; days: number }) {
  const t = messages.explore.orders
  const { data } = useQuery({
    ...listPairedEventsOptions({ query: { domainId, days } }),
    enabled: domainId !== '',
    staleTime: STALE_MS.insight,
    placeholderData: keepPreviousData,
  })
  const events = data?.events ?? []
  const [first] = events
  if (!first) return null
  const nameOf = ({ vendor, event }: PairedEvent) => `${vendor} ${event}`
  const byDay = first.days.map(({ day }, at) => ({
    day,
    shares: events.slice(0, MAX_BY_DAY).flatMap((one) => {
      const share = one.days[at]?.matchedPct ?? null
      return share === null ? [] : [t.matchedOf(nameOf(one), formatPercent(share / 100))]
    }),
  }))
  return (
    <Paper mt="lg">
      <Title order={2} mb="sm">
        {t.pairs}
      </Title>
      <Text c="dimmed" mb="sm">
        {t.pairsAbout}
      </Text>
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
        rows={byDay.filter(({ shares }) => shares.length > 0).toReversed()}
        keyOf={({ day }) => day}
        columns={[
          { head: t.day, cell: ({ day }) => <Data>{formatIsoDay(day)}</Data> },
          { head: t.matchedShare, cell: ({ shares }) => <Data>{formatList(shares)}</Data> },
        ]}
      />
    </Paper>
  )
}

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
        { head: t.captured, isNumber: true, cell: ({ captured }) => <Num value={captured} /> },
        { head: t.share, isNumber: true, cell: ({ capturePct }) => <Pct value={capturePct / 100} /> },
        { head: t.missing, isNumber: true, cell: ({ missing }) => <Num value={missing} /> },
        { head: t.missingValue, isNumber: true, cell: ({ missingValue }) => <Money value={missingValue} /> },
        { head: t.withoutOrder, isNumber: true, cell: ({ extra }) => <Num value={extra} /> },
        { head: t.duplicates, isNumber: true, cell: ({ duplicates }) => <Num value={duplicates} /> },
        { head: t.valueDiffers, isNumber: true, cell: ({ valueMismatches }) => <Num value={valueMismatches} /> },
      ]}
    />
  )
}

function DayTable({ days }: { days: Reconciliation['days'] }) {
  const t = messages.explore.orders
  return (
    <SimpleTable
      name={t.days}
      rows={days.toReversed()}
      keyOf={({ day }) => day}
      columns={[
        { head: t.day, cell: ({ day }) => <Data>{formatIsoDay(day)}</Data> },
        { head: t.paid, isNumber: true, cell: ({ orders }) => <Num value={orders} /> },
        { head: t.value, isNumber: true, cell: ({ value }) => <Money value={value} /> },
        {
          head: t.captured,
          cell: ({ vendors }) => (
            <Data>
              {formatList(
                vendors.map((one) =>
                  t.capturedOf(one.vendor, formatNumber(one.captured, 0), formatNumber(one.orders, 0)),
                ),
              )}
            </Data>
          ),
        },
      ]}
    />
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
