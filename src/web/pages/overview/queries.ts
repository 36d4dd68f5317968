import {
  getOrgValueOptions,
  getScoresOptions,
  listAlertsOptions,
  listCausesOptions,
  listChangesOptions,
  listDomainsOptions,
  listIssuesOptions,
  listSignalsOptions,
} from '#client/@tanstack/react-query.gen'
import { STALE_MS } from '../../api/queries.ts'
import { FIRST_PARAMS } from './preload-urls.ts'

const SHOWN_CHANGES = 5

const within = (projectId: string) => (projectId ? { projectId } : {})

/** The queries of the cards. They are sent together; each card renders when its own response arrives. */
export const overviewQueries = {
  issues: (project: string) => listIssuesOptions({ query: { ...FIRST_PARAMS.issues, ...within(project) } }),
  domains: (project: string) => listDomainsOptions({ query: { ...FIRST_PARAMS.domains, ...within(project) } }),
  signals: (project: string) => listSignalsOptions({ query: { ...FIRST_PARAMS.signals, ...within(project) } }),
  causes: (project: string) => ({ ...listCausesOptions({ query: within(project) }), staleTime: STALE_MS.list }),
  scores: (project: string) => ({ ...getScoresOptions({ query: within(project) }), staleTime: STALE_MS.insight }),
  changes: (project: string) => listChangesOptions({ query: { limit: SHOWN_CHANGES, ...within(project) } }),
  value: () => ({ ...getOrgValueOptions(), staleTime: STALE_MS.insight }),
  alerts: () => listAlertsOptions({ query: { limit: 1 } }),
}
