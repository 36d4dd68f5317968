import { HOUR_MS, type Instant } from '../core/clock.ts'
import type { SegmentContent, SegmentCount, VendorSighting } from '../ingest/segment-count.ts'

/** What one file of events holds, as `surveyOf` asks for it. */
export interface SurveyRow {
  orgId: string
  domainId: string
  host: string | null
  vendor: string
  hour: Instant
  events: number
  firstReceivedAt: Instant
  lastReceivedAt: Instant
  maxSeq: number
  /** What a production event said last of its version, and that event's `seq`; null when none did. */
  lastVersion: number | null
  versionSeq: number | null
}

/** Everything that is asked of a new file, in one look at it. */
export function surveyOf(events: string): string {
  return `SELECT orgId, domainId, host, vendor, receivedAt // ${HOUR_MS} * ${HOUR_MS} AS hour, count(*) AS events,
      min(receivedAt) AS firstReceivedAt, max(receivedAt) AS lastReceivedAt, max(seq) AS maxSeq,
      arg_max(version, seq) FILTER (env = 'prod') AS lastVersion,
      max(seq) FILTER (env = 'prod' AND version IS NOT NULL) AS versionSeq
    FROM ${events} GROUP BY ALL`
}

/** The rows of a survey, without vendors and by vendor. */
export function contentOf(rows: readonly SurveyRow[]): SegmentContent {
  const counts = new Map<string, SegmentCount & { versionSeq: number }>()
  const vendors = new Map<string, VendorSighting>()
  for (const { orgId, domainId, host, vendor, hour, events, lastReceivedAt, lastVersion, versionSeq } of rows) {
    const sighting = entryOf(vendors, [domainId, vendor], () => ({ domainId, vendor, lastReceivedAt }))
    sighting.lastReceivedAt = Math.max(sighting.lastReceivedAt, lastReceivedAt)
    const nothing = { events: 0, lastReceivedAt, lastVersion: null, versionSeq: 0 }
    const count = entryOf(counts, [orgId, domainId, host, hour], () => ({ orgId, domainId, host, hour, ...nothing }))
    count.events += events
    count.lastReceivedAt = Math.max(count.lastReceivedAt, lastReceivedAt)
    if ((versionSeq ?? 0) > count.versionSeq) Object.assign(count, { lastVersion, versionSeq })
  }
  const inOrder = [...counts.values()].sort((a, b) => a.versionSeq - b.versionSeq)
  return { counts: inOrder.map(({ versionSeq, ...count }) => count), vendors: [...vendors.values()] }
}

/** From when to when, up to which `seq`, and whose: null when of several organizations. */
export function spanOf(rows: readonly SurveyRow[]) {
  const [first] = rows
  if (!first) throw new Error('a file without events has no span')
  let [minReceivedAt, maxReceivedAt, maxSeq] = [first.firstReceivedAt, first.lastReceivedAt, first.maxSeq]
  for (const row of rows) {
    minReceivedAt = Math.min(minReceivedAt, row.firstReceivedAt)
    maxReceivedAt = Math.max(maxReceivedAt, row.lastReceivedAt)
    maxSeq = Math.max(maxSeq, row.maxSeq)
  }
  const orgId = rows.every((row) => row.orgId === first.orgId) ? first.orgId : null
  return { orgId, minReceivedAt, maxReceivedAt, maxSeq }
}

function entryOf<T>(map: Map<string, T>, name: readonly unknown[], make: () => T): T {
  const key = JSON.stringify(name)
  const known = map.get(key)
  if (known) return known
  const made = make()
  map.set(key, made)
  return made
}
