import type { Instant } from '../core/clock.ts'

/**
 * The violation that one evaluation found for one subject of an alert. A subject without a violation has no finding.
 */
export interface Finding {
  domainId: string | null
  /** Part of the key, with alert and domain: `vendor event` for volume types, empty for validation types. */
  subject: string
  vendor: string | null
  event: string | null
  /** Number of violating events or sessions; 1 for a volume window that fired. */
  occurrences: number
  /** One sentence without a full stop: ``12 of 340 purchase events had no `value`; expected none``. */
  summary: string
  /**
   * Describes what is wrong with every violating event, as a phrase that follows `events`: ``had no `value` ``. Absent
   * when events can violate the rule in different ways.
   */
  fault?: string
  /** Describes the violating events, as a phrase that follows `events`. Includes details of the latest event. */
  did?: string
  /**
   * Number of events with the finding's vendor and event name in the alert's window so far, including violating events;
   * null when unknown.
   */
  total?: number | null
  observed: number | null
  expected: number | null
  /** `expected` as a phrase, when the number is a bound: `more than 10`. */
  expectation?: string
  /** The observation as a phrase, when no number expresses it: `currency is missing`. */
  observation?: string
  /** Id of the run that produced the finding; absent for findings of alerts. */
  runId?: string
  /** Missing orders; absent unless an order capture rule found them. */
  orderCapture?: OrderLoss
  firstAt: Instant
  lastAt: Instant
  /** Most frequent first, at most 20. */
  hosts: string[]
  /** One violating event with personal data masked; null for types without samples. */
  sample: Record<string, unknown> | null
  /** `seq` of the newest violating event, shown as `sample`; null for types without samples. */
  sampleSeq: number | null
  /** Time at which the sample event was received; equals `lastAt` when absent. */
  sampleAt?: Instant
  /** The violation began in an earlier window: an existing issue is kept open, and no further notification is sent. */
  continues?: true
  /**
   * Subject of another finding, from the same evaluation and domain, that explains this one; empty for the finding
   * about the whole domain. A finding that is explained opens no issue and sends no notification; it only keeps an
   * existing issue open.
   */
  explainedBy?: string
}

/** Orders that did not reach a vendor. */
export interface OrderLoss {
  /** Captured share of orders since the start, and the usual share; null while it is being learned. */
  capturePct: number
  usualPct: number | null
  /** Value of missing orders beyond the usual share since the start; null if orders have no value. */
  missingValue: number | null
  missingValuePerHour: number | null
  /** Currency of the organization; null if it has none. */
  currency: string | null
  /** Ids of missing orders, newest first, at most 20. */
  missingOrders: string[]
}

/** True when the finding causes a notification: it is new, and no other finding explains it. */
export const causesNotification = ({ continues, explainedBy }: Finding) => !continues && explainedBy === undefined

/** The evaluated time range: `from <= receivedAt < to`. */
export interface Window {
  from: Instant
  to: Instant
  /** False while the alert's window has not ended (a violation woke the alert early). */
  complete: boolean
}

/**
 * Returns the signal (vendor and event; the event name may be empty) of a finding, for alerts that cover every vendor.
 * Both fields are null for the whole domain.
 */
export function signalOf(finding: Pick<Finding, 'vendor' | 'event'> | null): Pick<Finding, 'vendor' | 'event'> {
  const vendor = finding?.vendor ?? null
  return { vendor, event: vendor === null ? null : (finding?.event ?? '') }
}
