/**
 * Runs that are active in browsers. A run stays active until it ends, is cancelled, or the server stops. The same run
 * is never active twice.
 */
export class ActiveRuns<Run extends { id: string }> {
  private readonly stop = new AbortController()
  private readonly runs = new Map<string, { run: Run; cancel: AbortController; ended: Promise<void> }>()

  /** True after `close` has been called, so that no more runs start. */
  get isClosed(): boolean {
    return this.stop.signal.aborted
  }

  /**
   * Starts a run unless it is already active or the server is stopping. `work` must end soon after `stopping` is
   * aborted, and must not reject.
   */
  begin(run: Run, work: (stopping: AbortSignal) => Promise<void>): void {
    if (this.isClosed || this.runs.has(run.id)) return
    const cancel = new AbortController()
    const ended = work(AbortSignal.any([this.stop.signal, cancel.signal])).finally(() => this.runs.delete(run.id))
    this.runs.set(run.id, { run, cancel, ended })
  }

  /** Cancels the runs for which `which` returns true. */
  cancel(which: (run: Run) => boolean): void {
    for (const { run, cancel } of this.runs.values()) if (which(run)) cancel.abort()
  }

  /** Resolves when no run is active. */
  async idle(): Promise<void> {
    while (this.runs.size > 0) await Promise.all([...this.runs.values()].map(({ ended }) => ended))
  }

  /** Stops active runs and prevents more runs from starting. */
  async close(): Promise<void> {
    this.stop.abort()
    await this.idle()
  }
}
