import { SENSITIVITY } from '../../../contract/limits.ts'
import { DAY_MS } from '../../../core/clock.ts'
import { AppError } from '../../../core/error.ts'
import { momentText, periodText } from '../../../core/moment-text.ts'
import { Closed, parser, Type } from '../../../core/schema.ts'
import { countText, eventsText } from '../../../core/text.ts'
import { ALL_SIGNALS, type SeriesScope, SIGNAL_STEP_MS, stepMsFor } from '../../../signals/series.ts'
import type { VerdictRow } from '../../../signals/verdict-row.ts'
import type { Alert, AlertInput } from '../../alert.ts'
import { type Period, parsePeriod, windowAt } from '../../alert-period.ts'
import { type Finding, signalOf } from '../../finding.ts'
import type { SeriesType } from '../alert-type.ts'
import type { NamedEvents } from '../event-scope.ts'
import { NO_BOUNDS } from '../evidence.ts'
import { CountedEventSchema, rejectForVolume, volumeConfiguration, volumeMessages, watchedOf } from './volume-count.ts'
import { JUDGES_COUNTS, volumeEvidence } from './volume-evidence.ts'

/** In deviations, for alerts without a sensitivity. */
const DEFAULT_SENSITIVITY = 4

const AnomalySchema = Closed(
  {
    vendor: Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'Vendor whose events are monitored. `*`: each event of each vendor separately',
      examples: ['Google Analytics 4', '*'],
    }),
    event: CountedEventSchema,
    sensitivity: Type.Optional(
      Type.Number({
        minimum: SENSITIVITY.min,
        maximum: SENSITIVITY.max,
        default: 4,
        'x-unit': 'deviations',
        description: 'Robust standard deviations from the expected count: 2 is the most sensitive, 8 the least',
        examples: [5],
      }),
    ),
  },
  {
    description: 'For `volume_anomaly`: the count is compared with the range expected from its own history',
    examples: [{ vendor: 'Google Analytics 4', event: 'page_view', sensitivity: 5 }],
  },
)

const readAnomaly = parser(AnomalySchema)

/** Returns the configuration of an alert that monitors every signal of its domains. */
export function allSignals(sensitivity: number): Pick<AlertInput, 'alertType' | 'period'> & { volume: object } {
  return { alertType: volumeAnomaly.kind, volume: { vendor: ALL_SIGNALS, sensitivity }, period: '1h' }
}

/** True for an alert that monitors all signals of its domains. */
export const isOnAllSignals = ({ alertType, volume }: AlertInput): boolean =>
  alertType === volumeAnomaly.kind && readAnomaly(volume, 'volume').vendor === ALL_SIGNALS

/** Returns the sensitivity of an alert of this type. */
export function sensitivityOf({ volume }: AlertInput): number {
  return readAnomaly(volume, 'volume').sensitivity ?? DEFAULT_SENSITIVITY
}

function scopeOf({ volume }: Alert, finding?: Pick<Finding, 'vendor' | 'event'> | null): NamedEvents {
  const { vendor, event } = readAnomaly(volume, 'volume')
  if (vendor !== ALL_SIGNALS) return { vendors: [vendor], event: event || null }
  const signal = signalOf(finding ?? null)
  return { vendors: signal.vendor === null ? [] : [signal.vendor], event: signal.event }
}

/**
 * Fires when a count deviates from its baseline. One alert monitors a vendor's total events in a domain, one event name
 * of the vendor, or (`*`) each signal: any event name with enough traffic. When all traffic of a domain drops, there is
 * one finding for the domain, which explains the drops of its signals.
 */
