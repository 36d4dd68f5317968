import { NativeSelect, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useEffect, useState } from 'react'
import { getVolumeOptions } from '#client/@tanstack/react-query.gen'
import type { Domain, VolumeSeries } from '#client/types.gen'
import { MAX_HOURS } from '../../../contract/limits.ts'
import { STALE_MS } from '../../api/queries.ts'
import { formatRange } from '../../charts/format-expected-range.ts'
import { busiestFirst } from '../../components/busiest-first.ts'
import { Card } from '../../components/card.tsx'
import { dataOption } from '../../components/data-text.tsx'
import { formatNumber } from '../../components/format.ts'
import { QueryState } from '../../components/query-state.tsx'
import { messages } from '../../messages.ts'
import { usePeriod } from '../../url-state/use-search-params.ts'
import { overviewQueries } from './queries.ts'

// Loaded separately, so that text appears before the charts have loaded.
const chart = () => import('../../charts/band-chart.tsx')
const BandChart = lazy(async () => ({ default: (await chart()).BandChart }))

const HEIGHT_PX = 280
const DAY_HOURS = 24
/** Below this length, hourly counts would be too few for a chart. */
const MIN_HOURS_BY_HOUR = 12

/** Events on one or all domains compared with the expected range, and changes to the domains. */
export function VolumeCard({ project }: { project: string }) {
  const { data } = useQuery(overviewQueries.domains(project))
  const domains = busiestFirst(data?.domains ?? [])
  const [chosen, choose] = useState<string | null>(null)
  const domain = domains.find(({ id }) => id === chosen) ?? null
  const field = domains.length > 1 && (
    <NativeSelect
      size="xs"
      aria-label={messages.overview.domain}
      value={domain?.id ?? ''}
      onChange={({ currentTarget }) => choose(currentTarget.value)}
      data={[
        { value: '', label: messages.overview.allDomains },
        ...domains.map(({ id, name }) => dataOption(id, name)),
      ]}
    />
  )
  return (
    <Card title={messages.overview.volumeTitle} actions={field}>
      <Volume project={project} domain={domain} />
    </Card>
  )
}

/** Events of a domain, or of all domains of a project if `domain` is null, with the expected range. */
export function Volume({ project, domain }: { project: string; domain: Domain | null }) {
  const { query: period, hours } = usePeriod(MAX_HOURS.series)
  // Hourly counts fluctuate less than five-minute counts.
  const grain = hours >= MIN_HOURS_BY_HOUR && hours <= DAY_HOURS ? { grain: 'hour' as const } : {}
  const query = useQuery({
    ...getVolumeOptions({
      query: { ...(domain ? { domainId: domain.id } : project && { projectId: project }), ...period, ...grain },
    }),
    staleTime: STALE_MS.insight,
  })
  // Loaded in parallel with the data; a failure is reported where the chart is rendered.
  useEffect(() => void chart().catch(() => {}), [])
  const isEmpty = ({ series }: VolumeSeries) => series.every(({ observed }) => observed === 0)
  return (
    <QueryState
      query={query}
      skeleton={<div style={{ height: HEIGHT_PX }} />}
      isEmpty={isEmpty}
      empty={<Text>{messages.overview.noVolume}</Text>}
    >
      {(volume) => (
        <Suspense fallback={<div aria-busy="true" style={{ height: HEIGHT_PX }} />}>
          <BandChart
            title={messages.overview.volumeTitle}
            isTitleHidden
            summary={messages.overview.summary(domain?.name ?? null, summaryOf(volume))}
            points={volume.series}
            changes={volume.changes}
            special={volume.specialPeriods}
            unit={messages.overview.unit[volume.grain]}
            scope={domain?.name}
            height={HEIGHT_PX}
          />
        </Suspense>
      )}
    </QueryState>
  )
}

function summaryOf({ series }: VolumeSeries): string {
  const last = series.findLast(({ partial }) => !partial)
  const expected = last && formatRange(last)
  return expected
    ? messages.overview.lastInterval(formatNumber(last.observed, 0), expected)
    : messages.overview.noExpectation
}
