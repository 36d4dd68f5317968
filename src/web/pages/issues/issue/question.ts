import { getIssueOptions, investigateIssueOptions } from '#client/@tanstack/react-query.gen'
import { prefetch } from '../../../api/queries.ts'

/** Prefetches an issue and its evidence. */
export function preloadIssue(id: string): void {
  prefetch(getIssueOptions({ path: { id } }))
  prefetch(investigateIssueOptions({ path: { id } }))
}
