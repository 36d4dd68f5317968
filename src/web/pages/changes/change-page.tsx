import { Anchor, Group, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { listIssuesOptions } from '#client/@tanstack/react-query.gen'
import type { Change } from '#client/types.gen'
import { Data, Sentence } from '../../components/data-text.tsx'
import { formatNumber, formatPercent } from '../../components/format.ts'
import { NotFoundNotice } from '../../components/not-found-notice.tsx'
import { Pct } from '../../components/numbers.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { SeverityMark } from '../../components/severity-mark.tsx'
import { SimpleTable } from '../../components/simple-table.tsx'
import { StatusMark } from '../../components/status-mark.tsx'
import { DateTime, TimeAgo } from '../../components/time-ago.tsx'
import { messages } from '../../messages.ts'
import { changeQuery } from './queries.ts'
import { CHANGE_MARKS } from './status-marks.ts'

type Finding = Change['findings']['items'][number]

const MINUTE_MS = 60_000
/** Findings whose amounts are numbers of events; all other amounts are shares. */
const COUNTED = ['event_lost', 'event_fell', 'event_doubled', 'event_new', 'event_rose']

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
  const { title, domain, occurredAt, windowMinutes, status, findings, source, ref } = change
  const { before, after } = findings.comparedEvents
  const t = messages.changes
  return (
    <>
      <PageHeader title={title} isData />
      <Stack gap="lg">
        <div>
          <Group gap="md">
            <StatusMark status={CHANGE_MARKS[status]} word={t.statuses[status]} />
            <Text>{t.sentences[status]}</Text>
            {status === 'watching' && (
              <Text component="div">
                {t.verdictDue} <TimeAgo at={occurredAt + windowMinutes * MINUTE_MS} />
              </Text>
            )}
          </Group>
          <Text c="dimmed" fz="sm" component="div">
            <Data>{domain}</Data> · <DateTime at={occurredAt} /> · {t.source} <Data>{`${source} ${ref}`}</Data>
          </Text>
          <Text c="dimmed" fz="sm">
            {t.compared(formatNumber(before, 0), formatNumber(after, 0))}
          </Text>
        </div>
        <section>
          <Title order={2} mb="sm">
            {t.findings}
          </Title>
          {findings.items.length === 0 ? <Text>{t.noFindings}</Text> : <FindingTable findings={findings.items} />}
        </section>
        <IssuesAfter change={change} />
      </Stack>
    </>
  )
}

function FindingTable({ findings }: { findings: readonly Finding[] }) {
  const t = messages.changes
  const value = (finding: Finding, amount: number) => (
    <Data>{COUNTED.includes(finding.kind) ? formatNumber(amount, 0) : formatPercent(amount)}</Data>
  )
  return (
    <SimpleTable
      name={t.findings}
      rows={findings}
      keyOf={({ kind, vendor, event, key }) => `${kind} ${vendor} ${event} ${key}`}
      columns={[
        { head: t.finding, cell: ({ detail }) => <Data>{detail}</Data> },
        { head: t.kind, cell: ({ kind }) => t.kinds[kind] },
        { head: t.harmful, cell: ({ harmful }) => (harmful ? t.harmful : t.harmless) },
        { head: t.before, isNumber: true, cell: (finding) => value(finding, finding.before) },
        { head: t.after, isNumber: true, cell: (finding) => value(finding, finding.after) },
        { head: t.difference, isNumber: true, cell: ({ effect }) => <Pct value={effect} /> },
      ]}
    />
  )
}

/** Issues on the domain that were first seen after the change. */
function IssuesAfter({ change: { domainId, occurredAt } }: { change: Change }) {
  const query = useQuery(listIssuesOptions({ query: { domainId: [domainId], since: occurredAt, limit: 20 } }))
  const opened = query.data?.issues.filter(({ firstSeenAt }) => firstSeenAt >= occurredAt) ?? []
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
