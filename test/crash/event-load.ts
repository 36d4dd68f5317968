import { call } from '../run-program.ts'

/**
 * Returns a generator of numbers from 0 to less than 1. The same seed gives the same numbers (mulberry32,
 * https://gist.github.com/tommyettinger/46a874533244883189143505d203312c).
 */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

type Destination = string | null | (() => string | null)

export interface Load {
  /** Ids of all events whose batch was acknowledged with 202, with the time at which each was first sent. */
  readonly acknowledged: ReadonlyMap<string, number>
  /** Number of repeated batches. */
  readonly repeats: number
  /** Error that has stopped a sender; null while all work. */
  readonly failure: unknown
  /** Destination URL, or a function that returns one for each attempt; null while no server listens. */
  to: Destination
  /**
   * Waits until the last batch of every sender is acknowledged, then stops the senders. Rejects with any error that
   * occurred.
   */
  finish(): Promise<void>
  /** Stops immediately, even with unacknowledged batches. */
  [Symbol.dispose](): void
}

const SENDERS = 3
const BATCH_EVENTS = 4
const MAX_PAUSE_MS = 25
const VIOLATING_SHARE = 0.2

/**
 * Sends batches as a careful client does: each batch is sent again with the same batchId until it is acknowledged.
 * Every event has a unique id. Some events contain an e-mail address.
 */
export function startLoad(token: string, random: () => number): Load {
  const acknowledged = new Map<string, number>()
  let finished = false
  let abandoned = false
  const load = { acknowledged, repeats: 0, failure: null as unknown, to: null as Destination }
  const batchOf = (sender: number, number: number) => ({
    batchId: `sender-${sender}-batch-${number}`,
    page: { url: 'https://shop.example/checkout' },
    events: Array.from({ length: BATCH_EVENTS }, (_, index) => ({
      id: `${sender}.${number}.${index}`,
      vendor: 'Shop',
      event: 'purchase',
      params: { value: number, email: random() < VIOLATING_SHARE ? `buyer${number}@example.com` : '' },
    })),
  })
  const send = async (sender: number) => {
    for (let number = 0; !finished; number++) {
      const batch = batchOf(sender, number)
      const firstAt = Date.now()
      while (!(await offer(urlOf(load.to), token, batch))) {
        if (abandoned) return
        load.repeats++
        await Bun.sleep(MAX_PAUSE_MS)
      }
      for (const { id } of batch.events) acknowledged.set(id, firstAt)
      await Bun.sleep(random() * MAX_PAUSE_MS)
    }
  }
  const senders = Promise.all(Array.from({ length: SENDERS }, (_, sender) => send(sender)))
  // `finish` reports it as well.
  senders.catch((error: unknown) => {
    load.failure = error
  })
  return Object.assign(load, {
    async finish() {
      finished = true
      await senders
    },
    [Symbol.dispose]() {
      finished = true
      abandoned = true
    },
  })
}

const urlOf = (to: Destination) => (typeof to === 'function' ? to() : to)

/**
 * Returns true when the batch was acknowledged. Throws for any response other than an acknowledgement or a request to
 * retry.
 */
async function offer(to: string | null, token: string, batch: { events: unknown[] }): Promise<boolean> {
  if (to === null) return false
  let answer: Awaited<ReturnType<typeof call>>
  try {
    answer = await call('POST', `${to}/api/v1/events`, { as: token, body: batch })
  } catch {
    // The server was killed during the request. Whether the batch was stored is unknown, so it is repeated with the
    // same batchId.
    return false
  }
  if (answer.status === 503) return false
  const good = answer.status === 202 && answer.body.accepted === batch.events.length && answer.body.rejected === 0
  if (!good) throw new Error(`the collector returned ${answer.status} ${JSON.stringify(answer.body)}`)
  return true
}
