/** Maximum time in milliseconds for which long-running work blocks the event loop. */
const SLICE_MS = 5

/**
 * Prevents long-running work from blocking the event loop. The caller splits the work into small steps and awaits
 * `yieldNow` if `isDue`.
 */
export class Yielder {
  private since = performance.now()

  /** True if more than 5 ms have passed since the last `yieldNow`. */
  get isDue(): boolean {
    return performance.now() - this.since > SLICE_MS
  }

  async yieldNow(): Promise<void> {
    await Bun.sleep(0)
    this.since = performance.now()
  }
}
