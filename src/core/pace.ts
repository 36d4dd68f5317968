/** Long work blocks the event loop for no longer than this, so that requests are not delayed. */
const TURN_MS = 5

/**
 * Keeps long work from blocking the event loop: the caller splits it into small steps, and awaits `rest` when `isDue`.
 */
export class Pace {
  private since = performance.now()

  /** True when more than `TURN_MS` passed since the last `rest`. */
  get isDue(): boolean {
    return performance.now() - this.since > TURN_MS
  }

  /** Yields to the event loop. */
  async rest(): Promise<void> {
    await Bun.sleep(0)
    this.since = performance.now()
  }
}
