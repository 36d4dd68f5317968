import { queryOptions } from '@tanstack/react-query'
import { getRunOptions, listFlowTestsInfiniteOptions, listRunsOptions } from '#client/@tanstack/react-query.gen'
import { runFlowTest } from '#client/sdk.gen'
import type { Run } from '#client/types.gen'
import { mutate } from '../../api/mutate.ts'
import { messages } from '../../messages.ts'
import { text } from '../../url-state/param-types.ts'

/** Search parameters of a new test. `sessionId` is the visitor's session from which the test is drafted. */
export const NEW_TEST = { sessionId: text }

const PAGE_SIZE = 50

/** The query of the list of tests. */
export const testsQuery = () => listFlowTestsInfiniteOptions({ query: { limit: PAGE_SIZE } })

const SHOWN_RUNS = 50

/** The query of a test's most recent runs. */
export const runsQuery = (testId: string) => listRunsOptions({ query: { testId, limit: SHOWN_RUNS } })

/** Polling interval while a test runs; the change stream does not report individual steps. */
const POLL_INTERVAL_MS = 1000

/** Returns whether a run has ended. */
export const isOver = (status: Run['status'] | undefined): boolean => status !== 'queued' && status !== 'running'

/** The query of a run, repeated until the run has ended. */
export const runQuery = (id: string) => {
  const options = getRunOptions({ path: { id } })
  return queryOptions({
    ...options,
    refetchInterval: ({ state }) => (isOver(state.data?.status) ? false : POLL_INTERVAL_MS),
  })
}

/**
 * Starts a run of the test. Returns its id, or null if the request was rejected; the error has then already been shown.
 */
export async function runTest(id: string): Promise<string | null> {
  const answer = await mutate({
    send: () => runFlowTest({ path: { id }, body: {} }),
    invalidates: ['listRuns', 'listFlowTests', 'getFlowTest'],
    message: messages.tests.runStarted,
  })
  return answer?.data.id ?? null
}
