import { Button, Group, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { getGateRunOptions } from '#client/@tanstack/react-query.gen'
import { approveGateRun } from '#client/sdk.gen'
import type { GateReport, GateRun } from '#client/types.gen'
import { PAGE_PATHS } from '../../../contract/page-paths.ts'
import { mutate } from '../../api/mutate.ts'
import { useHasRole } from '../../api/whoami.ts'
import { Data, Sentence } from '../../components/data-text.tsx'
import { formatNumber } from '../../components/format.ts'
import { NotFoundNotice } from '../../components/not-found-notice.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { RoleNotice } from '../../components/role-notice.tsx'
import { SeverityMark } from '../../components/severity-mark.tsx'
import { SimpleTable } from '../../components/simple-table.tsx'
import { StatusMark } from '../../components/status-mark.tsx'
import { DateTime } from '../../components/time-ago.tsx'
import { messages } from '../../messages.ts'
import { GATE_MARKS } from './status-marks.ts'

/** `/gate/{id}`: the report of a run of the release gate, and its approval as a baseline. */
export function GateRunPage() {
  const id = useParams({ strict: false }).id ?? ''
  const query = useQuery(getGateRunOptions({ path: { id } }))
  const t = messages.gate
  const gone = (
    <NotFoundNotice sentence={t.notFound}>
      <Link to={PAGE_PATHS.changes.gate}>{t.toList}</Link>
    </NotFoundNotice>
  )
  return (
    <QueryState query={query} title={t.title} notFound={gone}>
      {(run) => <GateRunDetail run={run} />}
    </QueryState>
  )
}

function GateRunDetail({ run }: { run: GateRun }) {
  const { name, ref, report } = run
  const t = messages.gate
  return (
    <>
      <PageHeader title={ref === null ? name : `${name} ${ref}`} isData above={<Link to="/gate">{t.back}</Link>}>
        <ApproveButton run={run} />
      </PageHeader>
      <RoleNotice needs="member" what={t.restrictedAction} />
      <Stack gap="lg">
        <Summary run={run} />
        <section>
          <Title order={2} mb="sm">
            {t.problems}
          </Title>
          {report.findings.length > 0 ? <Problems report={report} /> : <Text>{t.noProblems}</Text>}
          {report.moreFindings > 0 && <Text>{t.more(formatNumber(report.moreFindings, 0))}</Text>}
        </section>
        <section>
          <Title order={2} mb="sm">
            {t.checks}
          </Title>
          <Checks report={report} />
        </section>
        {report.unread.length > 0 && <Unread report={report} />}
      </Stack>
    </>
  )
}

/** Only runs that have events and violate nothing but their own baseline can be a baseline. */
const isApprovable = ({ checks, events }: GateReport) =>
  events.length > 0 && checks.every(({ kind, status }) => kind === 'baseline' || status !== 'failed')

function ApproveButton({ run: { id, approvedAt, report } }: { run: GateRun }) {
  const may = useHasRole('member')
  const t = messages.gate
  const decide = (approved: boolean): void => {
    void mutate({
      send: async () => (await approveGateRun({ path: { id }, body: { approved } })).data,
      invalidates: ['getGateRun', 'listGateRuns'],
      message: approved ? t.approvedNotice : t.withdrawnNotice,
      undo: () => decide(!approved),
    })
  }
  if (!may) return null
  if (approvedAt !== null) {
    return (
      <Button variant="default" onClick={() => decide(false)}>
        {t.withdraw}
      </Button>
    )
  }
  return isApprovable(report) ? <Button onClick={() => decide(true)}>{t.approve}</Button> : null
}

function Summary({ run: { status, createdAt, approvedAt, report } }: { run: GateRun }) {
  const t = messages.gate
  return (
    <div>
      <Group gap="md">
        <StatusMark status={GATE_MARKS[status]} word={t.statuses[status]} />
        <DateTime at={createdAt} />
      </Group>
      {approvedAt !== null && (
        <Text component="div">
          {t.approvedAt} <DateTime at={approvedAt} />
        </Text>
      )}
      {!isApprovable(report) && <Text c="dimmed">{t.notApprovable}</Text>}
      {report.baseline !== null && (
        <Text c="dimmed" fz="sm">
          {t.comparedWith} <Baseline id={report.baseline} />
        </Text>
      )}
      {report.recordings.map(({ file, events, requests }) => (
        <Text key={file} c="dimmed" fz="sm">
          <Data>{t.recording(file, formatNumber(events, 0), formatNumber(requests, 0))}</Data>
        </Text>
      ))}
    </div>
  )
}

function Problems({ report: { findings, checks, baseline } }: { report: GateReport }) {
  const t = messages.gate
  return (
    <SimpleTable
      name={t.problems}
      rows={findings.map((finding, index) => ({ ...finding, index }))}
      keyOf={({ index }) => String(index)}
      columns={[
        {
          head: t.problem,
          cell: ({ sentence, check }) => (
            <>
              <Sentence>{sentence}</Sentence>
              <div className="under">
                <CheckName check={checks[check]} baseline={baseline} />
              </div>
            </>
          ),
        },
        { head: t.expected, cell: ({ expected }) => <Sentence>{expected ?? ''}</Sentence> },
        { head: t.observed, cell: ({ observed }) => <Sentence>{observed ?? ''}</Sentence> },
        { head: t.where, cell: ({ evidence }) => <Place evidence={evidence} /> },
        { head: t.count, isNumber: true, cell: ({ count }) => <Data>{formatNumber(count, 0)}</Data> },
      ]}
    />
  )
}

type Check = GateReport['checks'][number]

function CheckName({ check, baseline }: { check: Check | undefined; baseline: GateReport['baseline'] }) {
  if (!check) return null
  const { kind, id, name } = check
  if (kind === 'baseline' && baseline !== null) {
    return (
      <>
        {messages.gate.sameAsBaseline} <Baseline id={baseline} />
      </>
    )
  }
  if (kind !== 'alert' || id === null || !id.startsWith('alr_')) return <Data>{name}</Data>
  return (
    <Link to="/alerts/$id" params={{ id }}>
      <Data>{name}</Data>
    </Link>
  )
}

/** The run that was the baseline, or the name of its file. */
function Baseline({ id }: { id: string }) {
  if (!id.startsWith('gat_')) return <Data>{id}</Data>
  return (
    <Link to="/gate/$id" params={{ id }}>
      {messages.gate.baselineRun}
    </Link>
  )
}

function Place({ evidence }: { evidence: GateReport['findings'][number]['evidence'] }) {
  if (evidence === null) return null
  const { file, entry, page, url } = evidence
  return (
    <>
      <Data>{page ?? url}</Data>
      <div className="under">
        <Data>{messages.gate.entry(file, entry)}</Data>
      </div>
    </>
  )
}

const CHECK_ORDER: Record<Check['status'], number> = { failed: 0, passed: 1, skipped: 2 }

function Checks({ report: { checks, baseline } }: { report: GateReport }) {
  const t = messages.gate
  return (
    <SimpleTable
      name={t.checks}
      rows={checks
        .map((check, index) => ({ ...check, index }))
        .sort((a, b) => CHECK_ORDER[a.status] - CHECK_ORDER[b.status])}
      keyOf={({ index }) => String(index)}
      columns={[
        { head: t.check, cell: (check) => <CheckName check={check} baseline={baseline} /> },
        {
          head: t.status,
          cell: ({ status }) => <StatusMark status={GATE_MARKS[status]} word={t.checkStatuses[status]} />,
        },
        {
          head: messages.gate.severity,
          cell: ({ severity }) => severity && <SeverityMark severity={severity} />,
        },
        {
          head: t.count,
          isNumber: true,
          cell: ({ events }) => events !== null && <Data>{formatNumber(events, 0)}</Data>,
        },
        { head: t.reason, cell: ({ reason }) => reason && <Data>{reason}</Data> },
      ]}
    />
  )
}

function Unread({ report: { unread } }: { report: GateReport }) {
  const t = messages.gate
  return (
    <section>
      <Title order={2} mb="sm">
        {t.unread}
      </Title>
      <SimpleTable
        name={t.unread}
        rows={unread}
        keyOf={({ file, entry }) => `${file} ${entry}`}
        columns={[
          { head: t.where, cell: ({ file, entry }) => <Data>{t.entry(file, entry)}</Data> },
          { head: t.host, cell: ({ host }) => <Data>{host}</Data> },
          { head: t.reason, cell: ({ reason }) => <Data>{reason}</Data> },
        ]}
      />
    </section>
  )
}
