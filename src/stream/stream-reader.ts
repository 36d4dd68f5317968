import type { ChangeLog } from './change-stream-log.ts'

/** Maximum number of events per chunk. */
const MAX_CHUNK_EVENTS = 200

/** Delay before a client reconnects. */
const RETRY_MS = 1000

const encoder = new TextEncoder()

/**
 * A client's stream. It stores only its position in the log, and looks events up when the client reads the next chunk,
 * so an idle client costs nothing. If the log no longer contains its position, the client receives `reset`.
 */
export class StreamReader {
  readonly stream: ReadableStream<Uint8Array>
  private isPulseDue = true
  private isEnded = false
  private isStarted = false
  private wakeUp: (() => void) | null = null
  private close = () => {}

  /**
   * @param position sequence number after which the stream starts; null to send `reset` first
   * @param pulse returns the data of a `pulse` event as JSON
   * @param onEnd called once, when the stream has ended or the client has disconnected
   */
  constructor(
    private readonly log: ChangeLog,
    private position: number | null,
    private readonly pulse: () => string,
    private readonly onEnd: () => void,
  ) {
    this.stream = new ReadableStream(
      {
        start: (controller) => {
          this.close = () => controller.close()
        },
        pull: async (controller) => {
          const chunk = await this.next()
          if (!this.isEnded) controller.enqueue(encoder.encode(chunk))
        },
        cancel: () => {
          this.close = () => {}
          this.end()
        },
      },
      // Chunks are created only on demand.
      { highWaterMark: 0 },
    )
  }

  /** Must be called when there are new events. */
  wake(): void {
    this.wakeUp?.()
    this.wakeUp = null
  }

  /** Requests that a pulse be sent. */
  requestPulse(): void {
    this.isPulseDue = true
    this.wake()
  }

  /** Ends the stream. Idempotent. */
  end(): void {
    if (this.isEnded) return
    this.isEnded = true
    this.close()
    this.onEnd()
    this.wake()
  }

  /** Resolves to the next chunk as soon as there is one, or to an empty string when the stream has ended. */
  private async next(): Promise<string> {
    for (;;) {
      const chunk = this.isEnded ? '' : this.take()
      if (this.isEnded) return ''
      if (chunk !== '') return chunk
      await new Promise<void>((resolve) => {
        this.wakeUp = resolve
      })
    }
  }

  private take(): string {
    let chunk = this.isStarted ? '' : `retry: ${RETRY_MS}\n\n`
    this.isStarted = true
    const events = this.position === null ? null : this.log.after(this.position, MAX_CHUNK_EVENTS)
    for (const { seq, kind, data } of events ?? []) chunk += this.framed(seq, kind, data)
    if (!events) chunk += this.framed(this.log.last, 'reset', '{}')
    this.position = events ? (events.at(-1)?.seq ?? this.position) : this.log.last
    if (!this.isPulseDue) return chunk
    this.isPulseDue = false
    return chunk + this.framed(this.position ?? 0, 'pulse', this.pulse())
  }

  /** Returns an event in the format of https://html.spec.whatwg.org/multipage/server-sent-events.html */
  private framed(seq: number, kind: string, data: string): string {
    return `id: ${this.log.idOf(seq)}\nevent: ${kind}\ndata: ${data}\n\n`
  }
}
