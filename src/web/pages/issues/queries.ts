import { listIssuesInfiniteOptions } from '#client/@tanstack/react-query.gen'
import { PAGE_SIZE } from '../../api/pagination.ts'
import { displayNames } from '../../messages/display-names.ts'
import type { ValuesOf } from '../../url-state/param-types.ts'
import { multiple, nameList, sortParam, text } from '../../url-state/param-types.ts'
import type { SharedParams } from '../../url-state/search-params.ts'

const namesOf = <T extends string>(of: Readonly<Record<T, unknown>>) => Object.keys(of) as T[]

/** Sort orders of the list. */
export const SORTS = ['severity', 'lastSeenAt', 'firstSeenAt', 'impactValue', 'occurrences', 'status', 'title'] as const

/** Search parameters of the list of issues. */
export const ISSUES = {
  q: text,
  status: multiple(namesOf(displayNames.statuses), ['open', 'acknowledged']),
  severity: multiple(namesOf(displayNames.severities), []),
  domainId: nameList,
  alertType: multiple(namesOf(displayNames.alertTypes), []),
  alertId: nameList,
  assigneeId: nameList,
  sort: sortParam(SORTS, 'severity'),
}

/** The API rejects empty lists, so an empty filter is omitted. */
const nonEmpty = <T>(values: readonly T[]): T[] | undefined => (values.length === 0 ? undefined : [...values])

type IssuesParams = ValuesOf<typeof ISSUES> & Pick<ValuesOf<SharedParams>, 'project'>

/** The query of the list of issues. */
export function issuesQuery({
  q,
  status,
  severity,
  domainId,
  alertType,
  alertId,
  assigneeId,
  sort,
  project,
}: IssuesParams) {
  return listIssuesInfiniteOptions({
    query: {
      ...(q && { q }),
      ...(project && { projectId: project }),
      status: nonEmpty(status),
      severity: nonEmpty(severity),
      alertType: nonEmpty(alertType),
      domainId: nonEmpty(domainId),
      alertId: nonEmpty(alertId),
      assigneeId: nonEmpty(assigneeId),
      sort,
      limit: PAGE_SIZE,
    },
  })
}
