import { listConsentFindingsInfiniteOptions, listPersonalDataInfiniteOptions } from '#client/@tanstack/react-query.gen'
import { FINDING_ACTIONS } from '../../../contract/statuses.ts'
import type { ValuesOf } from '../../url-state/param-types.ts'
import { optional, text } from '../../url-state/param-types.ts'
import type { SharedParams } from '../../url-state/search-params.ts'

/** Search parameters of the findings. */
export const COMPLIANCE = {
  domainId: text,
  vendor: text,
  action: optional(FINDING_ACTIONS),
}

/** Page size; the page has two lists. */
export const FINDINGS_PAGE_SIZE = 50

type FindingsParams = ValuesOf<typeof COMPLIANCE> & Pick<ValuesOf<SharedParams>, 'project'>

/** The queries of both lists of findings. */
export function findingsQueries({ domainId, vendor, action, project }: FindingsParams) {
  const query = {
    limit: FINDINGS_PAGE_SIZE,
    ...(domainId && { domainId }),
    ...(vendor && { vendor }),
    ...(action && { action }),
    ...(project && { projectId: project }),
  }
  return {
    personal: listPersonalDataInfiniteOptions({ query }),
    consent: listConsentFindingsInfiniteOptions({ query }),
  }
}
