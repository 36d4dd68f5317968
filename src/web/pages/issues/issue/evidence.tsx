import { Group, Paper, Stack, Table, Text, Title } from '@mantine/core'
import { lazy, Suspense } from 'react'
import type { Event, IssueDetail, IssueEvidence } from '#client/types.gen'
import { PAGE_PATHS } from '../../../../contract/page-paths.ts'
import { Code, Data, Dot } from '../../../components/data-text.tsx'
import { DiffTable } from '../../../components/diff-table.tsx'
import { formatDate, formatNumber } from '../../../components/format.ts'
import { Help } from '../../../components/help-tooltip.tsx'
import { Money } from '../../../components/numbers.tsx'
import { PathLink } from '../../../components/path-link.tsx'
import { SkeletonLines } from '../../../components/query-state.tsx'
import { DateTime, TimeAgo } from '../../../components/time-ago.tsx'
import { messages } from '../../../messages.ts'
import { AffectedSegments } from './affected-segments.tsx'
import { isAudit, Run } from './evidence-run.tsx'
import { daysOf } from './occurrence-bars.ts'

const BandChart = lazy(async () => ({ default: (await import('../../../charts/band-chart.tsx')).BandChart }))
const Bars = lazy(async () => ({ default: (await import('../../../charts/bar-chart.tsx')).BarChart }))

const LATEST = 5
const DAYS_HEIGHT_PX = 160

interface EvidenceProps {
  evidence: IssueEvidence
  occurrences: IssueDetail['occurrenceSeries']
}

/**
 * The evidence for an issue: counts and their expected range, violating vs. valid event, occurrences by day, and the
 * run that found the issue.
 */
export function Evidence({ evidence, occurrences }: EvidenceProps) {
  const { badSample, events, run } = evidence
  return (
    <Stack gap="lg">
      <Paper>
        <Series evidence={evidence} />
      </Paper>
      {evidence.missingOrders && (
        <Paper>
          <MissingOrders evidence={evidence} ids={evidence.missingOrders} />
        </Paper>
      )}
      {!run && <AffectedSegments issue={evidence.issue} />}
      {badSample && (
        <Paper>
          <Title order={2} mb="sm">
            <Help term="comparison">{messages.issue.comparison}</Help>
          </Title>
          <SampleComparison bad={badSample} good={evidence.goodSample} judged={conditionParameters(evidence.alert)} />
        </Paper>
      )}
      {/* Runs already have a daily series. */}
      {occurrences.length > 0 && !run && (
        <Paper>
          <Days occurrences={occurrences} />
        </Paper>
      )}
      {run && (
        <Paper>
          <Title order={2} mb="sm">
            {isAudit(run) ? messages.issue.audit : messages.issue.run}
          </Title>
          <Run run={run} />
        </Paper>
      )}
      {events.length > 0 && (
        <Paper>
          <Title order={2} mb="sm">
            {messages.issue.violatingEvents}
          </Title>
          <LatestEvents events={events.slice(0, LATEST)} />
          <ExploreLink event={events[0]} />
        </Paper>
      )}
    </Stack>
  )
}

/** Orders that did not reach the vendor, newest first, with their value. */
function MissingOrders({ evidence, ids }: { evidence: IssueEvidence; ids: readonly string[] }) {
  const t = messages.issue
  const { issue, missingValue = null, missingValuePerHour = null } = evidence
  return (
    <>
      <Title order={2} mb="sm">
        {t.missingOrders}
      </Title>
      {missingValue !== null && missingValuePerHour !== null && (
        <Group mb="sm" gap="lg">
          <Text>
            {t.missingPerHour} <Money value={missingValuePerHour} />
          </Text>
          <Text>
            {t.missingSoFar} <Money value={missingValue} />
          </Text>
        </Group>
      )}
      <ul>
        {ids.map((id) => (
          <li key={id}>
            <Code>{id}</Code>
          </li>
        ))}
      </ul>
      <PathLink path={PAGE_PATHS.explore.orders} search={issue.domainId === null ? {} : { domainId: issue.domainId }}>
        {t.showOrders}
      </PathLink>
    </>
  )
}

