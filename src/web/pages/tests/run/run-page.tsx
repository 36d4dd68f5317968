import { Button, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { getFlowTestOptions } from '#client/@tanstack/react-query.gen'
import { cancelRun } from '#client/sdk.gen'
import type { RunDetail } from '#client/types.gen'
import { invalidate } from '../../../api/queries.ts'
import { useHasRole } from '../../../api/whoami.ts'
import { Breadcrumb } from '../../../components/breadcrumb.tsx'
import { Data } from '../../../components/data-text.tsx'
import { NotFoundNotice } from '../../../components/not-found-notice.tsx'
import { Duration } from '../../../components/numbers.tsx'
import { PageHeader } from '../../../components/page-header.tsx'
import { QueryState } from '../../../components/query-state.tsx'
import { RoleNotice } from '../../../components/role-notice.tsx'
import { SimpleTable } from '../../../components/simple-table.tsx'
import { StatusMark } from '../../../components/status-mark.tsx'
import { TimeAgo } from '../../../components/time-ago.tsx'
import { messages } from '../../../messages.ts'
import { notices } from '../../../state/notices.ts'
import { isOver, runQuery } from '../queries.ts'
import { RUN_MARKS } from '../status-marks.ts'
import { ShareDialog } from './share-dialog.tsx'
import { Steps } from './steps.tsx'

/** `/tests/runs/{id}`: the steps, events and findings of a run. */
export function RunPage() {
  const id = useParams({ strict: false }).id ?? ''
  const query = useQuery(runQuery(id))
  const t = messages.tests
  const gone = (
    <NotFoundNotice sentence={t.runNotFound}>
      <Link to="/tests">{t.toTests}</Link>
    </NotFoundNotice>
  )
  return (
    <QueryState query={query} title={messages.shell.pages.tests} notFound={gone}>
      {(run) => <RunDetailView run={run} />}
    </QueryState>
  )
}

function RunDetailView({ run }: { run: RunDetail }) {
  const test = useQuery(getFlowTestOptions({ path: { id: run.testId } })).data
  const [isSharing, share] = useState(false)
  const may = useHasRole('member')
  const t = messages.tests
  const cancel = async () => {
    await cancelRun({ path: { id: run.id } })
    await invalidate('getRun')
    notices.say(t.runCancelled)
  }
  return (
    <>
      <PageHeader
        title={t.runTitle}
        above={<Breadcrumb to={`/tests/${run.testId}`}>{test ? <Data>{test.name}</Data> : t.test}</Breadcrumb>}
      >
        <StatusMark status={RUN_MARKS[run.status]} word={t.runStatuses[run.status]} />
        {may && (run.status === 'passed' || run.status === 'failed') && (
          <Button variant="default" onClick={() => share(true)}>
            {t.share}
          </Button>
        )}
        {may && !isOver(run.status) && (
          <Button variant="default" onClick={() => void cancel()}>
            {t.cancelRun}
          </Button>
        )}
      </PageHeader>
      <RoleNotice needs="member" what={messages.tests.restrictedSharing} />
      <Stack gap="lg">
        <Headline run={run} />
        <section>
          <Title order={2} mb="sm">
            {t.findings}
          </Title>
          {run.findings.length === 0 ? <Text>{t.noFindings}</Text> : <Findings findings={run.findings} />}
        </section>
        <section>
          <Title order={2} mb="sm">
            {t.steps}
          </Title>
          <Steps run={run} />
        </section>
        {run.errors.length > 0 && (
          <section>
            <Title order={2} mb="sm">
              {t.errors}
            </Title>
            <ul>
              {run.errors.map((error) => (
                <li key={error}>
                  <Data>{error}</Data>
                </li>
              ))}
            </ul>
          </section>
        )}
      </Stack>
      <ShareDialog
        id={run.id}
        shares={run.shares}
        steps={run.steps}
        title={t.share}
        isOpen={isSharing}
        close={() => share(false)}
      />
    </>
  )
}

/** The result, and a link to the test. */
function Headline({ run }: { run: RunDetail }) {
  const { summary, status, error, createdAt, durationMs, trigger } = run
  const t = messages.tests
  return (
    <Paper>
      <Text fw={600} fz="lg">
        {status === 'passed' && t.passedSummary(summary.stepsPassed, summary.vendorsFired)}
        {status === 'failed' && (error === null ? t.failedSummary(summary.findings) : <Data>{error}</Data>)}
        {(status === 'queued' || status === 'running' || status === 'cancelled') && t.runStatuses[status]}
      </Text>
      <Group gap="md" c="dimmed" fz="sm">
        <TimeAgo at={createdAt} />
        <span>
          {t.duration} <Duration ms={durationMs} />
        </span>
        <span>
          {t.trigger} {t.triggers[trigger]}
        </span>
      </Group>
    </Paper>
  )
}

function Findings({ findings }: { findings: RunDetail['findings'] }) {
  const t = messages.tests
  const rows = findings.map((finding, index) => ({ ...finding, index }))
  return (
    <SimpleTable
      name={t.findings}
      rows={rows}
      keyOf={({ index }) => String(index)}
      columns={[
        { head: t.finding, cell: ({ sentence }) => <Data>{sentence}</Data> },
        { head: t.kind, cell: ({ kind }) => t.kinds[kind] },
        { head: t.expected, cell: ({ expected }) => <Data>{expected}</Data> },
        { head: t.observed, cell: ({ observed }) => <Data>{observed}</Data> },
      ]}
    />
  )
}
