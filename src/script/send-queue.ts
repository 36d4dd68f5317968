import { type Batch, batchesOf, type Item, isReady, lengthOf, MAX_LENGTH, MAX_LENGTH_OPEN } from './batch.ts'

/** Items are sent as soon as this number of items is ready. */
const MAX_READY = 20
/** Approximate time that ready items wait for more items for their batch. */
export const FLUSH_MS = 5000
/** Interval between checks. A check costs more than a change, and changes occur in groups. */
const CHECK_MS = 100
/** Interval between checks while the time budget of the current second is used up. */
const SPENT_MS = 1000
/** Maximum length of the queue. The oldest items are dropped first. */
const MAX_WAITING = 500

/**
 * Selects the items to send. `ready`: only items that are ready. `hidden`, when the page may not run again: calls
 * without an outcome as well. `end`, when the page ends: calls whose body is still being read as well.
 */
export type Until = 'ready' | 'hidden' | 'end'

export interface SendQueue {
  add(item: Item): void
  /** Must be called after a call has changed, because enough items may then be ready. */
  check(): void
  flush(until: Until): void
}

export interface SendQueueDeps {
  now(): number
  later(work: () => void, ms: number): void
  isSpent(): boolean
  send(batches: readonly Batch[]): void
  /** Called before batches are created. */
  closing(): void
}

/** The queue of items to send. Items are sent once 20 items or 30 kB are ready, and at least every 5 s. */
export function makeSendQueue({ now, later, isSpent, send, closing }: SendQueueDeps): SendQueue {
  let waiting: Item[] = []
  let isArmed = false
  let isChecking = false

  const flush = (until: Until) => {
    const at = now()
    const going: Item[] = []
    waiting = waiting.filter((item) => {
      const isGoing = isReady(item, at) || until === 'end' || (until === 'hidden' && !item.call?.isReading)
      if (!isGoing) return true
      if (!item.call?.outcome) item.call?.look?.(false)
      going.push(item)
      return false
    })
    if (going.length > 0) {
      closing()
      send(batchesOf(going, until === 'ready' ? MAX_LENGTH_OPEN : MAX_LENGTH))
    }
    arm()
  }
  const arm = (ms = FLUSH_MS) => {
    if (isArmed || waiting.length === 0) return
    isArmed = true
    later(() => {
      isArmed = false
      if (isSpent()) arm(SPENT_MS)
      else flush('ready')
    }, ms)
  }
  const check = () => {
    const at = now()
    let ready = 0
    let length = 0
    for (const item of waiting) {
      if (!isReady(item, at)) continue
      ready++
      length += lengthOf(item)
      if (ready >= MAX_READY || length >= MAX_LENGTH) return flush('ready')
    }
  }
  return {
    add(item) {
      waiting.push(item)
      if (waiting.length > MAX_WAITING) waiting.shift()
      arm()
    },
    check() {
      if (isChecking) return
      isChecking = true
      later(() => {
        isChecking = false
        check()
      }, CHECK_MS)
    },
    flush,
  }
}
