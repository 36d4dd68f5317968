import type { AppError, ErrorCode } from '../core/error.ts'
import { cleanText, cutText } from '../decoders/params.ts'
import type { CollectorDomain } from '../domains/directory.ts'
import type { LedgerNote } from './understand.ts'

/** Few words, because the ledger counts by them; the sample says more. */
const REASONS: Partial<Record<ErrorCode, string>> = {
  invalid: 'batch: is not one',
  tooLarge: 'batch: is too large',
  unsupportedType: 'batch: is of another type or encoding',
  rateLimited: 'batch: over the rate limit',
}
const MAX_SAMPLE_LENGTH = 300

/** Batches of known domains that were refused whole, counted until they are written into the ledger. */
export class Refusals {
  private notes = new Map<string, { domain: CollectorDomain; notes: Map<string, LedgerNote> }>()

  /** Counts a refusal; one that the sender is to repeat (503) is none. */
  add(domain: CollectorDomain, error: AppError): void {
    const reason = REASONS[error.code]
    if (reason === undefined) return
    const { notes } = this.notes.get(domain.id) ?? { notes: new Map<string, LedgerNote>() }
    const note = notes.get(reason) ?? { reason, count: 0, sample: '' }
    const sample = cleanText(cutText(error.message, MAX_SAMPLE_LENGTH))
    notes.set(reason, { reason, count: note.count + 1, sample })
    this.notes.set(domain.id, { domain, notes })
  }

  /** What was counted since the last time, by domain. */
  take(): { domain: CollectorDomain; ledger: LedgerNote[] }[] {
    const taken = [...this.notes.values()].map(({ domain, notes }) => ({ domain, ledger: [...notes.values()] }))
    this.notes = new Map()
    return taken
  }
}
