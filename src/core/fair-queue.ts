import { SECOND_MS } from './clock.ts'
import { AppError } from './error.ts'

/** A limit that calls with the same `name` share, such as all calls of one organization. */
export interface Share {
  name: string
  /** At most this many run at once. */
  atOnce: number
  /** At most this many wait. */
  waiting: number
}

export interface RunOptions {
  /** Limits in addition to the queue's own, the narrowest first; none when left out. */
  shares?: readonly Share[]
  /** When it aborts, work that has not begun never does. */
  signal?: AbortSignal | undefined
  /** Work that has not begun after this time never does; without end when left out. */
  waitMs?: number | undefined
}

interface Waiting {
  shares: readonly Share[]
  begin(): void
}

interface Count {
  running: number
  waiting: number
  /** The turn in which one of it last began; 0: none did. */
  turn: number
}

const NOTHING: Readonly<Count> = { running: 0, waiting: 0, turn: 0 }
const RETRY_AFTER_S = 10

/**
 * A queue that runs at most `atOnce` tasks at a time. When a slot is free, the next task is the one whose widest share
 * has the fewest running, of those the one whose share's turn was longest ago, of those the oldest: a caller with many
 * tasks delays only itself. A running task whose signal
 * aborts frees its slot at once, but counts for its shares until it ends.
 */
export class FairQueue {
  private running = 0
  private readonly waiting = new Set<Waiting>()
  /** By name of the share; only shares with something running or waiting have an entry. */
  private readonly counts = new Map<string, Count>()
  /** Turns given so far. */
  private turns = 0

  constructor(
    private readonly atOnce: number,
    /** At most this many wait. */
    private readonly mostWaiting = Number.POSITIVE_INFINITY,
    /** What a share has used by now, by its name; between shares with as many running, the one with the least is next. */
    private readonly usedBy: (name: string) => number = () => 0,
  ) {}

  /** The number of running tasks whose signal has not aborted, and of waiting ones. */
  get load(): { running: number; waiting: number } {
    return { running: this.running, waiting: this.waiting.size }
  }

  /**
   * Returns what `work` returns. Fails as it does; with `rateLimited` when too many of a share wait; with `unavailable`
   * when too many wait in total, or the signal aborts or `waitMs` pass before the work began.
   */
  async run<T>(work: () => Promise<T>, { shares = [], signal, waitMs }: RunOptions = {}): Promise<T> {
    if (signal?.aborted) throw abortedError()
    if (this.running < this.atOnce && this.hasRoom(shares)) this.begin(shares)
    else await this.wait(shares, signal, waitMs)
    let holdsPlace = true
    const leave = () => {
      if (holdsPlace) this.running--
      holdsPlace = false
      this.beginNext()
    }
    signal?.addEventListener('abort', leave)
    try {
      return await work()
    } finally {
      signal?.removeEventListener('abort', leave)
      this.count(shares, 'running', -1)
      leave()
    }
  }

  private begin(shares: readonly Share[]): void {
    this.running++
    this.count(shares, 'running', 1)
    this.turns++
    for (const { name } of shares) {
      const count = this.counts.get(name)
      if (count) count.turn = this.turns
    }
  }

  private wait(shares: readonly Share[], signal?: AbortSignal, waitMs?: number): Promise<void> {
    const full = shares.find(({ name, waiting }) => (this.counts.get(name)?.waiting ?? 0) >= waiting)
    if (full) throw tooMany('rateLimited')
    if (this.waiting.size >= this.mostWaiting) throw tooMany('unavailable')
    return new Promise((resolve, reject) => {
      const leave = () => {
        clearTimeout(timeout)
        signal?.removeEventListener('abort', giveUp)
        this.waiting.delete(one)
        this.count(shares, 'waiting', -1)
      }
      const giveUp = () => {
        leave()
        reject(abortedError())
      }
      const begin = () => {
        leave()
        this.begin(shares)
        resolve()
      }
      const one = { shares, begin }
      const tooLate = () => {
        leave()
        reject(waitedTooLong(waitMs ?? 0))
      }
      const timeout = waitMs === undefined ? undefined : setTimeout(tooLate, waitMs)
      signal?.addEventListener('abort', giveUp)
      this.waiting.add(one)
      this.count(shares, 'waiting', 1)
    })
  }

  private beginNext(): void {
    while (this.running < this.atOnce) {
      let next: Waiting | null = null
      for (const one of this.waiting) {
        if (this.hasRoom(one.shares) && (!next || this.isBefore(one, next))) next = one
      }
      if (!next) return
      next.begin()
    }
  }

  private isBefore(one: Waiting, other: Waiting): boolean {
    const a = this.widestOf(one)
    const b = this.widestOf(other)
    if (a.running !== b.running) return a.running < b.running
    const moreUsed = this.usedBy(nameOf(one)) - this.usedBy(nameOf(other))
    return moreUsed === 0 ? a.turn < b.turn : moreUsed < 0
  }

  private widestOf(one: Waiting): Count {
    return this.counts.get(nameOf(one)) ?? NOTHING
  }

  private hasRoom(shares: readonly Share[]): boolean {
    return shares.every(({ name, atOnce }) => (this.counts.get(name)?.running ?? 0) < atOnce)
  }

  private count(shares: readonly Share[], what: 'running' | 'waiting', by: 1 | -1): void {
    for (const { name } of shares) {
      const counts = this.counts.get(name) ?? { ...NOTHING }
      counts[what] += by
      if (counts.running + counts.waiting === 0) this.counts.delete(name)
      else this.counts.set(name, counts)
    }
  }
}

/** Name of the widest share; empty without one. */
const nameOf = ({ shares }: Waiting) => shares.at(-1)?.name ?? ''

const tooMany = (code: 'rateLimited' | 'unavailable') =>
  new AppError(code, `too many wait already; try again in ${RETRY_AFTER_S} s`, RETRY_AFTER_S)

const waitedTooLong = (waitMs: number) =>
  new AppError(
    'unavailable',
    `others are answered first, for more than ${waitMs / SECOND_MS} s now; try again in ${RETRY_AFTER_S} s`,
    RETRY_AFTER_S,
  )

/** The error of work whose caller has gone; it is rarely shown to anyone. */
export const abortedError = () => new AppError('unavailable', 'nobody waits for the answer any more', RETRY_AFTER_S)
