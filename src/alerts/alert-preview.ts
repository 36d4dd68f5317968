import { resolveLabels } from '../conditions/label-conditions.ts'
import { MAX_HOURS } from '../contract/limits.ts'
import { HOUR_MS, type Instant } from '../core/clock.ts'
import type { StoredEvent } from '../core/event.ts'
import { Closed, Int, type Static, Type } from '../core/schema.ts'
import { noMembers } from '../labels/label.ts'
import type { Alert } from './alert.ts'
import { RawAlertInputSchema } from './alert-input.ts'
import { parsePeriod } from './alert-period.ts'
import { lastWindow, wholeWindows } from './alert-windows.ts'
import type { EventPosition } from './find-events.ts'
import type { Finding, Window } from './finding.ts'
import { samplesQuery, withSamples } from './finding-samples.ts'
import { eventsInScope, type HistoryDeps, judgeHistory } from './judge-past-events.ts'
import { describeByType } from './types/describe-alert-types.ts'
import { alertTypeOf } from './types/index.ts'

/** Maximum number of samples in the response. */
const MAX_SAMPLES = 20

export const AlertPreviewInputSchema = Closed(
  {
    rule: RawAlertInputSchema,
    hours: Type.Optional(Int({ minimum: 1, maximum: MAX_HOURS.preview, default: 24 })),
  },
  { $id: 'AlertPreviewInput' },
)

export const AlertPreviewSchema = Closed(
  {
    scanned: Int({ description: "Number of events with the rule's domains, vendors and event, weighted for sampling" }),
    matched: Int({ description: describeByType(({ messages }) => messages.unit.meaning) }),
    windowHours: Type.Number(),
    samples: Type.Array(Type.Record(Type.String(), Type.Unknown()), {
      maxItems: MAX_SAMPLES,
      description:
        'Violating events or, for volume types, the windows that would have fired; newest first, with personal data masked',
    }),
  },
  {
    $id: 'AlertPreview',
    examples: [{ scanned: 5200, matched: 12, windowHours: 24, samples: [{ vendor: 'Meta Pixel', event: 'Purchase' }] }],
  },
)
export type AlertPreview = Static<typeof AlertPreviewSchema>

/**
 * Returns the rule's findings in the last `hours` hours. Types that evaluate counts use their own windows that have
 * ended, including at least the last one. Other types evaluate all hours as one window.
 */
export async function preview(saved: Alert, hours: number, now: Instant, parts: HistoryDeps): Promise<AlertPreview> {
  const alert = resolveLabels(saved, parts.membersOf ?? noMembers)
  const { countsFirings } = alertTypeOf(alert.alertType).messages
  const windows = countsFirings ? endedWindows(alert, hours, now) : [lastHours(hours, now)]
  const window = { from: windows[0]?.from ?? now, to: windows.at(-1)?.to ?? now }
  const [{ weight }, { findings }] = await Promise.all([
    eventsInScope(alert, window, parts.warehouse),
    judgeHistory(alert, windows, parts),
  ])
  const found = findings.flat()
  const matched = countsFirings ? found.length : found.reduce((sum, { occurrences }) => sum + occurrences, 0)
  const samples = countsFirings ? firingsOf(found) : await eventsOf(alert, found, window, parts)
  // Both numbers are weighted: a sampled event counts as several events.
  return { scanned: Math.round(weight), matched, windowHours: hours, samples }
}

/** Includes the current millisecond, so that events accepted just now are found. */
const lastHours = (hours: number, now: Instant): Window => ({
  from: now - hours * HOUR_MS,
  to: now + 1,
  complete: true,
})

function endedWindows({ period: text, timezone }: Alert, hours: number, now: Instant): Window[] {
  const period = parsePeriod(text)
  const windows = wholeWindows(period, timezone, now - hours * HOUR_MS, now)
  return windows.length > 0 ? windows : [lastWindow(period, timezone, now)]
}

function firingsOf(found: readonly Finding[]): Record<string, unknown>[] {
  return found
    .toReversed()
    .slice(0, MAX_SAMPLES)
    .map(({ domainId, vendor, event, summary, observed, expected, firstAt, lastAt }) => {
      return { domainId, vendor, event, summary, observed, expected, from: firstAt, to: lastAt + 1 }
    })
}

/** Returns the newest violations if the type can query them, otherwise the samples of its findings. */
async function eventsOf(
  alert: Alert,
  found: readonly Finding[],
  window: { from: Instant; to: Instant },
  { warehouse, privacy }: HistoryDeps,
): Promise<Record<string, unknown>[]> {
  const seqs = await newestOf(alert, found, window, { warehouse, privacy })
  const query = samplesQuery(alert.orgId, seqs)
  const events = query ? await warehouse.query<StoredEvent>(query) : []
  return withSamples(alert, seqs, events, privacy).flatMap(({ sample }) => (sample ? [sample] : []))
}

async function newestOf(
  alert: Alert,
  found: readonly Finding[],
  window: { from: Instant; to: Instant },
  { warehouse, privacy }: Pick<HistoryDeps, 'warehouse' | 'privacy'>,
): Promise<Finding[]> {
  const type = alertTypeOf(alert.alertType)
  const [finding] = found
  if (type.evaluated !== 'on arrival' || !finding) return found.slice(0, MAX_SAMPLES)
  const newest = type.newestViolations(alert, window, { regions: privacy.regions, limit: MAX_SAMPLES })
  const events = await warehouse.query<EventPosition>(newest)
  return events.map(({ seq, receivedAt }) => ({ ...finding, sampleSeq: seq, sampleAt: receivedAt }))
}
