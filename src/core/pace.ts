/** Others, such as the collector, wait no longer than this for their turn. */
const TURN_MS = 5

/** Keeps long work from holding up everything else: it is done in small pieces, with `rest` in between where it is due. */
export class Pace {
  private since = performance.now()

  /** True when the pieces since the last rest took long. */
  get isDue(): boolean {
    return performance.now() - this.since > TURN_MS
  }

  /** Lets others have their turn. */
  async rest(): Promise<void> {
    await Bun.sleep(0)
    this.since = performance.now()
  }
}
