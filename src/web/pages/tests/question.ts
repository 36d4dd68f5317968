import { listFlowTestsInfiniteOptions } from '#client/@tanstack/react-query.gen'
import { PAGED } from '../../api/pages.ts'

const AT_ONCE = 50

/** The question that the list begins with. */
export const testsQuery = () => ({ ...listFlowTestsInfiniteOptions({ query: { limit: AT_ONCE } }), ...PAGED })
