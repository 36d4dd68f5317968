import type { Instant } from '../core/clock.ts'

/** The result of one evaluation for one subject of an alert. A subject without a finding is clear. */
export interface Finding {
  domainId: string | null
  /** Part of the key, with alert and domain: `vendor event` for volume types, empty for validation. */
  subject: string
  vendor: string | null
  event: string | null
  /** Violating events or sessions; 1 for a volume window that fired. */
  occurrences: number
  /** One sentence without a full stop: ``12 of 340 purchase events had no `value`; expected none``. */
  summary: string
  /**
   * Description of every violating event, as text after `events`: ``had no `value` ``. Absent when the rule does not
   * name it.
   */
  fault?: string
  /** Description of the violating events, as text after `events`; includes details of the latest one. */
  did?: string
  /** Events of the finding's vendor and name in the alert's window so far, violating ones included; null when unknown. */
  total?: number | null
  observed: number | null
  expected: number | null
  /** `expected` as text when the number is a bound: `more than 10`. */
  expectation?: string
  /** The observation as text when no number expresses it: `currency is missing`. */
  observation?: string
  /** Id of the run that made the finding; absent for findings of alerts. */
  runId?: string
  firstAt: Instant
  lastAt: Instant
  /** Most frequent first, at most 20. */
  hosts: string[]
  /** One violating event with personal data masked; null for types without samples. */
  sample: Record<string, unknown> | null
  /** `seq` of the newest violating event, which is the `sample`; null for types without samples. */
  sampleSeq: number | null
  /** When that event was received; `lastAt` when absent. */
  sampleAt?: Instant
  /** The violation began in an earlier window: an existing issue is kept open, and nobody is notified again. */
  continues?: true
  /**
   * Subject of the finding of the same evaluation and domain that explains this one; empty for the finding about the
   * whole domain. Such a finding opens no issue and sends no notification; it only keeps an open issue alive.
   */
  explainedBy?: string
}

/** True when the finding causes a notification: it is new, and no other finding explains it. */
export const causesNotification = ({ continues, explainedBy }: Finding) => !continues && explainedBy === undefined

/** The time range that was judged: `from <= receivedAt < to`. */
export interface Window {
  from: Instant
  to: Instant
  /** False while the alert's window has not ended yet (a violation woke the alert early). */
  complete: boolean
}

/**
 * Returns the signal that a finding is about, for alerts on every vendor: an event of a vendor, whose name may be
 * empty. Returns nulls for the whole domain.
 */
export function signalOf(finding: Pick<Finding, 'vendor' | 'event'> | null): Pick<Finding, 'vendor' | 'event'> {
  const vendor = finding?.vendor ?? null
  return { vendor, event: vendor === null ? null : (finding?.event ?? '') }
}
