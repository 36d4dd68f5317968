/** A lock with two queues: waiting foreground callers go before background callers, each in the order of calls. */
export class PriorityLock {
  private readonly waiting: Record<'urgent' | 'yielding', (() => void)[]> = { urgent: [], yielding: [] }
  private isTaken = false

  /** `yields`: the caller is background work and gives way to others. */
  async take<T>(work: () => Promise<T>, yields: boolean): Promise<T> {
    if (this.isTaken) await new Promise<void>((begin) => this.waiting[yields ? 'yielding' : 'urgent'].push(begin))
    this.isTaken = true
    try {
      return await work()
    } finally {
      const next = this.waiting.urgent.shift() ?? this.waiting.yielding.shift()
      // The lock is handed over directly, so that no other caller takes it in between.
      if (next) next()
      else this.isTaken = false
    }
  }
}
