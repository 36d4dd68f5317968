import { type Batch, batchesOf, type Item, isReady, lengthOf, MAX_LENGTH } from './batch.ts'

/** So many items are sent as soon as they are ready. */
const MAX_READY = 20
/** Items wait at most about so long for others to go with them. */
export const FLUSH_MS = 5000
/** Looking costs more than what changes, and changes come together. */
const CHECK_MS = 100
/** Later, when this second's share of the main thread is used up. */
const SPENT_MS = 1000
/** More are not kept; the oldest go first. */
const MAX_WAITING = 500

/**
 * What is sent: `ready` things; when the page is `hidden` also calls whose end is not known, because it may be its last
 * moment; at its `end` even those whose body could not be read yet.
 */
export type Until = 'ready' | 'hidden' | 'end'

export interface Queue {
  add(item: Item): void
  /** To be called when a call changed: enough may be ready for a batch. */
  check(): void
  flush(until: Until): void
}

export interface QueueParts {
  now(): number
  later(work: () => void, ms: number): void
  isSpent(): boolean
  send(batches: readonly Batch[]): void
  /** Called before batches are made. */
  closing(): void
}

/** What waits to be sent. It goes as soon as 20 items or 30 kB are ready; what is ready goes every 5 s. */
export function makeQueue({ now, later, isSpent, send, closing }: QueueParts): Queue {
  let waiting: Item[] = []
  let isArmed = false
  let isChecking = false

  const flush = (until: Until) => {
    const at = now()
    const isReadable = (item: Item) => item.list !== 'hits' || !item.call.isReading
    const isGoing = (item: Item) => isReady(item, at) || until === 'end' || (until === 'hidden' && isReadable(item))
    const going = waiting.filter(isGoing)
    if (going.length > 0) {
      waiting = waiting.filter((item) => !isGoing(item))
      closing()
      send(batchesOf(going))
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
    const ready = waiting.filter((item) => isReady(item, at))
    const length = ready.reduce((sum, item) => sum + lengthOf(item), 0)
    if (ready.length >= MAX_READY || length >= MAX_LENGTH) flush('ready')
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
