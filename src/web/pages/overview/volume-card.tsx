import { NativeSelect, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { getVolumeOptions } from '#client/@tanstack/react-query.gen'
import type { Domain, VolumeSeries } from '#client/types.gen'
import { useMoments } from '../../address/use-search.ts'
import { FRESH } from '../../api/queries.ts'
import { Card } from '../../parts/card.tsx'
import { dataOption } from '../../parts/data.tsx'
import { formatNumber } from '../../parts/format.ts'
import { QueryState } from '../../parts/query-state.tsx'
import { words } from '../../words.ts'
import { questions } from './questions.ts'

// The words of the page do not wait for the charts.
const BandChart = lazy(async () => ({ default: (await import('../../charts/band-chart.tsx')).BandChart }))

const HEIGHT_PX = 280
/** Beyond it the server counts days, which have no expectation. */
const LONGEST_HOURS = 168

/** Events of a domain against what was expected, with its changes. */
export function VolumeCard({ project }: { project: string }) {
  const { data } = useQuery(questions.domains(project))
  const domains = byEvents(data?.domains ?? [])
  const [chosen, choose] = useState<string | null>(null)
  const domain = domains.find(({ id }) => id === chosen) ?? domains[0]
  const field = domains.length > 1 && (
    <NativeSelect
      size="xs"
      aria-label={words.overview.domain}
      value={domain?.id}
      onChange={({ currentTarget }) => choose(currentTarget.value)}
      data={domains.map(({ id, name }) => dataOption(id, name))}
    />
  )
  return (
    <Card title={words.overview.volumeTitle} beside={field}>
      {domain ? <Volume domain={domain} /> : <div aria-busy={data === undefined} style={{ height: HEIGHT_PX }} />}
    </Card>
  )
}

/** The busiest first: it is the one that people mean. */
const byEvents = (domains: readonly Domain[]) => domains.toSorted((a, b) => (b.events24h ?? 0) - (a.events24h ?? 0))

function Volume({ domain }: { domain: Domain }) {
  const hours = Math.min(useMoments().hours, LONGEST_HOURS)
  const query = useQuery({
    ...getVolumeOptions({ query: { domainId: domain.id, hours } }),
    staleTime: FRESH.insight,
  })
  const isEmpty = ({ series }: VolumeSeries) => series.every(({ observed }) => observed === 0)
  return (
    <QueryState
      query={query}
      skeleton={<div style={{ height: HEIGHT_PX }} />}
      isEmpty={isEmpty}
      empty={<Text>{words.overview.noVolume}</Text>}
    >
      {(volume) => (
        <Suspense fallback={<div style={{ height: HEIGHT_PX }} />}>
          <BandChart
            title={words.overview.volumeTitle}
            isTitleHidden
            summary={words.overview.summary(domain.name, summaryOf(volume))}
            points={volume.series}
            changes={volume.changes}
            unit={words.overview.unit[volume.grain]}
            scope={domain.name}
            height={HEIGHT_PX}
          />
        </Suspense>
      )}
    </QueryState>
  )
}

function summaryOf({ series }: VolumeSeries): string {
  const last = series.findLast(({ partial }) => !partial)
  if (!last || last.low === null || last.high === null) return words.overview.noExpectation
  return words.overview.lastIs(
    ...([last.observed, last.low, last.high].map((count) => formatNumber(count, 0)) as [string, string, string]),
  )
}
