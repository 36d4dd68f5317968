import { listDomainsInfiniteOptions } from '#client/@tanstack/react-query.gen'
import type { ValuesOf } from '../../address/fields.ts'
import type { Shared } from '../../address/search.ts'
import { PAGED } from '../../api/pages.ts'
import type { DOMAINS } from './address.ts'

const AT_ONCE = 100

/** The query of the list of domains. */
export const domainsAskedFor = ({ q, project }: ValuesOf<typeof DOMAINS> & Pick<ValuesOf<Shared>, 'project'>) => ({
  ...listDomainsInfiniteOptions({
    query: { limit: AT_ONCE, ...(q && { q }), ...(project && { projectId: project }) },
  }),
  ...PAGED,
})
