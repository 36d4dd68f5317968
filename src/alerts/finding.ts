import type { Instant } from '../core/clock.ts'

/** What one evaluation says about one subject of an alert. An alert without a finding for a subject is clear there. */
export interface Finding {
  domainId: string | null
  /** What the alert type names beside alert and domain: `vendor event` for volume types, empty for validation. */
  subject: string
  vendor: string | null
  event: string | null
  /** Violating events or sessions; 1 for a volume window that fired. */
  occurrences: number
  /** In one sentence, without a full stop: ``12 of 340 purchase events had no `value`; expected none``. */
  summary: string
  /** What every violating event did, to stand behind `events`: ``had no `value` ``. Absent: the rule does not say. */
  fault?: string
  observed: number | null
  expected: number | null
  /** `expected` in words, where the number is a bound and not what is usual: `more than 10`. */
  expectation?: string
  firstAt: Instant
  lastAt: Instant
  /** Most frequent first, at most 20. */
  hosts: string[]
  /** One violating event with personal data masked; null where the type has none. */
  sample: Record<string, unknown> | null
  /** `seq` of the event from which `sample` is made, the newest violating one; null where the type has none. */
  sampleSeq: number | null
  /** When that event was received; absent: at `lastAt`. */
  sampleAt?: Instant
  /** The trouble of an earlier window goes on: an issue of it is kept, and nobody is told again. */
  continues?: true
  /**
   * Subject of the finding of the same evaluation and domain that explains this one; empty: the one about the whole
   * domain. Such a finding opens nothing and tells nobody; it only keeps an issue that stands.
   */
  explainedBy?: string
}

/** True when people are to hear of it: it is new, and nothing else explains it. */
export const isNews = ({ continues, explainedBy }: Finding) => !continues && explainedBy === undefined

/** What was judged: `from <= receivedAt < to`. */
export interface Window {
  from: Instant
  to: Instant
  /** False while the alert's window is still being gathered (a first violation woke the alert early). */
  complete: boolean
}

/**
 * The signal that a finding of an alert about every vendor is about: each is an event of a vendor, and the event's name
 * may be empty. Nulls for the whole domain.
 */
export function signalNamed(finding: Pick<Finding, 'vendor' | 'event'> | null): Pick<Finding, 'vendor' | 'event'> {
  const vendor = finding?.vendor ?? null
  return { vendor, event: vendor === null ? null : (finding?.event ?? '') }
}
