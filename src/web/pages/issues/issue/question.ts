import { getIssueOptions, investigateIssueOptions } from '#client/@tanstack/react-query.gen'
import { preload } from '../../../api/queries.ts'

/** Asks for an issue and its proof, while its page is on its way. */
export function preloadIssue(id: string): void {
  preload(getIssueOptions({ path: { id } }))
  preload(investigateIssueOptions({ path: { id } }))
}
