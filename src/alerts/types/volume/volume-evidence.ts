import type { Binder } from '../../../warehouse/query.ts'
import type { Alert } from '../../alert.ts'
import type { Finding } from '../../finding.ts'
import { exactFilter, filteredSql, type NamedEvents, scopeOfIssue, scopeTests } from '../event-scope.ts'
import type { CountedSeries, Evidence, EvidenceContext } from '../evidence.ts'
import { countedEventOf, volumeSource } from './volume-count.ts'

/** `AlertType.judges` for types that count events. */
export const JUDGES_COUNTS = 'counts, by `volume`'
/** `Evidence.seriesDescription` for types that evaluate each window separately. */
export const EVENTS_PER_WINDOW = 'events in scope, per window of the alert'

type ContextWithRule = EvidenceContext & { rule: Alert }

/** Returns the selection of events that an alert of this kind counts. */
export const volumeScope = (alert: Alert): NamedEvents => ({
  vendors: alert.vendors ?? [],
  event: countedEventOf(alert),
})

/**
 * Shows the counts in the alert's windows. `scope`: the scope of the alert type; `limits`: the bounds of each window.
 */
export function volumeEvidence(
  counted: string,
  scope: (alert: Alert, finding: Finding | null) => NamedEvents,
  limits: (alert: Alert) => Pick<CountedSeries, 'boundsOf' | 'isRelative'>,
): Evidence {
  const scopeIn = (incident: ContextWithRule) => scopeOfIssue(incident, scope(incident.rule, incident.issue.evidence))
  // Selects the same events that alerts count.
  const filtered = (incident: ContextWithRule, binder: Binder) =>
    filteredSql(incident, scopeIn(incident), binder, [`kind <> 'library'`])
  return {
    seriesDescription: counted,

    series({ rule, ...others }) {
      if (rule === null) return null
      const incident = { rule, ...others }
      const series = { by: 'windows', ...limits(rule) } as const
      if (volumeSource(rule) === 'events') {
        return { ...series, over: 'events', where: (binder) => filtered(incident, binder) }
      }
      const where = (binder: Binder) => ({
        sql: ['true', ...scopeTests(scopeIn(incident), binder)].join(' AND '),
      })
      return { ...series, over: 'counts', where }
    },

    inScope: filtered,

    validMatchesViolating: true,

    valid: (incident) => ({ where: (binder) => filtered(incident, binder), ...exactFilter(incident) }),
  }
}
