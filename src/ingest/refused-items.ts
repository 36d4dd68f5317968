import type { AppError, ErrorCode } from '../core/error.ts'
import { LabelledCounter, type Metric } from '../core/metric.ts'
import type { LedgerNote } from './batch-report.ts'

/** Reasons by which whole batches are counted. */
const BATCH_REASONS: Record<ErrorCode, string> = {
  invalid: 'invalid_batch',
  tooLarge: 'batch_too_large',
  unsupportedType: 'unsupported_type',
  rateLimited: 'rate_limit',
  unauthorized: 'unknown_token',
  unavailable: 'not_storable',
  notFound: 'unknown_route',
  forbidden: 'other',
  conflict: 'other',
  upstream: 'other',
}

/** Reasons of the ledger by their beginning, after the name of the list. All others are invalid items. */
const ITEM_REASONS: readonly [RegExp, string][] = [
  [/hostname denied/, 'denied_hostname'],
  [/unknown field/, 'unknown_field'],
  [/^not evaluated/, 'not_evaluated'],
  [/^counts:/, 'too_many_names'],
  [/more than \d|too (?:large|long)|longer than/, 'too_large'],
  [/^batch:/, 'batch'],
]

/** Counts of refused and changed items since startup, by a fixed set of reasons without user data. */
export class RefusedItems {
  private readonly counts = new LabelledCounter()

  /** Counts a refused batch. */
  addError({ code }: AppError): void {
    this.counts.add({ reason: BATCH_REASONS[code] })
  }

  /** Counts the ledger entries of a stored batch. */
  addLedger(ledger: readonly LedgerNote[]): void {
    for (const { reason, count } of ledger) this.counts.add({ reason: reasonOf(reason) }, count)
  }

  metrics(): Metric[] {
    return [
      {
        name: 'tagwarden_collector_refused_total',
        type: 'counter',
        help: 'Batches that the collector refused, and items that it refused or changed, since startup, by reason.',
        samples: this.counts.samples(),
      },
    ]
  }
}

const reasonOf = (reason: string) => ITEM_REASONS.find(([pattern]) => pattern.test(reason))?.[1] ?? 'invalid_item'
