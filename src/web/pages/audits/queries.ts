import { sortParam } from '../../url-state/param-types.ts'

/** Search parameters of the list of audits. */
export const AUDITS = {
  sort: sortParam(['createdAt', 'name', 'status', 'pagesTotal', 'missing', 'beforeConsent'], '-createdAt'),
}
