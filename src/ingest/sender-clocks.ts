import type { Metric } from '../core/metric.ts'

/** Number of the most recent batches whose clocks are compared. */
const MAX_BATCHES = 500
/** With fewer batches, a single sender with a wrong clock could decide the median. */
const MIN_BATCHES = 20

/** Clocks of the most recent senders, compared with the clock of the server. */
export class SenderClocks {
  private readonly offsets: number[] = []
  private next = 0

  /** @param offsetMs the sender's clock when it sent a batch, minus the server's clock when the batch arrived */
  add(offsetMs: number): void {
    this.offsets[this.next] = offsetMs
    this.next = (this.next + 1) % MAX_BATCHES
  }

  metrics(): Metric[] {
    const sorted = this.offsets.toSorted((a, b) => a - b)
    const median = sorted[Math.floor(sorted.length / 2)]
    return [
      {
        name: 'tagwarden_sender_clock_offset_seconds',
        type: 'gauge',
        help: `Median of the clocks of the last ${MAX_BATCHES} batches' senders, minus the clock of this server, in seconds. A large value means that the clock of this server is wrong. Absent before ${MIN_BATCHES} batches.`,
        samples: median === undefined || sorted.length < MIN_BATCHES ? [] : [{ labels: {}, value: median / 1000 }],
      },
    ]
  }
}
