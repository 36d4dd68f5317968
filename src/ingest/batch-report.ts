import { cleanText } from '../decoders/params.ts'
import { type BatchAnswer, type ItemList, MAX_ERRORS } from './batch.ts'

/**
 * A ledger entry for rejected or changed items. `sample` names a location, never a value, because values may be
 * personal data.
 */
export interface LedgerNote {
  reason: string
  count: number
  sample: string
}

/** Shared empty list. Most batches have no rejected items, and thousands of batches are in memory. */
const NO_NOTES: LedgerNote[] = []
const allAcceptedBy = new Map<number, BatchAnswer>()

function allAccepted(accepted: number): BatchAnswer {
  const known = allAcceptedBy.get(accepted)
  if (known) return known
  const answer: BatchAnswer = { accepted, rejected: 0, errors: [] }
  allAcceptedBy.set(accepted, answer)
  return answer
}

/** Collects the result of processing a batch, for the sender and for the ledger. */
export class BatchReport {
  private readonly answer: BatchAnswer = { accepted: 0, rejected: 0, errors: [] }
  private readonly ledger = new Map<string, LedgerNote>()
  private list: ItemList = 'events'
  private index = 0

  /** Sets the current item for `refuse` and `correct`. */
  at(list: ItemList, index: number): void {
    this.list = list
    this.index = index
  }

  accept(items = 1): void {
    this.answer.accepted += items
  }

  /** Rejects the current item. The ledger counts rejections by `reason`; the sender receives `error`. */
  refuse(reason: string, sample: string, error = reason): void {
    const { answer, list, index } = this
    answer.rejected++
    if (answer.errors.length < MAX_ERRORS) answer.errors.push({ list, index, error })
    this.note(`${list}: ${reason}`, sample || (error === reason ? '' : error))
  }

  /**
   * Records a change to an accepted item that the sender could have avoided. The change is added to the ledger and,
   * once per item, to the response.
   */
  correct(note: string, sample: string): void {
    const { answer, list, index } = this
    answer.notes ??= []
    const last = answer.notes.at(-1)
    const isRepeat = last?.list === list && last.index === index && last.note === note
    if (!isRepeat && answer.notes.length < MAX_ERRORS) answer.notes.push({ list, index, note })
    this.note(note, sample)
  }

  /** Adds an entry to the ledger, but not to the response. */
  note(reason: string, sample: string): void {
    const note = this.ledger.get(reason)
    if (note) note.count++
    else this.ledger.set(reason, { reason, count: 1, sample: cleanText(sample) })
  }

  result(): { answer: BatchAnswer; ledger: LedgerNote[] } {
    const { answer, ledger } = this
    if (answer.rejected > 0 || ledger.size > 0) return { answer, ledger: [...ledger.values()] }
    return { answer: allAccepted(answer.accepted), ledger: NO_NOTES }
  }
}
