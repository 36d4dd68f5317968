import { isCostly } from '../../../conditions/condition.ts'
import { violationSql } from '../../../conditions/sql.ts'
import type { Binder } from '../../../warehouse/query.ts'
import type { Alert } from '../../alert.ts'
import { type Evidence, type Incident, NO_BOUNDS, type Tests } from '../evidence.ts'
import { confirmedBy, filteredSql, scopeOfIssue } from '../scope.ts'

/** Shows the events that broke the rule, by the `violations` stored when they arrived. */
export const validationEvidence: Evidence = {
  counted: 'violating events',

  series: (incident) => ({
    by: 'hours',
    over: 'events',
    where: (binder) => violating(incident, binder),
    boundsOf: () => ({ ...NO_BOUNDS, expected: 0 }),
  }),

  violating,

  isGoodAlike: true,

  good: (incident) => ({
    ...confirmedBy(incident),
    where(binder) {
      const { vendors = [] } = incident.rule
      const scope = filteredSql(incident, scopeOfIssue(incident, { vendors, event: null }), binder)
      const sound = soundSql(incident, binder)
      return {
        sql: `${scope.sql} AND ${sound.sql}`,
        keys: [...scope.keys, ...sound.keys],
        wholeParams: scope.wholeParams || sound.wholeParams,
      }
    },
  }),
}

function violating({ issue }: Incident, binder: Binder): Tests {
  const tests = [
    ...binder.among('domainId', issue.domainId === null ? [] : [issue.domainId]),
    'violated',
    binder.dialect.has('violations', binder.bind(issue.alertId)),
  ]
  return { sql: tests.join(' AND ') }
}

/** Returns SQL for events that complied when they arrived, and that comply with the current rule. */
function soundSql({ issue, rule, privacy }: Incident & { rule: Alert }, binder: Binder) {
  const broke = binder.dialect.has('violations', binder.bind(issue.alertId))
  // Whether it complies with a rule that changed since is not asked where that would take seconds.
  if (isCostly(rule)) return { keys: [], wholeParams: false, sql: `NOT ${broke}` }
  // Where SQL is not exact it also matches compliant events, so every event that it does not match complies.
  const breaks = violationSql({ ...rule, filters: [] }, binder, privacy.regions)
  return { keys: breaks.keys, wholeParams: breaks.wholeParams, sql: `NOT ${broke} AND NOT ${breaks.sql}` }
}
