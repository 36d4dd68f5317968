import { labelsRead } from '../../../conditions/label.ts'
import { filtersSql } from '../../../conditions/sql.ts'
import { noMembers } from '../../../labels/label.ts'
import type { Binder } from '../../../warehouse/query.ts'
import type { Alert } from '../../alert.ts'
import type { Evidence, Incident, Tests } from '../evidence.ts'
import { scopeOfIssue, scopeTests } from '../scope.ts'
import { type JourneySpec, readSpec } from './spec.ts'

/** One expected event of a journey, in either form. */
type Expectation = Extract<JourneySpec, { version: 2 }>['steps'][number]['expect'][number]

/** The series is the issue's own occurrences, because the events do not show which sessions failed. */
export const journeyEvidence: Evidence = {
  counted: 'sessions that did not go as expected',

  series: () => 'occurrences',

  isGoodAlike: false,

  good: (incident) => ({
    where: (binder) => metSql(incident, binder),
  }),
}

/**
 * Returns a filter for events that the sessions of the last firing should have had. It matches none when these missed
 * several expectations.
 */
function metSql(incident: Incident & { rule: Alert }, binder: Binder): Tests {
  const { vendor = null, event = null } = incident.issue.evidence ?? {}
  const { membersOf = noMembers } = incident
  const missed = expectationsOf(readSpec(incident.rule.journey)).filter(
    (one) => !one.label && (one.vendor || null) === vendor && (one.event || null) === event,
  )
  const data = missed.map((one) => filtersSql(labelsRead(one.data ?? [], membersOf), binder))
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
