import type { Instant } from '../../../core/clock.ts'

/** Where a message stands: Slack names it by channel and time. */
export interface Place {
  channel: string
  ts: string
}

/** What is remembered of an issue in a chat. */
export interface ChatMemory {
  /** The message that opened it, in whose thread the others are; null: there is none yet. */
  opening: Place | null
  /** What is being posted: its answer may have been lost. Null: nothing. */
  posting: Posting | null
  /** The delivery that was posted last. */
  postedId: string | null
}

/** A message that may have been posted. */
export interface Posting {
  deliveryId: string
  /** The first delivery that it is about: by this it is found. */
  key: string
  channel: string
  /** The message in whose thread it is; null: it stands alone. */
  thread: string | null
  since: Instant
  /** How many issues it is about. */
  count: number
}

export const NOTHING: ChatMemory = { opening: null, posting: null, postedId: null }