export const volumeAnomaly: SeriesType<VerdictRow> = {
  kind: 'volume_anomaly',
  evaluated: 'along a series',
  form: {
    title: 'Volume anomaly',
    judges: JUDGES_COUNTS,
    guide: {
      fires: 'when a count leaves the range expected from its own history, or events stop',
      needs: '`volume`: `{"vendor": "Meta Pixel"}`',
    },
    notes: { vendors: 'Not used by `volume_anomaly`' },
    configuration: volumeConfiguration(AnomalySchema),
    example: {
      name: 'Unusual number of page views',
      domainId: 'dom_01ke7jm2q0d3k8f1z6y5b7n4ta',
      alertType: 'volume_anomaly',
      severity: 'critical',
      volume: { vendor: 'Google Analytics 4', event: 'page_view', sensitivity: 5 },
      period: '1h',
      channels: [{ type: 'email', target: 'ann@example.com' }],
    },

    check(input) {
      rejectForVolume(input)
      const { vendor, event } = readAnomaly(input.volume, 'volume')
      rejectScope(input, vendor)
      if (vendor !== ALL_SIGNALS) return
      if (event) throw new AppError('invalid', 'volume.event: not allowed with vendor *, which covers every event')
      if (parsePeriod(input.period).lengthMs % SIGNAL_STEP_MS !== 0) {
        throw new AppError(
          'invalid',
          'period: must be whole hours, days or weeks, because vendor * is evaluated hourly',
        )
      }
    },
  },

  messages: { ...volumeMessages, explainsDrops: true },
  evidence: volumeEvidence('events in scope, per evaluated interval', scopeOf, () => ({ boundsOf: () => NO_BOUNDS })),

  ownConditions: () => [],
  scope: scopeOf,
  sensitivityOf,

  series(alert, domains) {
    const { vendor, event } = readAnomaly(alert.volume, 'volume')
    const period = parsePeriod(alert.period)
    const { orgId, timezone } = alert
    const stepMs = vendor === ALL_SIGNALS ? SIGNAL_STEP_MS : stepMsFor(period.lengthMs)
    const shared = { stepMs, offsetMs: offsetOf(period, timezone, stepMs), timezone, sensitivity: sensitivityOf(alert) }
    return watchedOf(alert, domains).map(
      ({ id }): SeriesScope => ({ orgId, domainId: id, vendor, event: event || null, ...shared }),
    )
  },

  judge(alert, rows, _window, domains) {
    // All domains belong to the same organization.
    const timezone = domains[0]?.timezone ?? alert.timezone
    const isEvery = readAnomaly(alert.volume, 'volume').vendor === ALL_SIGNALS
    return isEvery ? findingsIn(rows, timezone) : rows.filter(({ open }) => open).map((row) => findingOf(row, timezone))
  },
}

function rejectScope({ filters = [], vendors = [] }: AlertInput, vendor: string): void {
  if (filters.length > 0) {
    throw new AppError(
      'invalid',
      'filters: not allowed in a volume_anomaly alert, which monitors counts by vendor and event',
    )
  }
  if (vendors.length > 0 && (vendors.length > 1 || vendors[0] !== vendor)) {
    throw new AppError('invalid', 'vendors: a volume_anomaly alert monitors volume.vendor; omit vendors')
  }
}

/**
 * Returns the offset of row starts that makes days in the time zone consist of whole rows. The offset is constant, even
 * when the zone's clocks change.
 */
function offsetOf(period: Period, timezone: string, stepMs: number): number {
  if (period.unit === 'm' || period.unit === 'h') return 0
  return windowAt({ count: 1, unit: 'd', lengthMs: DAY_MS }, timezone, Date.UTC(2026, 0, 15)).end % stepMs
}

/**
 * Returns the findings. When all traffic of a domain drops, one finding for the domain explains the drops of its
 * signals.
 */
function findingsIn(rows: readonly VerdictRow[], timezone: string): Finding[] {
  const causes = rows.filter(({ explains }) => explains)
  const signals = rows.filter(({ vendor, open, muted }) => vendor !== null && open && !muted)
  return [...causes.map((row) => domainDropFinding(row, timezone)), ...signals.map((row) => findingOf(row, timezone))]
}

function findingOf(row: VerdictRow, timezone: string): Finding {
  const { domainId, vendor, event, alarm, explained, observed, expected, since, at } = row
  const summary = summaryOf(row, timezone)
  return {
    domainId,
    subject: [vendor, event].filter(Boolean).join(' '),
    vendor,
    event: event || null,
    occurrences: 1,
    summary: explained ? `${summary}; all traffic of the domain dropped` : summary,
    observed: Math.round(observed),
    expected: expected === null ? null : rounded(expected),
    firstAt: since,
    lastAt: at - 1,
    hosts: [],
    sample: null,
    sampleSeq: null,
    ...(alarm ? {} : { continues: true }),
    ...(explained ? { explainedBy: '' } : {}),
  }
}

function domainDropFinding(row: VerdictRow, timezone: string): Finding {
  return { ...findingOf(row, timezone), summary: `all traffic of the domain dropped: ${summaryOf(row, timezone)}` }
}

function summaryOf(row: VerdictRow, timezone: string): string {
  const { state, observed, expected, silentSince, since, at } = row
  const about = expected === null ? 'expected count unknown' : `about ${countText(rounded(expected))} expected`
  if (state === 'silent' && silentSince !== null) return `no event since ${momentText(silentSince, timezone)}, ${about}`
  return `${eventsText(Math.round(observed))} from ${periodText(since, at, timezone)}, ${about}${noteOn(row)}`
}

/** Explains why a row within its band is reported; empty for other rows. */
function noteOn({ alarm, down, observed, low, high }: VerdictRow): string {
  if ((low !== null && observed < low) || (high !== null && observed > high)) return ''
  return alarm ? `; too ${down ? 'few' : 'many'} over recent hours` : '; still ongoing'
}

/** Rounds to whole numbers from 10 upwards, and to one decimal below 10. */
const rounded = (count: number) => (count >= 10 ? Math.round(count) : Math.round(count * 10) / 10)
