/** Lets one at a time work: who asks and waits goes before who works through much, each in the order of asking. */
export class Turns {
  private readonly waiting: Record<'asks' | 'works', (() => void)[]> = { asks: [], works: [] }
  private isTaken = false

  /** `gives`: the caller works through much and lets others go first. */
  async take<T>(work: () => Promise<T>, gives: boolean): Promise<T> {
    if (this.isTaken) await new Promise<void>((begin) => this.waiting[gives ? 'works' : 'asks'].push(begin))
    this.isTaken = true
    try {
      return await work()
    } finally {
      const next = this.waiting.asks.shift() ?? this.waiting.works.shift()
      // Taken on, so that nobody comes between.
      if (next) next()
      else this.isTaken = false
    }
  }
}
