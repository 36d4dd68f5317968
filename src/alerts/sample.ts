import { conditionsOf } from '../conditions/condition.ts'
import { compileMask } from '../conditions/mask.ts'
import type { PhoneRegions } from '../conditions/phone.ts'
import { EVENT_COLUMNS, type StoredEvent } from '../core/event.ts'
import { Binder, type Query } from '../warehouse/query.ts'
import type { Alert } from './alert.ts'
import type { Finding } from './finding.ts'
import { dataOf } from './journey.ts'

/** Asks for the events that `sampleSeq` of these findings names; null when none names one. */
export function samplesQuery(orgId: string, findings: readonly Finding[]): Query | null {
  const binder = new Binder()
  const wanted = findings.filter(({ sampleSeq }) => sampleSeq !== null)
  if (wanted.length === 0) return null
  // Numbers are bound as doubles, and comparing as such would keep the engine from skipping row groups.
  const seqs = [...new Set(wanted.map(({ sampleSeq }) => sampleSeq))].map(
    (seq) => `CAST(${binder.bind(seq)} AS BIGINT)`,
  )
  // The newest violation is the one that was received last, which spares reading the rest of the window.
  const times = wanted.map(({ lastAt, sampleAt = lastAt }) => sampleAt)
  return {
    sql: `SELECT ${Object.keys(EVENT_COLUMNS).join(', ')}, params FROM events WHERE seq IN (${seqs.join(', ')})`,
    params: binder.params,
    keys: [],
    wholeParams: true,
    orgId,
    window: { from: Math.min(...times), to: Math.max(...times) + 1 },
  }
}

/**
 * The alert's findings with their samples, from the answer to `samplesQuery`: as people may see them, with what is
 * personal masked, in what names the trouble too. A finding whose event is no longer there stays without.
 */
export function withSamples(
  alert: Alert,
  findings: readonly Finding[],
  events: readonly StoredEvent[],
  regions: PhoneRegions = [],
): Finding[] {
  const mask = compileMask([...conditionsOf(alert), ...dataOf(alert.journey)], regions)
  const bySeq = new Map(events.map((event) => [event.seq, event]))
  return findings.map((finding) => {
    const event = finding.sampleSeq === null ? undefined : bySeq.get(finding.sampleSeq)
    if (!event) return finding
    const { orgId, violations, ...sample } = mask(event)
    return {
      ...finding,
      // They are those of all events, or for what is missing those of the rule.
      vendor: finding.vendor === event.vendor ? sample.vendor : finding.vendor,
      event: finding.event === event.event ? sample.event : finding.event,
      hosts: [...new Set(finding.hosts.map((host) => mask({ ...event, host }).host ?? host))],
      sample,
    }
  })
}
