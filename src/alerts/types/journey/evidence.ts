import { filtersSql } from '../../../conditions/sql.ts'
import type { Binder } from '../../../warehouse/query.ts'
import type { Alert } from '../../alert.ts'
import type { Evidence, Incident, Tests } from '../evidence.ts'
import { scopeOfIssue, scopeTests } from '../scope.ts'
import { type JourneySpec, readSpec } from './spec.ts'

/** What a journey expects of one event, in either form. */
type Expectation = Extract<JourneySpec, { version: 2 }>['steps'][number]['expect'][number]

/** Which sessions went wrong is not in the events; how many, the issue knows. */
export const journeyEvidence: Evidence = {
  counted: 'sessions that did not go as expected',

  series: () => 'occurrences',

  isGoodAlike: false,

  good: (incident) => ({
    where: (binder) => metSql(incident, binder),
  }),
}

/** Events as the sessions of the last firing should have shown one. None are where these missed several things. */
function metSql(incident: Incident & { rule: Alert }, binder: Binder): Tests {
  const { vendor = null, event = null } = incident.issue.evidence ?? {}
  const missed = expectationsOf(readSpec(incident.rule.journey)).filter(
    (one) => !one.label && (one.vendor || null) === vendor && (one.event || null) === event,
  )
  const data = missed.map((one) => filtersSql(one.data ?? [], binder))
  const scope = scopeOfIssue(incident, { vendors: vendor === null ? [] : [vendor], event })
  return {
    sql: [...scopeTests(scope, binder), `(${['false', ...data.map(({ sql }) => sql)].join(' OR ')})`].join(' AND '),
    keys: data.flatMap(({ keys }) => keys),
    wholeParams: data.some(({ wholeParams }) => wholeParams),
  }
}

function expectationsOf(spec: JourneySpec): readonly Expectation[] {
  return 'version' in spec ? spec.steps.flatMap(({ expect }) => expect) : spec.steps
}
