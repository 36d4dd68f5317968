import { groupFindingsOptions, listFindingsInfiniteOptions } from '#client/@tanstack/react-query.gen'
import { FINDING_ACTIONS } from '../../../contract/statuses.ts'
import type { ValuesOf } from '../../url-state/param-types.ts'
import { choice, optional, text } from '../../url-state/param-types.ts'
import type { SharedParams } from '../../url-state/search-params.ts'

/** Properties by which findings are grouped. */
export const GROUPINGS = ['vendor', 'page', 'kind'] as const
export type Grouping = (typeof GROUPINGS)[number]

/** Search parameters of the findings. */
export const COMPLIANCE = {
  q: text,
  domainId: text,
  vendor: text,
  kind: text,
  page: text,
  action: optional(FINDING_ACTIONS),
  by: choice(GROUPINGS, 'vendor'),
}

/** Search parameters of the page Before consent; `show` includes vendors with requests after acceptance only. */
export const BEFORE_CONSENT = { domainId: text, show: optional(['all']) }

/** Findings per page of a group. */
export const FINDINGS_PAGE_SIZE = 50

export type FindingsParams = ValuesOf<typeof COMPLIANCE> & Pick<ValuesOf<SharedParams>, 'project'>

const filterOf = ({ q, domainId, vendor, kind, page, action, project }: FindingsParams) => ({
  ...(q && { q }),
  ...(domainId && { domainId }),
  ...(vendor && { vendor }),
  ...(kind && { kind }),
  ...(page && { page }),
  ...(action && { action }),
  ...(project && { projectId: project }),
})

/** The query of the groups of findings that match. */
export const groupsQuery = (params: FindingsParams) =>
  groupFindingsOptions({ query: { by: params.by, ...filterOf(params) } })

/** The query of the vendors or kinds of all findings of a project, the options of a filter. */
export const optionsQuery = (by: Grouping, project: string) =>
  groupFindingsOptions({ query: { by, ...(project && { projectId: project }) } })

/** Groups are open at first as long as they have at most this many findings together. The first one is always open. */
const OPEN_UP_TO = 60

/** Returns the groups that are open at first. */
export function openAtFirst<Counted extends { findings: number }>(groups: readonly Counted[]): Counted[] {
  let before = 0
  return groups.filter(({ findings }) => {
    const isOpen = before === 0 || before + findings <= OPEN_UP_TO
    before += findings
    return isOpen
  })
}

/** The query of the findings in a group. */
export const findingsQuery = (params: FindingsParams, group: string) =>
  listFindingsInfiniteOptions({ query: { limit: FINDINGS_PAGE_SIZE, ...filterOf(params), [params.by]: group } })
