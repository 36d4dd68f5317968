import { listFlowTestsInfiniteOptions, listRunsOptions } from '#client/@tanstack/react-query.gen'
import { PAGED } from '../../api/pages.ts'

const AT_ONCE = 50

/** The question that the list begins with. */
export const testsQuery = () => ({ ...listFlowTestsInfiniteOptions({ query: { limit: AT_ONCE } }), ...PAGED })

const SHOWN_RUNS = 50

/** The latest runs of a test. */
export const runsAskedFor = (testId: string) => listRunsOptions({ query: { testId, limit: SHOWN_RUNS } })
