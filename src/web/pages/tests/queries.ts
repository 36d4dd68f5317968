import { listFlowTestsInfiniteOptions, listRunsOptions } from '#client/@tanstack/react-query.gen'
import { runFlowTest } from '#client/sdk.gen'
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
