import type { ChangeLog } from './change-log.ts'

/** The most events in one piece. */
const AT_ONCE = 200

/** How long a client waits before it connects again. */
const RETRY_MS = 1000

const encoder = new TextEncoder()

/**
 * One stream. It holds no events, only its place in the log: what to send is looked up when its caller takes the next
 * piece, so a caller who takes none costs nothing, and is told to begin anew when the log has lost its place.
 */
export class StreamReader {
  readonly stream: ReadableStream<Uint8Array>
  private isPulseDue = true
  private isEnded = false
  private isGreeted = false
  private awaken: (() => void) | null = null
  private close = () => {}

  /**
   * @param place number of the event behind which it begins; null: its caller has to begin anew
   * @param pulse returns the data of a pulse, as JSON
   * @param left called once, when the stream ended or its caller left
   */
  constructor(
    private readonly log: ChangeLog,
    private place: number | null,
    private readonly pulse: () => string,
    private readonly left: () => void,
  ) {
    this.stream = new ReadableStream(
      {
        start: (controller) => {
          this.close = () => controller.close()
        },
        pull: async (controller) => {
          const piece = await this.next()
          if (!this.isEnded) controller.enqueue(encoder.encode(piece))
        },
        cancel: () => {
          this.close = () => {}
          this.end()
        },
      },
      // Nothing is made before it is asked for.
      { highWaterMark: 0 },
    )
  }

  /** There are new events. */
  wake(): void {
    this.awaken?.()
    this.awaken = null
  }

  /** A pulse is to be sent. */
  beat(): void {
    this.isPulseDue = true
    this.wake()
  }

  /** Ends the stream; may be called twice. */
  end(): void {
    if (this.isEnded) return
    this.isEnded = true
    this.close()
    this.left()
    this.wake()
  }

  /** Resolves to the next piece when there is one; to an empty text at the end. */
  private async next(): Promise<string> {
    for (;;) {
      const piece = this.isEnded ? '' : this.take()
      if (this.isEnded) return ''
      if (piece !== '') return piece
      await new Promise<void>((resolve) => {
        this.awaken = resolve
      })
    }
  }

  private take(): string {
    let piece = this.isGreeted ? '' : `retry: ${RETRY_MS}\n\n`
    this.isGreeted = true
    const events = this.place === null ? null : this.log.after(this.place, AT_ONCE)
    for (const { seq, kind, data } of events ?? []) piece += this.framed(seq, kind, data)
    if (!events) piece += this.framed(this.log.last, 'reset', '{}')
    this.place = events ? (events.at(-1)?.seq ?? this.place) : this.log.last
    if (!this.isPulseDue) return piece
    this.isPulseDue = false
    return piece + this.framed(this.place ?? 0, 'pulse', this.pulse())
  }

  /** https://html.spec.whatwg.org/multipage/server-sent-events.html */
  private framed(seq: number, kind: string, data: string): string {
    return `id: ${this.log.idOf(seq)}\nevent: ${kind}\ndata: ${data}\n\n`
  }
}
