import { Anchor, Group, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { listIssuesOptions } from '#client/@tanstack/react-query.gen'
import type { Change } from '#client/types.gen'
import { MAX_PAGE_SIZE } from '../../../contract/limits.ts'
import { PAGE_PATHS } from '../../../contract/page-paths.ts'
import { Breadcrumb } from '../../components/breadcrumb.tsx'
import { Data, Sentence } from '../../components/data-text.tsx'
import { formatNumber, formatPercent, UNKNOWN } from '../../components/format.ts'
import { NotFoundNotice } from '../../components/not-found-notice.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { SeverityMark } from '../../components/severity-mark.tsx'
import { SimpleTable } from '../../components/simple-table.tsx'
import { StatusMark } from '../../components/status-mark.tsx'
import { DateTime } from '../../components/time-ago.tsx'
import { messages } from '../../messages.ts'
import { points } from './compare-rows.tsx'
import { GateVerdict } from './gate-verdict.tsx'
import { changeQuery } from './queries.ts'
import { CHANGE_MARKS } from './status-marks.ts'

type Finding = Change['findings']['items'][number]

const MINUTE_MS = 60_000
/** Findings whose amounts are numbers of events; all other amounts are shares. */
const COUNTED: readonly string[] = ['event_lost', 'event_fell', 'event_doubled', 'event_new', 'event_rose']

/** `/changes/{id}`: traffic before and after, largest difference first. */
export function ChangePage() {
  const id = useParams({ strict: false }).id ?? ''
  const query = useQuery(changeQuery(id))
  const gone = (
    <NotFoundNotice sentence={messages.changes.notFound}>
      <Link to="/changes">{messages.changes.toList}</Link>
    </NotFoundNotice>
  )
  return (
    <QueryState query={query} title={messages.shell.pages.changes} notFound={gone}>
      {(change) => <ChangeDetail change={change} />}
    </QueryState>
  )
}

function ChangeDetail({ change }: { change: Change }) {
  const { title, domain, occurredAt, status, findings, source, ref } = change
  const { before, after } = findings.comparedEvents
  const t = messages.changes
  return (
    <>
      <PageHeader title={title} isData above={<Breadcrumb to="/changes">{messages.shell.pages.changes}</Breadcrumb>} />
      <Stack gap="lg">
        <div>
          <Group gap="md">
            <StatusMark status={CHANGE_MARKS[status]} word={t.statuses[status]} />
            <Text>{t.sentences[status]}</Text>
            {status === 'watching' && (
              <Text component="div">
                {t.verdictDue} <DateTime at={endOf(change)} />
              </Text>
            )}
          </Group>
          <Text c="dimmed" fz="sm" component="div">
            <Data>{domain}</Data> · <DateTime at={occurredAt} /> · {t.source} <Data>{`${source} ${ref}`}</Data>
          </Text>
          {change.gateRun && <GateVerdict run={change.gateRun} />}
          {(status !== 'watching' || before + after > 0) && (
            <Text c="dimmed" fz="sm">
              {t.compared(formatNumber(before, 0), formatNumber(after, 0))}
            </Text>
          )}
          <Anchor component={Link} to={PAGE_PATHS.changes.compare} search={comparisonOf(change) as never} fz="sm">
            {messages.compare.link}
          </Anchor>
        </div>
        <section>
          <Title order={2} mb="sm">
            {t.findings}
          </Title>
          {findings.items.length > 0 ? <FindingTable change={change} /> : <NoFindings change={change} />}
        </section>
        <IssuesAfter change={change} />
      </Stack>
    </>
  )
}

/** The end of the watch window. */
const endOf = ({ occurredAt, windowMinutes }: Change) => occurredAt + windowMinutes * MINUTE_MS

/** While no verdict is known, nothing can be said about differences. */
function NoFindings({ change }: { change: Change }) {
  const t = messages.changes
  return <Text>{change.status === 'watching' ? t.noVerdict : t.noFindings}</Text>
}

/** Search parameters of the comparison of the watch window with the same time before it. */
function comparisonOf(change: Change) {
  const { domainId, occurredAt, windowMinutes } = change
  const lengthMs = windowMinutes * MINUTE_MS
  return {
    by: 'periods',
    domainId,
    aFrom: occurredAt - lengthMs,
    aTo: occurredAt,
    bFrom: occurredAt,
    bTo: endOf(change),
  }
}

/** Search parameters of the Events page for a finding. Events of a lost event or parameter are those before the change. */
function eventsOf({ kind, vendor, event, key }: Finding, change: Change) {
  const { domainId, occurredAt, windowMinutes } = change
  const isGone = kind === 'event_lost'
  return {
    domainId,
    vendor,
    from: isGone ? occurredAt - windowMinutes * MINUTE_MS : occurredAt,
    to: isGone ? occurredAt : endOf(change),
    ...(event && { event }),
    ...(kind === 'key_lost' && { param: `${key}=` }),
    ...((kind === 'key_new' || kind === 'key_type') && key && { key }),
    ...(kind === 'consent_fell' && { param: `${key}=denied` }),
    ...(kind === 'violations_rose' && { violated: 'true' }),
  }
}

/** Returns the difference: in percentage points for shares, in percent of the former number for events. */
function differenceText({ kind, before, after }: Finding): string {
  if (!COUNTED.includes(kind)) return points((after - before) * 100)
  if (before === 0) return UNKNOWN
  return `${after > before ? '+' : ''}${formatPercent(after / before - 1)}`
}

function FindingTable({ change }: { change: Change }) {
  const t = messages.changes
  const value = (finding: Finding, amount: number) => (
    <Data>{COUNTED.includes(finding.kind) ? formatNumber(amount, 0) : formatPercent(amount)}</Data>
  )
  return (
    <SimpleTable
      name={t.findings}
      rows={change.findings.items}
      keyOf={({ kind, vendor, event, key }) => `${kind} ${vendor} ${event} ${key}`}
      columns={[
        { head: t.finding, cell: ({ detail }) => <Data>{detail}</Data> },
        { head: t.kind, cell: ({ kind }) => t.kinds[kind] },
        { head: t.harmful, cell: ({ harmful }) => (harmful ? t.harmful : t.harmless) },
        { head: t.before, isNumber: true, cell: (finding) => value(finding, finding.before) },
        { head: t.after, isNumber: true, cell: (finding) => value(finding, finding.after) },
        { head: t.difference, isNumber: true, cell: (finding) => <Data>{differenceText(finding)}</Data> },
        {
          head: t.events,
          isHeadHidden: true,
          cell: (finding) => (
            <Anchor
              component={Link}
              to={PAGE_PATHS.explore.events}
              search={eventsOf(finding, change) as never}
              aria-label={t.eventsOf(finding.detail)}
            >
              {t.showEvents}
            </Anchor>
          ),
        },
      ]}
    />
  )
}

/** Issues on the domain that began in the watch window. */
function IssuesAfter({ change }: { change: Change }) {
  const { domainId, occurredAt } = change
  const query = useQuery(
    listIssuesOptions({ query: { domainId: [domainId], since: occurredAt, limit: MAX_PAGE_SIZE } }),
  )
  const isWithin = (at: number) => at >= occurredAt && at < endOf(change)
  const opened = query.data?.issues.filter(({ firstSeenAt }) => isWithin(firstSeenAt)) ?? []
  if (opened.length === 0) return null
  return (
    <section>
      <Title order={2} mb="sm">
        {messages.changes.issues}
      </Title>
      <Stack gap="sm">
        {opened.map(({ id, title, severity }) => (
          <Group key={id} gap="sm" wrap="nowrap">
            <SeverityMark severity={severity} />
            <Anchor component={Link} to={`/issues/${id}`}>
              <Sentence>{title}</Sentence>
            </Anchor>
          </Group>
        ))}
      </Stack>
    </section>
  )
}
