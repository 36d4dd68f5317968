import { listDomainsInfiniteOptions } from '#client/@tanstack/react-query.gen'
import type { ValuesOf } from '../../address/fields.ts'
import { text } from '../../address/fields.ts'
import type { Shared } from '../../address/search.ts'
import { PAGED } from '../../api/pages.ts'

/** Search parameters of the list of domains. */
export const DOMAINS = { q: text }

const PAGE_SIZE = 100

/** The query of the list of domains. */
export const domainsQuery = ({ q, project }: ValuesOf<typeof DOMAINS> & Pick<ValuesOf<Shared>, 'project'>) => ({
  ...listDomainsInfiniteOptions({
    query: { limit: PAGE_SIZE, ...(q && { q }), ...(project && { projectId: project }) },
  }),
  ...PAGED,
})
