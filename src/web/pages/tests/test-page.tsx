import { Button, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { getFlowTestOptions } from '#client/@tanstack/react-query.gen'
import { decideHealing, deleteFlowTest } from '#client/sdk.gen'
import type { FlowTest } from '#client/types.gen'
import { mutate } from '../../api/mutate.ts'
import { invalidate } from '../../api/queries.ts'
import { useHasRole } from '../../api/whoami.ts'
import { Breadcrumb } from '../../components/breadcrumb.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { Code, Data } from '../../components/data-text.tsx'
import { ManagedNotice } from '../../components/managed-by.tsx'
import { NotFoundNotice } from '../../components/not-found-notice.tsx'
import { Duration, Num } from '../../components/numbers.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { RoleNotice } from '../../components/role-notice.tsx'
import { SimpleTable } from '../../components/simple-table.tsx'
import { StatusMark } from '../../components/status-mark.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { useNavigateIfMounted } from '../../components/use-is-mounted.ts'
import { messages } from '../../messages.ts'
import { notices } from '../../state/notices.ts'
import { runQuery, runsQuery, runTest } from './queries.ts'
import { Steps } from './run/steps.tsx'
import { RunHistory } from './run-history.tsx'
import { RUN_MARKS, TEST_MARKS } from './status-marks.ts'
import { TestForm } from './test-form.tsx'

/** Rows per page of the table of runs; the strip shows all of them. */
const SHOWN_RUNS = 10

/** `/tests/{id}`: a flow test with its runs and settings. */
export function TestPage() {
  const id = useParams({ strict: false }).id ?? ''
  const query = useQuery(getFlowTestOptions({ path: { id } }))
  const t = messages.tests
  const gone = (
    <NotFoundNotice sentence={t.testNotFound}>
      <Link to="/tests">{t.toTests}</Link>
    </NotFoundNotice>
  )
  return (
    <QueryState query={query} title={messages.shell.pages.tests} notFound={gone}>
      {(test) => <TestDetail key={test.versionId} test={test} />}
    </QueryState>
  )
}

function TestDetail({ test }: { test: FlowTest }) {
  const may = useHasRole('member')
  const goOn = useNavigateIfMounted()
  const [isLeaving, leave] = useState(false)
  const t = messages.tests
  const run = async () => {
    const runId = await runTest(test.id)
    if (runId) await goOn({ to: '/tests/runs/$id', params: { id: runId } })
  }
  const remove = async () => {
    await deleteFlowTest({ path: { id: test.id } })
    await goOn({ to: '/tests' })
    await invalidate('listFlowTests')
    notices.say(t.deleted(test.name))
  }
  return (
    <>
      <PageHeader title={test.name} isData above={<Breadcrumb to="/tests">{messages.shell.pages.tests}</Breadcrumb>}>
        <StatusMark status={TEST_MARKS[test.status]} word={t.statuses[test.status]} />
        {may && (
          <Button variant="default" onClick={() => void run()}>
            {t.runNow}
          </Button>
        )}
      </PageHeader>
      <RoleNotice needs="member" what={t.restrictedAction} />
      <ManagedNotice managedBy={test.managedBy} />
      <Stack gap="lg" className="column">
        {test.healing.length > 0 && <Healing test={test} />}
        <Runs testId={test.id} />
        {may && (
          <Paper component="section">
            <Title order={2} mb="md">
              {t.edit}
            </Title>
            <TestForm test={test} />
          </Paper>
        )}
        {may && (
          <Button variant="default" w="fit-content" onClick={() => leave(true)}>
            {t.delete}
          </Button>
        )}
      </Stack>
      <ConfirmDialog
        close={() => leave(false)}
        confirmation={isLeaving ? { title: t.delete, sentence: t.deleteHint, button: t.delete, action: remove } : null}
      />
    </>
  )
}

function Runs({ testId }: { testId: string }) {
  const query = useQuery(runsQuery(testId))
  const t = messages.tests
  return (
    <QueryState query={query} isEmpty={({ runs }) => runs.length === 0} empty={<Text>{t.noRuns}</Text>}>
      {({ runs }) => (
        <Stack gap="lg">
          <RunHistory runs={runs} />
          <LatestRun id={runs[0]?.id ?? ''} />
          <section>
            <Title order={2} mb="sm">
              {t.runs}
            </Title>
            <SimpleTable
              name={t.runs}
              rows={runs}
              size={SHOWN_RUNS}
              keyOf={({ id }) => id}
              columns={[
                {
                  head: t.status,
                  cell: ({ id, status }) => (
                    <Link to="/tests/runs/$id" params={{ id }}>
                      <Group gap="sm" wrap="nowrap">
                        <StatusMark status={RUN_MARKS[status]} word={t.runStatuses[status]} />
                      </Group>
                    </Link>
                  ),
                },
                { head: t.time, cell: ({ createdAt }) => <TimeAgo at={createdAt} /> },
                { head: t.duration, isNumber: true, cell: ({ durationMs }) => <Duration ms={durationMs} /> },
                { head: t.trigger, cell: ({ trigger }) => t.triggers[trigger] },
                { head: t.findings, isNumber: true, cell: ({ summary }) => <Num value={summary.findings} /> },
                { head: t.errors, cell: ({ error }) => <Data>{error}</Data> },
              ]}
            />
          </section>
        </Stack>
      )}
    </QueryState>
  )
}

/** The steps of the most recent run. */
function LatestRun({ id }: { id: string }) {
  const query = useQuery(runQuery(id))
  const t = messages.tests
  return (
    <section>
      <Title order={2} mb="sm">
        {t.latestRun}
      </Title>
      <QueryState query={query} isEmpty={({ steps }) => steps.length === 0} empty={<Latest id={id} />}>
        {(run) => (
          <Stack gap="sm">
            <Latest id={id} />
            <Steps run={run} />
          </Stack>
        )}
      </QueryState>
    </section>
  )
}

function Latest({ id }: { id: string }) {
  const { data } = useQuery(runQuery(id))
  const t = messages.tests
  if (!data) return null
  return (
    <Group gap="md">
      <StatusMark status={RUN_MARKS[data.status]} word={t.runStatuses[data.status]} />
      <TimeAgo at={data.createdAt} />
      <Duration ms={data.durationMs} />
      <Link to="/tests/runs/$id" params={{ id }}>
        {t.openRun}
      </Link>
    </Group>
  )
}

/**
 * Steps whose element was found with a different selector than the recorded one. The user approves or rejects the new
 * selector.
 */
function Healing({ test: { id, healing } }: { test: FlowTest }) {
  const may = useHasRole('member')
  const t = messages.tests
  const decide = (step: number, approve: boolean) =>
    mutate({
      send: () => decideHealing({ path: { id }, body: { step, approve } }),
      invalidates: ['getFlowTest'],
      message: approve ? t.approved : t.rejected,
    })
  return (
    <Paper component="section">
      <Title order={2} mb="sm">
        {t.selectorsToReview}
      </Title>
      <Text c="dimmed" mb="md">
        {t.selectorsToReviewHint}
      </Text>
      <Stack gap="md">
        {healing.map(({ step, before, after }) => (
          <Group key={step} justify="space-between" gap="md">
            <dl className="facts">
              <dt>{t.before}</dt>
              <dd>
                <Code>{before}</Code>
              </dd>
              <dt>{t.after}</dt>
              <dd>
                <Code>{after}</Code>
              </dd>
            </dl>
            {may && (
              <Group gap="sm">
                <Button aria-label={t.approveOf(step + 1)} variant="default" onClick={() => void decide(step, true)}>
                  {t.approve}
                </Button>
                <Button aria-label={t.rejectOf(step + 1)} variant="default" onClick={() => void decide(step, false)}>
                  {t.reject}
                </Button>
              </Group>
            )}
          </Group>
        ))}
      </Stack>
    </Paper>
  )
}
