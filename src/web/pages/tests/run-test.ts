import { runFlowTest } from '#client/sdk.gen'
import { mutate } from '../../api/mutate.ts'
import { messages } from '../../messages.ts'

/** Starts a run of the test. Returns its id; null when it was rejected, which is then already shown. */
export async function runTest(id: string): Promise<string | null> {
  const answer = await mutate({
    send: () => runFlowTest({ path: { id }, body: {}, throwOnError: true }),
    invalidates: [[{ _id: 'listRuns' }], [{ _id: 'listFlowTests' }], [{ _id: 'getFlowTest' }]],
    message: messages.tests.runStarted,
  })
  return answer?.data.id ?? null
}
