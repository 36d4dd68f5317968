import { useQuery } from '@tanstack/react-query'
import { listChangesOptions } from '#client/@tanstack/react-query.gen'
import { FRESH } from '../../../api/queries.ts'
import { type BandPoint, type Span, stepOf } from '../../../charts/band.ts'
import { BandChart } from '../../../charts/band-chart.tsx'
import { messages } from '../../../messages.ts'

const MINUTE_MS = 60_000
const MOST_CHANGES = 50
const HEIGHT_PX = 220

interface BandProps {
  points: readonly BandPoint[]
  /** Intervals in which the rule would have found something. */
  bad: readonly Span[]
  summary: string
  /** Domains whose changes are marked; empty: all domains. */
  domainIds: readonly string[]
}

/** The counts that the rule judges, with the expected range. */
export function Band({ points, bad, summary, domainIds: [domainId] }: BandProps) {
  const query = { limit: MOST_CHANGES, ...(domainId && { domainId }) }
  const { data } = useQuery({ ...listChangesOptions({ query }), staleTime: FRESH.insight })
  const t = messages.alert
  return (
    <BandChart
      title={t.band}
      isTitleHidden
      summary={summary}
      points={points}
      bad={bad}
      changes={data?.changes ?? []}
      unit={t.bandUnit(t.rows[stepOf(points) / MINUTE_MS] ?? '')}
      height={HEIGHT_PX}
    />
  )
}
