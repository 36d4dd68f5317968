import { choice, sortParam, text } from '../../url-state/param-types.ts'

/** Periods of the audit log, until now. */
export const PERIODS = ['all', 'day', 'week', 'month'] as const

/** Search parameters of the audit log. */
export const AUDIT_LOG = {
  sort: sortParam(['at', 'act'], '-at'),
  act: text,
  userId: text,
  period: choice(PERIODS, 'all'),
}
