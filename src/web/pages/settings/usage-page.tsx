import { Group, Paper, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { lazy, type ReactNode, Suspense } from 'react'
import { getUsageOptions } from '#client/@tanstack/react-query.gen'
import { getUsage } from '#client/sdk.gen'
import { sharedQueries } from '../../api/queries.ts'
import { AddDomainNotice } from '../../components/add-domain-notice.tsx'
import { Data } from '../../components/data-text.tsx'
import { ExportMenu } from '../../components/export-menu.tsx'
import { formatIsoDay, formatNumber } from '../../components/format.ts'
import { Num, Pct } from '../../components/numbers.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { SimpleTable } from '../../components/simple-table.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { useNow } from '../../components/use-now.ts'
import { messages } from '../../messages.ts'
import { SettingsLayout } from './settings-layout.tsx'
import { usageByDay, usageByDomain } from './usage-summary.ts'
import { WaitingDeletions } from './waiting-deletions.tsx'

const Bars = lazy(async () => ({ default: (await import('../../charts/bar-chart.tsx')).BarChart }))

const MEGABYTE = 1_000_000
const SHOWN_DAYS = 30
const CHART_PX = 200

/** `/settings/usage`: stored events by day and domain, and their size. */
export function UsagePage() {
  const query = useQuery(getUsageOptions({ query: { days: SHOWN_DAYS } }))
  const now = useNow()
  const { data } = useQuery(sharedQueries.domains())
  const t = messages.settings.usage
  const names = new Map(data?.domains.map(({ id, name }) => [id, name]))
  const nameOf = (id: string) => {
    const name = names.get(id)
    return name === undefined ? t.deleted : <Data>{name}</Data>
  }
  return (
    <SettingsLayout name="usage" acts={<ExportMenu of={getUsage} queryKey={getUsageOptions().queryKey} name="usage" />}>
      <Text c="dimmed" mb="md">
        {t.intro}
      </Text>
      <WaitingDeletions waiting={query.data?.waitingDeletions ?? []} />
      <QueryState
        query={query}
        isEmpty={({ totalEvents }) => totalEvents === 0}
        empty={<AddDomainNotice sentence={t.none} />}
      >
        {({ days, totalEvents, diskBytes, clickhouseBytes, oldestEventAt }) => (
          <Stack gap="lg">
            <Group gap="lg">
              <Fact name={t.total} value={<Num value={totalEvents} />} />
              <Fact name={t.disk} value={<Num value={Math.round(diskBytes / MEGABYTE)} unit="MB" />} />
              {clickhouseBytes !== null && (
                <Fact name={t.inClickhouse} value={<Num value={Math.round(clickhouseBytes / MEGABYTE)} unit="MB" />} />
              )}
              <Fact name={t.oldest} value={<TimeAgo at={oldestEventAt} />} />
            </Group>
            <Paper>
              <Suspense fallback={<div style={{ height: CHART_PX }} />}>
                <Bars
                  title={t.chart}
                  summary={t.summary(formatNumber(totalEvents, 0), SHOWN_DAYS)}
                  points={usageByDay(days, SHOWN_DAYS, now)}
                  unit={messages.overview.unit.day}
                  height={CHART_PX}
                />
              </Suspense>
            </Paper>
            <Paper>
              <Title order={2} mb="sm">
                {t.byDomain(SHOWN_DAYS)}
              </Title>
              <SimpleTable
                name={t.byDomain(SHOWN_DAYS)}
                rows={usageByDomain(days)}
                keyOf={({ domainId }) => domainId}
                columns={[
                  {
                    head: t.domain,
                    sortBy: ({ domainId }) => names.get(domainId) ?? null,
                    cell: ({ domainId }) => nameOf(domainId),
                  },
                  {
                    head: t.events,
                    isNumber: true,
                    sortBy: ({ events }) => events,
                    cell: ({ events }) => <Num value={events} />,
                  },
                  { head: t.share, isNumber: true, cell: ({ share }) => <Pct value={share} /> },
                ]}
              />
            </Paper>
            <Paper>
              <Title order={2} mb="sm">
                {t.byDayAndDomain}
              </Title>
              <SimpleTable
                name={t.table}
                rows={days.toReversed()}
                keyOf={({ day, domainId }) => `${day} ${domainId}`}
                columns={[
                  {
                    head: t.day,
                    sortBy: ({ day }) => day,
                    isHighestFirst: true,
                    cell: ({ day }) => <Data>{formatIsoDay(day)}</Data>,
                  },
                  {
                    head: t.domain,
                    sortBy: ({ domainId }) => names.get(domainId) ?? null,
                    cell: ({ domainId }) => nameOf(domainId),
                  },
                  {
                    head: t.events,
                    isNumber: true,
                    sortBy: ({ events }) => events,
                    cell: ({ events }) => <Num value={events} />,
                  },
                ]}
              />
            </Paper>
          </Stack>
        )}
      </QueryState>
    </SettingsLayout>
  )
}

function Fact({ name, value }: { name: string; value: ReactNode }) {
  return (
    <Paper>
      <Text c="dimmed" fz="sm">
        {name}
      </Text>
      <Text fz={20} fw={600} component="div">
        {value}
      </Text>
    </Paper>
  )
}
