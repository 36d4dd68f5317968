/** Long work blocks the event loop for at most this time. */
const SLICE_MS = 5

/** Keeps long work from blocking the event loop: the caller splits it into small steps and awaits `yieldNow` when `isDue`. */
export class Yielder {
  private since = performance.now()

  /** True when more than 5 ms have passed since the last `yieldNow`. */
  get isDue(): boolean {
    return performance.now() - this.since > SLICE_MS
  }

  async yieldNow(): Promise<void> {
    await Bun.sleep(0)
    this.since = performance.now()
  }
}
