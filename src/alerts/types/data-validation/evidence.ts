import { violationSql } from '../../../conditions/sql.ts'
import type { Binder } from '../../../warehouse/query.ts'
import type { Alert } from '../../alert.ts'
import { type Evidence, type Incident, NO_BOUNDS, type Tests } from '../evidence.ts'
import { confirmedBy, filteredSql, scopeOfIssue } from '../scope.ts'

/** The events that broke the rule, as that was decided when they came in. */
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

/** Events that were found good when they came in, and that the rule as it is now would find good. */
function soundSql({ issue, rule, regions }: Incident & { rule: Alert }, binder: Binder) {
  const broke = binder.dialect.has('violations', binder.bind(issue.alertId))
  // Where SQL can't tell exactly it says yes too often, so that whatever it denies is good.
  const breaks = violationSql({ ...rule, filters: [] }, binder, regions)
  return { keys: breaks.keys, wholeParams: breaks.wholeParams, sql: `NOT ${broke} AND NOT ${breaks.sql}` }
}
