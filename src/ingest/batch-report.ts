import { cleanText } from '../decoders/params.ts'
import { type BatchAnswer, type ItemList, MAX_ERRORS } from './batch.ts'

/** A ledger entry for items refused or changed. The sample names a place, never a value: values may be personal. */
export interface LedgerNote {
  reason: string
  count: number
  sample: string
}

/**
 * Most batches have no refused items. Thousands of them are kept until they are in the warehouse, so they share empty
 * lists.
 */
const NO_NOTES: LedgerNote[] = []
const allAcceptedBy = new Map<number, BatchAnswer>()

function allAccepted(accepted: number): BatchAnswer {
  const known = allAcceptedBy.get(accepted)
  if (known) return known
  const answer: BatchAnswer = { accepted, rejected: 0, errors: [] }
  allAcceptedBy.set(accepted, answer)
  return answer
}

/** What became of the items of one batch: for the sender, and for the ledger. */
export class BatchReport {
  private readonly answer: BatchAnswer = { accepted: 0, rejected: 0, errors: [] }
  private readonly ledger = new Map<string, LedgerNote>()
  private list: ItemList = 'events'
  private index = 0

  /** Names the item that is read next, for `refuse` and `correct`. */
  at(list: ItemList, index: number): void {
    this.list = list
    this.index = index
  }

  accept(items = 1): void {
    this.answer.accepted += items
  }

  /** Refuses an item: the ledger counts by `reason`, the sender gets `error`. */
  refuse(reason: string, sample: string, error = reason): void {
    const { answer, list, index } = this
    answer.rejected++
    if (answer.errors.length < MAX_ERRORS) answer.errors.push({ list, index, error })
    this.note(`${list}: ${reason}`, sample || (error === reason ? '' : error))
  }

  /** Notes a change of an accepted item, which the sender can avoid, in the ledger and, once an item, in the answer. */
  correct(note: string, sample: string): void {
    const { answer, list, index } = this
    answer.notes ??= []
    const last = answer.notes.at(-1)
    const isRepeat = last?.list === list && last.index === index && last.note === note
    if (!isRepeat && answer.notes.length < MAX_ERRORS) answer.notes.push({ list, index, note })
    this.note(note, sample)
  }

  /** Adds to the ledger alone. */
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
