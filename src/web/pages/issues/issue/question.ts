import { getIssueOptions, investigateIssueOptions } from '#client/@tanstack/react-query.gen'
import { prefetch } from '../../../api/queries.ts'

/** Asks for an issue and its proof, while its page is on its way. */
export function preloadIssue(id: string): void {
  prefetch(getIssueOptions({ path: { id } }))
  prefetch(investigateIssueOptions({ path: { id } }))
}
