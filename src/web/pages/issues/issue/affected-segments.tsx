import { Paper, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getIssueSegmentsOptions } from '#client/@tanstack/react-query.gen'
import type { AffectedSegments as Answer } from '#client/types.gen'
import { PAGE_PATHS } from '../../../../contract/page-paths.ts'
import { Data } from '../../../components/data-text.tsx'
import { formatNumber, formatPercent } from '../../../components/format.ts'
import { PathLink } from '../../../components/path-link.tsx'
import { QueryState, SkeletonLines } from '../../../components/query-state.tsx'
import { SimpleTable } from '../../../components/simple-table.tsx'
import { messages } from '../../../messages.ts'
import { type SegmentName, segmentQuery } from './segment-query.ts'

const t = messages.issue.affected

/** The browsers, systems, pages and other segments in which an issue occurs. Nothing without events to compare. */
export function AffectedSegments({ issueId, domainId }: { issueId: string; domainId: string | null }) {
  const query = useQuery(getIssueSegmentsOptions({ path: { id: issueId } }))
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
            {segments.length > 0 && <SegmentTable segments={segments} domainId={domainId} />}
          </>
        )}
      </QueryState>
    </Paper>
  )
}

function SegmentTable({ segments, domainId }: Pick<Answer, 'segments'> & { domainId: string | null }) {
  const { segment, share, inside, elsewhere, ratio } = t.columns
  return (
    <SimpleTable
      name={t.title}
      rows={segments}
      keyOf={({ dimension, value }) => `${dimension} ${value}`}
      columns={[
        {
          head: segment,
          cell: ({ dimension, value }) => (
            <div style={{ overflowWrap: 'anywhere' }}>
              <Text fz="sm" c="dimmed">
                {dimension.split('+').map(t.dimension).join(' + ')}
              </Text>
              <Data>{dimension.includes('+') ? value.replaceAll('+', ' + ') : value}</Data>
              <DictionaryLink dimension={dimension} value={value} domainId={domainId} />
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
