import { sortParam } from '../../url-state/param-types.ts'

/** Search parameters of the audit log. */
export const AUDIT_LOG = { sort: sortParam(['at', 'act'], '-at') }