const UNITS = {
  data_validation: 'broken',
  tag_volume_change: 'events',
  volume_threshold: 'events',
  volume_anomaly: 'events',
  journey: 'sessions',
  flow_test: 'runs',
  audit: 'runs',
  order_capture: 'hours',
} as const

function Series({ evidence: { issue, series, grain, changes, specialPeriods } }: { evidence: IssueEvidence }) {
  if (series.length === 0) return <Text c="dimmed">{messages.issue.noData}</Text>
  const counted = UNITS[issue.alertType] ?? 'events'
  const unit = messages.issue.units[counted][grain]
  const total = series.reduce((sum, { observed }) => sum + observed, 0)
  return (
    <Suspense fallback={<SkeletonLines count={6} />}>
      <BandChart
        title={messages.issue.chartTitle}
        summary={messages.issue.totals[counted](formatNumber(total))}
        points={series}
        unit={unit}
        scope={issue.domain ?? undefined}
        changes={changes}
        special={specialPeriods}
      />
    </Suspense>
  )
}

/** Occurrences by day. */
function Days({ occurrences }: { occurrences: EvidenceProps['occurrences'] }) {
  const t = messages.issue.days
  const points = daysOf(occurrences, Date.now())
  const most = occurrences.reduce((most, one) => (one.count > most.count ? one : most))
  return (
    <Suspense fallback={<div style={{ height: DAYS_HEIGHT_PX }} />}>
      <Bars
        title={t.title}
        summary={t.summary(
          occurrences.length,
          formatDate(Date.parse(most.day), 'UTC', { day: 'numeric', month: 'long' }),
          formatNumber(most.count, 0),
        )}
        points={points}
        unit={t.unit}
        height={DAYS_HEIGHT_PX}
      />
    </Suspense>
  )
}

/** The parameters used in the conditions of a rule. */
function conditionParameters(alert: IssueEvidence['alert']): string[] {
  const groups = [alert?.conditions, ...(alert?.conditionGroups ?? [])]
  return groups.flatMap((group) => group?.items.map(({ parameter }) => parameter) ?? [])
}

function SampleComparison({ bad, good, judged }: { bad: Event; good: Event | null; judged: readonly string[] }) {
  const heads = [
    <span key="bad">
      {messages.issue.violatingEvent}
      <Dot />
      <DateTime at={bad.ts} />
    </span>,
    good && (
      <span key="good">
        {messages.issue.validEvent}
        <Dot />
        <DateTime at={good.ts} />
      </span>
    ),
  ] as const
  return (
    <>
      <DiffTable
        name={messages.issue.comparison}
        heads={heads}
        left={bad.params}
        right={good?.params ?? null}
        first={judged}
      />
      {!good && (
        <Text c="dimmed" fz="sm">
          {messages.issue.noValidEvent}
        </Text>
      )}
    </>
  )
}

function LatestEvents({ events }: { events: readonly Event[] }) {
  const { time, event, host, path } = messages.issue.eventColumns
  return (
    <Table.ScrollContainer
      minWidth={420}
      scrollAreaProps={{ viewportProps: { tabIndex: 0, 'aria-label': messages.issue.violatingEvents } }}
    >
      <Table aria-label={messages.issue.violatingEvents}>
        <Table.Thead>
          <Table.Tr>
            {[time, event, host, path].map((head) => (
              <Table.Th key={head} scope="col">
                {head}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {events.map(({ id, ts, event, host, path }) => (
            <Table.Tr key={id}>
              <Table.Td>
                <TimeAgo at={ts} />
              </Table.Td>
              <Table.Td>
                <Code>{event}</Code>
              </Table.Td>
              <Table.Td>
                <Data>{host}</Data>
              </Table.Td>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>
                <Data>{path}</Data>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

/** A link to all events of the same kind in Explore. */
function ExploreLink({ event }: { event: Event | undefined }) {
  if (!event) return null
  const search = { vendor: event.vendor, event: event.event, domainId: event.domainId }
  return (
    <Text fz="sm" mt="sm">
      <PathLink path="/explore/events" search={search}>
        {messages.issue.allInExplore}
      </PathLink>
    </Text>
  )
}
