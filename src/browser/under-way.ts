/** Runs that go on by themselves, in browsers: each once at a time, until it ends, is cancelled, or the server stops. */
export class UnderWay<Run extends { id: string }> {
  private readonly stop = new AbortController()
  private readonly runs = new Map<string, { run: Run; cancel: AbortController; ended: Promise<void> }>()

  /** True from `close` on: nothing is begun any more. */
  get isClosed(): boolean {
    return this.stop.signal.aborted
  }

  /**
   * Begins a run, unless it is under way or the server stops. `work` is to end soon after `stopping` is aborted, and never
   * to fail.
   */
  begin(run: Run, work: (stopping: AbortSignal) => Promise<void>): void {
    if (this.isClosed || this.runs.has(run.id)) return
    const cancel = new AbortController()
    const ended = work(AbortSignal.any([this.stop.signal, cancel.signal])).finally(() => this.runs.delete(run.id))
    this.runs.set(run.id, { run, cancel, ended })
  }

  /** Ends the runs that `which` names. */
  cancel(which: (run: Run) => boolean): void {
    for (const { run, cancel } of this.runs.values()) if (which(run)) cancel.abort()
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    while (this.runs.size > 0) await Promise.all([...this.runs.values()].map(({ ended }) => ended))
  }

  /** Ends what is under way; nothing is begun afterwards. */
  async close(): Promise<void> {
    this.stop.abort()
    await this.idle()
  }
}
