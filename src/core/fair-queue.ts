import { AppError } from './error.ts'

/** Those who share a limit: so many of them are at work at once, and so many wait. */
export interface Share {
  name: string
  atOnce: number
  waiting: number
}

export interface TurnOptions {
  /** Limits beside that of all, the narrowest first; none when left out. */
  shares?: readonly Share[]
  /** Ends when nobody wants the work any more: what has not begun by then never does. */
  signal?: AbortSignal | undefined
}

interface Waiting {
  shares: readonly Share[]
  begin(): void
}

const RETRY_AFTER_S = 10

/**
 * Lets work begin: so much at once, the rest waits. When a place is free, the one of whose widest share least is at work
 * begins, the oldest of those: who asks much waits for himself. Work whose signal ended may take its time to stop: its place
 * is free for others at once, and counts for its shares until the end.
 */
export class FairQueue {
  private running = 0
  private readonly waiting = new Set<Waiting>()
  /** By name of the share; without those that have nothing. */
  private readonly counts = new Map<string, { running: number; waiting: number }>()

  constructor(
    private readonly atOnce: number,
    /** So many wait at most. */
    private readonly mostWaiting = Number.POSITIVE_INFINITY,
  ) {}

  /** How many are at work for somebody, and how many wait. */
  get load(): { running: number; waiting: number } {
    return { running: this.running, waiting: this.waiting.size }
  }

  /**
   * Answers what `work` answers. Fails as it does; with `rateLimited` when too many of a share wait; with `unavailable` when
   * too many wait altogether, or the signal ends before the work began.
   */
  async run<T>(work: () => Promise<T>, { shares = [], signal }: TurnOptions = {}): Promise<T> {
    if (signal?.aborted) throw givenUp()
    if (this.running < this.atOnce && this.hasRoom(shares)) this.begin(shares)
    else await this.wait(shares, signal)
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
  }

  private wait(shares: readonly Share[], signal: AbortSignal | undefined): Promise<void> {
    const full = shares.find(({ name, waiting }) => (this.counts.get(name)?.waiting ?? 0) >= waiting)
    if (full) throw tooMany('rateLimited')
    if (this.waiting.size >= this.mostWaiting) throw tooMany('unavailable')
    return new Promise((resolve, reject) => {
      const leave = () => {
        signal?.removeEventListener('abort', giveUp)
        this.waiting.delete(one)
        this.count(shares, 'waiting', -1)
      }
      const giveUp = () => {
        leave()
        reject(givenUp())
      }
      const begin = () => {
        leave()
        this.begin(shares)
        resolve()
      }
      const one = { shares, begin }
      signal?.addEventListener('abort', giveUp)
      this.waiting.add(one)
      this.count(shares, 'waiting', 1)
    })
  }

  private beginNext(): void {
    while (this.running < this.atOnce) {
      let next: Waiting | null = null
      for (const one of this.waiting) {
        if (this.hasRoom(one.shares) && (!next || this.atWork(one) < this.atWork(next))) next = one
      }
      if (!next) return
      next.begin()
    }
  }

  private atWork({ shares }: Waiting): number {
    return this.counts.get(shares.at(-1)?.name ?? '')?.running ?? 0
  }

  private hasRoom(shares: readonly Share[]): boolean {
    return shares.every(({ name, atOnce }) => (this.counts.get(name)?.running ?? 0) < atOnce)
  }

  private count(shares: readonly Share[], what: 'running' | 'waiting', by: 1 | -1): void {
    for (const { name } of shares) {
      const counts = this.counts.get(name) ?? { running: 0, waiting: 0 }
      counts[what] += by
      if (counts.running + counts.waiting === 0) this.counts.delete(name)
      else this.counts.set(name, counts)
    }
  }
}

const tooMany = (code: 'rateLimited' | 'unavailable') =>
  new AppError(code, `too many wait already; try again in ${RETRY_AFTER_S} s`, RETRY_AFTER_S)

/** What ends work that nobody wants any more; hardly anybody hears it. */
export const givenUp = () => new AppError('unavailable', 'nobody waits for the answer any more', RETRY_AFTER_S)
