import { Paper, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getIssueSegmentsOptions } from '#client/@tanstack/react-query.gen'
import type { AffectedSegments as Answer, IssueDetail } from '#client/types.gen'
import { PAGE_PATHS } from '../../../../contract/page-paths.ts'
import { Data } from '../../../components/data-text.tsx'
import { formatNumber, formatPercent } from '../../../components/format.ts'
import { PathLink } from '../../../components/path-link.tsx'
import { QueryState, SkeletonLines } from '../../../components/query-state.tsx'
import { SimpleTable } from '../../../components/simple-table.tsx'
import { useOrganizationTimeZone } from '../../../components/use-time-zone.ts'
import { messages } from '../../../messages.ts'
import { type SegmentName, segmentQuery, segmentValue } from './segment-query.ts'

const t = messages.issue.affected

type IssueOfSegments = Pick<IssueDetail, 'id' | 'domainId' | 'lastSeenAt'>

/** The browsers, systems, pages and other segments in which an issue occurs. Nothing without events to compare. */
export function AffectedSegments({ issue }: { issue: IssueOfSegments }) {
  const query = useQuery(getIssueSegmentsOptions({ path: { id: issue.id } }))
  if (query.data && query.data.violating + query.data.healthy === 0) return null
  return (
    <Paper>
      <Title order={2} mb="sm">
        {t.title}
      </Title>
      <QueryState query={query} skeleton={<SkeletonLines count={2} />}>
        {({ summary, segments }) => (
          <>
            <Text>
              <Data>{summary}</Data>
            </Text>
            {segments.length > 0 && <SegmentTable segments={segments} issue={issue} />}
          </>
        )}
      </QueryState>
    </Paper>
  )
}

function SegmentTable({ segments, issue }: Pick<Answer, 'segments'> & { issue: IssueOfSegments }) {
  const timeZone = useOrganizationTimeZone() ?? 'UTC'
  const { segment, share, inside, elsewhere, ratio } = t.columns
  return (
    <SimpleTable
      name={t.title}
      rows={segments}
      keyOf={({ dimension, value }) => `${dimension} ${value}`}
      columns={[
        {
          head: segment,
          cell: (one) => (
            <div style={{ overflowWrap: 'anywhere' }}>
              <Text fz="sm" c="dimmed">
                {one.dimension.split('+').map(t.dimension).join(' + ')}
              </Text>
              <Data>{segmentValue(one, timeZone, issue.lastSeenAt)}</Data>
              <DictionaryLink {...one} domainId={issue.domainId} />
            </div>
          ),
        },
        { head: share, isNumber: true, cell: ({ sharePct }) => formatPercent(sharePct / 100) },
        { head: inside, isNumber: true, cell: ({ violatingPct }) => formatPercent(violatingPct / 100) },
        { head: elsewhere, isNumber: true, cell: ({ elsewherePct }) => formatPercent(elsewherePct / 100) },
        {
          head: ratio,
          isNumber: true,
          cell: ({ ratio, low, high }) => (
            <>
              {t.times(formatNumber(ratio, 1))}
              <Text fz="sm" c="dimmed">
                {t.interval(formatNumber(low, 1), formatNumber(high, 1))}
              </Text>
            </>
          ),
        },
      ]}
    />
  )
}

/** A link to the keys that events of the segment have. Nothing for segments by which the dictionary can't be filtered. */
function DictionaryLink({ dimension, value, domainId }: SegmentName & { domainId: string | null }) {
  const segment = segmentQuery({ dimension, value })
  return (
    segment !== null && (
      <Text fz="sm">
        <PathLink path={PAGE_PATHS.explore.dictionary} search={{ segment, ...(domainId !== null && { domainId }) }}>
          {t.keys}
        </PathLink>
      </Text>
    )
  )
}
