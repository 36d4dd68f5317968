import { conditionsOf } from '../conditions/condition.ts'
import { compileMask } from '../conditions/mask-personal-data.ts'
import { PLAIN_PRIVACY, type Privacy } from '../conditions/privacy-settings.ts'
import type { StoredEvent } from '../core/event.ts'
import type { Query } from '../warehouse/query.ts'
import type { Alert } from './alert.ts'
import type { TotalRow } from './event-totals.ts'
import { eventsQuery } from './find-events.ts'
import type { Finding } from './finding.ts'
import { alertTypeOf } from './types/index.ts'

/** Returns the query for the sample events (`sampleSeq`) of these findings; null when there are none. */
export function samplesQuery(orgId: string, findings: readonly Finding[]): Query | null {
  // The newest violation is the most recently received one.
  const places = findings.flatMap(({ sampleSeq, lastAt, sampleAt = lastAt }) =>
    sampleSeq === null ? [] : [{ seq: sampleSeq, receivedAt: sampleAt }],
  )
  return places.length === 0 ? null : eventsQuery(orgId, places)
}

/**
 * Returns a function that masks personal data in an event: data recognised as personal, and parameters that a condition
 * of the alert tests for personal data.
 */
export function maskOf(alert: Alert, privacy: Privacy): ReturnType<typeof compileMask> {
  const own = alertTypeOf(alert.alertType).ownConditions(alert)
  return compileMask([...conditionsOf(alert), ...own], privacy)
}

/**
 * Returns the alert's findings with samples from the result of `samplesQuery`. The alert type explains each finding
 * based on its sample and the result of `totalsQuery`. Personal data is masked, including in vendors, event names and
 * hosts. A sample is null when its event no longer exists.
 */
export function withSamples(
  alert: Alert,
  findings: readonly Finding[],
  events: readonly StoredEvent[],
  privacy: Privacy = PLAIN_PRIVACY,
  totals: readonly TotalRow[] = [],
): Finding[] {
  const type = alertTypeOf(alert.alertType)
  const { regions } = privacy
  const mask = maskOf(alert, privacy)
  const bySeq = new Map(events.map((event) => [event.seq, event]))
  return findings.map((finding) => {
    const event = (finding.sampleSeq === null ? null : bySeq.get(finding.sampleSeq)) ?? null
    const masked = event && mask(event)
    const name = event && masked && finding.event === event.event ? masked.event : finding.event
    const known =
      type.evaluated === 'on arrival' ? type.explain(alert, finding, { event, name, totals, regions }) : finding
    if (!event || !masked) return known
    const { orgId, violations, ...sample } = masked
    return {
      ...known,
      // When the finding has the sample's vendor or event, uses the masked name.
      vendor: finding.vendor === event.vendor ? sample.vendor : finding.vendor,
      event: name,
      hosts: [...new Set(finding.hosts.map((host) => mask({ ...event, host }).host ?? host))],
      sample,
    }
  })
}
