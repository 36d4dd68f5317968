import { listConsentFindingsInfiniteOptions, listPersonalDataInfiniteOptions } from '#client/@tanstack/react-query.gen'
import type { ValuesOf } from '../../address/fields.ts'
import type { Shared } from '../../address/search.ts'
import { PAGED } from '../../api/pages.ts'
import type { COMPLIANCE } from './address.ts'

/** Two lists share the page. */
export const FINDINGS_AT_ONCE = 50

type Asked = ValuesOf<typeof COMPLIANCE> & Pick<ValuesOf<Shared>, 'project'>

/** Both lists of findings that an address asks for, in pages. */
export function findingsAskedFor({ domainId, vendor, action, project }: Asked) {
  const query = {
    limit: FINDINGS_AT_ONCE,
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
