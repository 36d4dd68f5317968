import { Button, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { getFlowTestOptions } from '#client/@tanstack/react-query.gen'
import { deleteFlowTest } from '#client/sdk.gen'
import type { FlowTest } from '#client/types.gen'
import { queries } from '../../api/queries.ts'
import { useMay } from '../../api/who.ts'
import { Ago } from '../../parts/ago.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Data } from '../../parts/data.tsx'
import { useGoOn } from '../../parts/is-here.ts'
import { MayLine } from '../../parts/may.tsx'
import { NoSuch } from '../../parts/no-such.tsx'
import { Duration, Num } from '../../parts/numbers.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { QueryState } from '../../parts/query-state.tsx'
import { SimpleTable } from '../../parts/simple-table.tsx'
import { StatusMark } from '../../parts/status-mark.tsx'
import { notices } from '../../shell/notices.ts'
import { words } from '../../words.ts'
import { Healing } from './healing.tsx'
import { runsAskedFor } from './question.ts'
import { runTest } from './run-test.ts'
import { RUN_STANDING, TEST_STANDING } from './standing.ts'
import { TestForm } from './test-form.tsx'

/** `/tests/{id}`: a flow test, its runs, and what it does. */
export function TestPage() {
  const id = useParams({ strict: false }).id ?? ''
  const query = useQuery(getFlowTestOptions({ path: { id } }))
  const said = words.tests
  const gone = (
    <NoSuch sentence={said.noSuch}>
      <Link to="/tests">{said.toTests}</Link>
    </NoSuch>
  )
  return (
    <QueryState query={query} room={words.shell.pages.tests} gone={gone}>
      {(test) => <TestDetail key={test.versionId} test={test} />}
    </QueryState>
  )
}

function TestDetail({ test }: { test: FlowTest }) {
  const may = useMay('member')
  const goOn = useGoOn()
  const [isLeaving, leave] = useState(false)
  const said = words.tests
  const run = async () => {
    const runId = await runTest(test.id)
    if (runId) await goOn({ to: '/tests/runs/$id', params: { id: runId } })
  }
  const remove = async () => {
    await deleteFlowTest({ path: { id: test.id }, throwOnError: true })
    await goOn({ to: '/tests' })
    await queries.invalidateQueries({ queryKey: [{ _id: 'listFlowTests' }] })
    notices.say(said.removed(test.name))
  }
  return (
    <>
      <PageHead title={test.name} isData>
        <StatusMark status={TEST_STANDING[test.status]} word={said.statuses[test.status]} />
        {may && (
          <Button variant="default" onClick={() => void run()}>
            {said.run}
          </Button>
        )}
      </PageHead>
      <MayLine needs="member" what={said.what} />
      <Stack gap="lg" className="column">
        {test.healing.length > 0 && <Healing test={test} />}
        <Runs testId={test.id} />
        {may && (
          <Paper component="section">
            <Title order={2} mb="md">
              {said.edit}
            </Title>
            <TestForm test={test} />
          </Paper>
        )}
        {may && (
          <Button variant="default" w="fit-content" onClick={() => leave(true)}>
            {said.remove}
          </Button>
        )}
      </Stack>
      <Confirm
        close={() => leave(false)}
        asks={isLeaving ? { title: said.remove, sentence: said.removeHint, button: said.remove, act: remove } : null}
      />
    </>
  )
}

function Runs({ testId }: { testId: string }) {
  const query = useQuery(runsAskedFor(testId))
  const said = words.tests
  return (
    <section>
      <Title order={2} mb="sm">
        {said.runs}
      </Title>
      <QueryState query={query} isEmpty={({ runs }) => runs.length === 0} empty={<Text>{said.noRuns}</Text>}>
        {({ runs }) => (
          <SimpleTable
            name={said.runs}
            rows={runs}
            keyOf={({ id }) => id}
            columns={[
              {
                head: said.status,
                cell: ({ id, status }) => (
                  <Link to="/tests/runs/$id" params={{ id }}>
                    <Group gap="sm" wrap="nowrap">
                      <StatusMark status={RUN_STANDING[status]} word={said.runStatuses[status]} />
                    </Group>
                  </Link>
                ),
              },
              { head: said.when, cell: ({ createdAt }) => <Ago at={createdAt} /> },
              { head: said.took, isNumber: true, cell: ({ durationMs }) => <Duration ms={durationMs} /> },
              { head: said.trigger, cell: ({ trigger }) => said.triggers[trigger] },
              { head: said.findings, isNumber: true, cell: ({ summary }) => <Num value={summary.findings} /> },
              { head: said.errors, cell: ({ error }) => <Data>{error}</Data> },
            ]}
          />
        )}
      </QueryState>
    </section>
  )
}
