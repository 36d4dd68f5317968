import { listIssuesInfiniteOptions } from '#client/@tanstack/react-query.gen'
import type { ValuesOf } from '../../address/fields.ts'
import type { Shared } from '../../address/search.ts'
import { PAGED } from '../../api/pages.ts'
import type { ISSUES } from './address.ts'

const PAGE = 100

/** The API accepts no empty list, so an empty filter is omitted. */
const any = <T>(values: readonly T[]): T[] | undefined => (values.length === 0 ? undefined : [...values])

/** The query of the list of issues. */
export function issuesAskedFor({ q, status, severity, domainId, alertType, alertId, sort, project }: Asked) {
  return {
    ...listIssuesInfiniteOptions({
      query: {
        ...(q && { q }),
        ...(project && { projectId: project }),
        ...{ status: any(status), severity: any(severity), alertType: any(alertType) },
        ...{ domainId: any(domainId), alertId: any(alertId) },
        ...{ sort, limit: PAGE },
      },
    }),
    ...PAGED,
  }
}

type Asked = ValuesOf<typeof ISSUES> & Pick<ValuesOf<Shared>, 'project'>
