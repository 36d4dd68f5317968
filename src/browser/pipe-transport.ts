import type { Readable, Writable } from 'node:stream'
import type { ConnectionTransport } from 'puppeteer-core'

const END = 0
const ATTACHED = '{"method":"Target.attachedToTarget"'

/** Communicates with Chromium over two pipes. Messages are in UTF-8, and each one ends with a zero byte. */
export class PipeTransport implements ConnectionTransport {
  onmessage?: (message: string) => void
  onclose?: () => void
  /**
   * Ids of the sessions whose targets (new tabs, frames and workers) were waiting for the debugger when they were
   * attached.
   */
  readonly waiting = new Set<string>()
  private readonly newTabs = new Set<string>()
  /** The parts of an incomplete message that have been received so far. */
  private parts: Buffer[] = []
  private isClosed = false

  constructor(
    private readonly writer: Writable,
    reader: Readable,
  ) {
    reader.on('data', (chunk: Buffer) => this.take(chunk))
    for (const stream of [reader, writer]) {
      stream.on('error', () => this.end())
      stream.on('close', () => this.end())
    }
  }

  send(message: string): void {
    if (!this.isClosed) this.writer.write(`${message}\0`)
  }

  close(): void {
    this.writer.end()
    this.end()
  }

  private take(chunk: Buffer): void {
    let from = 0
    for (let end = chunk.indexOf(END); end !== -1; end = chunk.indexOf(END, from)) {
      const last = chunk.subarray(from, end)
      const message = this.parts.length === 0 ? last : Buffer.concat([...this.parts, last])
      this.parts = []
      from = end + 1
      // The effects of one message are processed before the next message is delivered.
      setImmediate(() => this.deliver(message.toString()))
    }
    if (from < chunk.length) this.parts.push(from === 0 ? chunk : chunk.subarray(from))
  }

  private deliver(message: string): void {
    if (message.startsWith(ATTACHED)) {
      const { params, sessionId: parent } = JSON.parse(message)
      // The page of a new tab is attached through the tab, and only the tab is reported as waiting for the debugger.
      if (params.waitingForDebugger || this.newTabs.delete(parent)) this.waiting.add(params.sessionId)
      if (params.waitingForDebugger && params.targetInfo.type === 'tab') this.newTabs.add(params.sessionId)
    }
    this.onmessage?.(message)
  }

  private end(): void {
    if (this.isClosed) return
    this.isClosed = true
    setImmediate(() => this.onclose?.())
  }
}
