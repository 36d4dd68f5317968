import type { AppError, ErrorCode } from '../core/error.ts'
import { cutText } from '../core/text.ts'
import { cleanText } from '../decoders/params.ts'
import type { CollectorDomain } from '../domains/domain-directory.ts'
import type { LedgerNote } from './batch-report.ts'

/** Reasons by which the ledger counts rejected batches. Details are in the sample. */
const REASONS: Partial<Record<ErrorCode, string>> = {
  invalid: 'batch: is invalid',
  tooLarge: 'batch: is too large',
  unsupportedType: 'batch: has an unsupported type or encoding',
  rateLimited: 'batch: exceeds the rate limit',
}
export const OVER_BUDGET = 'batch: its organization exceeds its share of the disk'
const MAX_SAMPLE_LENGTH = 300

type Origin = Pick<CollectorDomain, 'id' | 'orgId'>

/** Number of a domain's rejected batches, by reason. */
export interface RejectionCount {
  domain: Origin
  ledger: LedgerNote[]
}

/** Counts rejected batches from known domains until the counts are written to the ledger. */
export class RejectedBatches {
  /** Keyed by domain, then by reason. */
  private notes = new Map<string, { domain: Origin; notes: Map<string, LedgerNote> }>()

  /** Counts a rejected batch. Ignores batches rejected with 503, because the sender repeats them. */
  add(domain: Origin, error: AppError, reason = REASONS[error.code]): void {
    if (reason === undefined) return
    const notes = this.notesOf(domain)
    const count = (notes.get(reason)?.count ?? 0) + 1
    notes.set(reason, { reason, count, sample: cleanText(cutText(error.message, MAX_SAMPLE_LENGTH)) })
  }

  /** Returns the counts since the last call, by domain, and resets them. */
  take(): RejectionCount[] {
    const taken = [...this.notes.values()].map(({ domain, notes }) => ({ domain, ledger: [...notes.values()] }))
    this.notes = new Map()
    return taken
  }

  /** Restores counts that could not be written. */
  restore({ domain, ledger }: RejectionCount): void {
    const notes = this.notesOf(domain)
    for (const note of ledger) {
      const later = notes.get(note.reason)
      notes.set(note.reason, later ? { ...later, count: note.count + later.count } : note)
    }
  }

  private notesOf(domain: Origin): Map<string, LedgerNote> {
    const known = this.notes.get(domain.id)
    if (known) return known.notes
    const notes = new Map<string, LedgerNote>()
    this.notes.set(domain.id, { domain, notes })
    return notes
  }
}
