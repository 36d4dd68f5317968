/** A lock with two queues: waiting foreground callers precede background callers. Each queue is in call order. */
export class PriorityLock {
  private readonly waiting: Record<'urgent' | 'yielding', (() => void)[]> = { urgent: [], yielding: [] }
  private isTaken = false

  /** `yields`: true for background work, which lets foreground callers go first. */
  async take<T>(work: () => Promise<T>, yields: boolean): Promise<T> {
    if (this.isTaken) await new Promise<void>((begin) => this.waiting[yields ? 'yielding' : 'urgent'].push(begin))
    this.isTaken = true
    try {
      return await work()
    } finally {
      const next = this.waiting.urgent.shift() ?? this.waiting.yielding.shift()
      // The lock is handed over directly, so that no other caller can acquire it in between.
      if (next) next()
      else this.isTaken = false
    }
  }
}
