import { runFlowTest } from '#client/sdk.gen'
import { act } from '../../api/act.ts'
import { words } from '../../words.ts'

/** Begins a run of the test. Returns its id; null when it was refused, which is told already. */
export async function runTest(id: string): Promise<string | null> {
  const answer = await act({
    send: () => runFlowTest({ path: { id }, body: {}, throwOnError: true }),
    asksAgain: [[{ _id: 'listRuns' }], [{ _id: 'listFlowTests' }], [{ _id: 'getFlowTest' }]],
    say: words.tests.runStarted,
  })
  return answer?.data.id ?? null
}
