import { AppError } from '../core/error.ts'

const RETRY_AFTER_S = 10

/** Work that needs much memory or a whole core: at most `atOnce` of it runs, at most `waitingMax` of it waits. */
export class Turns {
  private running = 0
  private readonly waiting: (() => void)[] = []

  constructor(
    private readonly atOnce: number,
    private readonly waitingMax: number,
  ) {}

  /** Answers, or fails, as `work` does; first come, first served. Fails with `unavailable` when too many wait. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    await this.turn()
    try {
      return await work()
    } finally {
      const next = this.waiting.shift()
      // Whoever waits longest takes over the place, so that nobody who comes meanwhile slips in.
      if (next) next()
      else this.running--
    }
  }

  private async turn(): Promise<void> {
    if (this.running < this.atOnce) {
      this.running++
      return
    }
    if (this.waiting.length >= this.waitingMax) {
      throw new AppError('unavailable', `too many wait already; try again in ${RETRY_AFTER_S} s`, RETRY_AFTER_S)
    }
    await new Promise<void>((resolve) => this.waiting.push(resolve))
  }
}
