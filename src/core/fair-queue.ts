import { SECOND_MS } from './clock.ts'
import { AppError } from './error.ts'

/** A group of calls with the same `name`, such as the calls of one organization, and the limits of the group. */
export interface Share {
  name: string
  maxRunning: number
  maxWaiting: number
}

export interface RunOptions {
  /** Limits in addition to those of the queue, narrowest first. Default: none. */
  shares?: readonly Share[]
  /** If the signal aborts before the work starts, the work never starts. */
  signal?: AbortSignal | undefined
  /** Maximum waiting time. Work that has not started by then never starts. Default: unlimited. */
  waitMs?: number | undefined
}

interface Waiting {
  shares: readonly Share[]
  start(): void
}

interface Count {
  running: number
  waiting: number
  /** Value of `turns` when the share last started a task; 0 if it never has. */
  turn: number
}

const NOTHING: Readonly<Count> = { running: 0, waiting: 0, turn: 0 }
const RETRY_AFTER_S = 10

/**
 * A queue that runs at most `maxRunning` tasks at a time. A free slot goes to the share with the fewest running tasks,
 * where each task counts for its widest share. Among equal shares, the one that started a task least recently is next;
 * within a share, the oldest task. A caller with many tasks therefore delays only itself. A running task whose signal
 * aborts frees its slot immediately, but counts towards its shares until it ends.
 */
export class FairQueue {
  private running = 0
  private readonly waiting = new Set<Waiting>()
  /** Keyed by share name. Only shares with running or waiting tasks have an entry. */
  private readonly counts = new Map<string, Count>()
  /** Number of tasks started so far. */
  private turns = 0

  constructor(
    private readonly maxRunning: number,
    private readonly maxWaiting = Number.POSITIVE_INFINITY,
    /**
     * Returns the usage of a share, given its name. Among shares with the same number of running tasks, the one with
     * the lowest usage is next.
     */
    private readonly usedBy: (name: string) => number = () => 0,
  ) {}

  /** Number of running tasks whose signal has not aborted, and number of waiting tasks. */
  get load(): { running: number; waiting: number } {
    return { running: this.running, waiting: this.waiting.size }
  }

  /**
   * Returns the result of `work`, or throws its error. Throws `rateLimited` if too many tasks in a share are waiting.
   * Throws `unavailable` if too many tasks are waiting in total, or if the signal aborts or `waitMs` passes before the
   * work starts.
   */
  async run<T>(work: () => Promise<T>, { shares = [], signal, waitMs }: RunOptions = {}): Promise<T> {
    if (signal?.aborted) throw abortedError()
    if (this.running < this.maxRunning && this.hasRoom(shares)) this.start(shares)
    else await this.wait(shares, signal, waitMs)
    let holdsSlot = true
    const leave = () => {
      if (holdsSlot) this.running--
      holdsSlot = false
      this.startNext()
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

  private start(shares: readonly Share[]): void {
    this.running++
    this.count(shares, 'running', 1)
    this.turns++
    for (const { name } of shares) {
      const count = this.counts.get(name)
      if (count) count.turn = this.turns
    }
  }

  private wait(shares: readonly Share[], signal?: AbortSignal, waitMs?: number): Promise<void> {
    const full = shares.find(({ name, maxWaiting }) => (this.counts.get(name)?.waiting ?? 0) >= maxWaiting)
    if (full) throw tooMany('rateLimited')
    if (this.waiting.size >= this.maxWaiting) throw tooMany('unavailable')
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
      const start = () => {
        leave()
        this.start(shares)
        resolve()
      }
      const one = { shares, start }
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

  private startNext(): void {
    while (this.running < this.maxRunning) {
      let next: Waiting | null = null
      for (const one of this.waiting) {
        if (this.hasRoom(one.shares) && (!next || this.isBefore(one, next))) next = one
      }
      if (!next) return
      next.start()
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
    return shares.every(({ name, maxRunning }) => (this.counts.get(name)?.running ?? 0) < maxRunning)
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

/** Name of the widest share; empty if there is none. */
const nameOf = ({ shares }: Waiting) => shares.at(-1)?.name ?? ''

const tooMany = (code: 'rateLimited' | 'unavailable') =>
  new AppError(code, `too many requests are waiting; try again in ${RETRY_AFTER_S} s`, RETRY_AFTER_S)

const waitedTooLong = (waitMs: number) =>
  new AppError(
    'unavailable',
    `busy: the request waited ${waitMs / SECOND_MS} s without being started; try again in ${RETRY_AFTER_S} s`,
    RETRY_AFTER_S,
  )

/** The error for work whose caller has disconnected. The error is rarely shown. */
export const abortedError = () =>
  new AppError('unavailable', 'the client disconnected before the response was ready', RETRY_AFTER_S)
