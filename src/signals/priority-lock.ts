/** Lets one at a time work: who asks and waits goes before who works through much, each in the order of asking. */
export class PriorityLock {
  private readonly waiting: Record<'urgent' | 'yielding', (() => void)[]> = { urgent: [], yielding: [] }
  private isTaken = false

  /** `yields`: the caller works through much and lets others go first. */
  async take<T>(work: () => Promise<T>, yields: boolean): Promise<T> {
    if (this.isTaken) await new Promise<void>((begin) => this.waiting[yields ? 'yielding' : 'urgent'].push(begin))
    this.isTaken = true
    try {
      return await work()
    } finally {
      const next = this.waiting.urgent.shift() ?? this.waiting.yielding.shift()
      // Taken on, so that nobody comes between.
      if (next) next()
      else this.isTaken = false
    }
  }
}
