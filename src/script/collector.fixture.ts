import type { Item } from './batch.ts'
import type { Frame } from './page-frame.ts'
import type { Call } from './recorded-requests.ts'

/** A manual clock with timers. */
export interface HandClock {
  now(): number
  later(work: () => void, ms: number): void
  /** Advances the clock and runs due timers in order. */
  pass(ms: number): void
}

export function handClock(): HandClock {
  let at = 0
  let due: { at: number; work: () => void }[] = []
  return {
    now: () => at,
    later(work, ms) {
      due.push({ at: at + ms, work })
    },
    pass(ms) {
      const end = at + ms
      for (;;) {
        const [next] = due.filter((one) => one.at <= end).sort((a, b) => a.at - b.at)
        if (!next) break
        due = due.filter((one) => one !== next)
        at = next.at
        next.work()
      }
      at = end
    },
  }
}

export function frameOf(path: string, more: Partial<Frame> = {}): Frame {
  return {
    declared: { env: 'prod' },
    sessionId: 'f'.repeat(32),
    sampleRate: 1,
    page: { url: `https://shop.example${path}`, referrer: '', title: 'Shop' },
    language: 'en',
    isSampled: true,
    from: 0,
    ...more,
  }
}

const FRAME = frameOf('/')

/** Returns a call that has ended; `more` overrides its fields. All calls belong to one page. */
function callOf(more: Partial<Call> = {}): Call {
  return {
    frame: FRAME,
    at: 0,
    ts: 1_767_614_400_000,
    url: 'https://vendor.example/p',
    foreignHost: 'vendor.example',
    method: 'GET',
    type: 'img',
    isConfirmed: true,
    outcome: 'ok',
    isOnline: true,
    durMs: 12,
    isTimed: true,
    ...more,
  }
}

/** Returns a hit that is ready to be sent; `more` overrides the fields of its call. */
export function hitOf(more: Partial<Call> = {}, id = 'h'): Item {
  const call = callOf(more)
  return { list: 'hits', frame: call.frame, call, id }
}
