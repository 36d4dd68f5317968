import { listDeliveriesInfiniteOptions } from '#client/@tanstack/react-query.gen'
import type { ValuesOf } from '../../address/fields.ts'
import type { Shared } from '../../address/search.ts'
import { PAGED } from '../../api/pages.ts'
import type { DELIVERIES } from './address.ts'

const AT_ONCE = 100

/** The question that the list asks. */
export function deliveriesAskedFor({ status, issueId, project }: ValuesOf<typeof DELIVERIES & Shared>) {
  const query = {
    limit: AT_ONCE,
    ...(status && { status }),
    ...(issueId && { issueId }),
    ...(project && { projectId: project }),
  }
  return { ...listDeliveriesInfiniteOptions({ query }), ...PAGED }
}
