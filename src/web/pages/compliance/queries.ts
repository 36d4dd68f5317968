import { listConsentFindingsInfiniteOptions, listPersonalDataInfiniteOptions } from '#client/@tanstack/react-query.gen'
import type { ValuesOf } from '../../address/fields.ts'
import { optional, text } from '../../address/fields.ts'
import type { Shared } from '../../address/search.ts'
import { PAGED } from '../../api/pages.ts'

/** Search parameters of the findings. */
export const COMPLIANCE = {
  domainId: text,
  vendor: text,
  action: optional(['watch', 'file', 'ignore']),
}

/** Page size; the page has two lists. */
export const FINDINGS_PAGE_SIZE = 50

type FindingsParams = ValuesOf<typeof COMPLIANCE> & Pick<ValuesOf<Shared>, 'project'>

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
    personal: { ...listPersonalDataInfiniteOptions({ query }), ...PAGED },
    consent: { ...listConsentFindingsInfiniteOptions({ query }), ...PAGED },
  }
}
