import { conditionsOf } from '../conditions/condition.ts'
import { compileMask } from '../conditions/mask.ts'
import type { PhoneRegions } from '../conditions/phone.ts'
import type { StoredEvent } from '../core/event.ts'
import type { Query } from '../warehouse/query.ts'
import type { Alert } from './alert.ts'
import { eventsQuery } from './events-at.ts'
import type { Finding } from './finding.ts'
import type { TotalRow } from './totals.ts'
import { alertTypeOf } from './types/index.ts'

/** Asks for the events that `sampleSeq` of these findings names; null when none names one. */
export function samplesQuery(orgId: string, findings: readonly Finding[]): Query | null {
  // The newest violation is the one that was received last.
  const places = findings.flatMap(({ sampleSeq, lastAt, sampleAt = lastAt }) =>
    sampleSeq === null ? [] : [{ seq: sampleSeq, receivedAt: sampleAt }],
  )
  return places.length === 0 ? null : eventsQuery(orgId, places)
}

/** Hides what is personal in an event: by itself, and by what any condition of the alert calls so. */
export function maskOf(alert: Alert, regions: PhoneRegions): ReturnType<typeof compileMask> {
  const own = alertTypeOf(alert.alertType).ownConditions?.(alert) ?? []
  return compileMask([...conditionsOf(alert), ...own], regions)
}

/**
 * The alert's findings with their samples, from the answer to `samplesQuery`, and with what their type makes of these and
 * of the answer to `totalsQuery`: as people may see them, with what is
 * personal masked, in what names the trouble too. A finding whose event is no longer there stays without.
 */
export function withSamples(
  alert: Alert,
  findings: readonly Finding[],
  events: readonly StoredEvent[],
  regions: PhoneRegions = [],
  totals: readonly TotalRow[] = [],
): Finding[] {
  const { explain } = alertTypeOf(alert.alertType)
  const mask = maskOf(alert, regions)
  const bySeq = new Map(events.map((event) => [event.seq, event]))
  return findings.map((finding) => {
    const event = (finding.sampleSeq === null ? null : bySeq.get(finding.sampleSeq)) ?? null
    const masked = event && mask(event)
    const name = event && masked && finding.event === event.event ? masked.event : finding.event
    const known = explain ? explain(alert, finding, { event, name, totals, regions }) : finding
    if (!event || !masked) return known
    const { orgId, violations, ...sample } = masked
    return {
      ...known,
      // They are those of all events, or for what is missing those of the rule.
      vendor: finding.vendor === event.vendor ? sample.vendor : finding.vendor,
      event: name,
      hosts: [...new Set(finding.hosts.map((host) => mask({ ...event, host }).host ?? host))],
      sample,
    }
  })
}
