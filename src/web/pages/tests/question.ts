import { listFlowTestsInfiniteOptions, listRunsOptions } from '#client/@tanstack/react-query.gen'
import { PAGED } from '../../api/pages.ts'

const AT_ONCE = 50

/** The query of the list of tests. */
export const testsQuery = () => ({ ...listFlowTestsInfiniteOptions({ query: { limit: AT_ONCE } }), ...PAGED })

const SHOWN_RUNS = 50

/** The query of a test's most recent runs. */
export const runsAskedFor = (testId: string) => listRunsOptions({ query: { testId, limit: SHOWN_RUNS } })
