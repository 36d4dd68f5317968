import type { Readable, Writable } from 'node:stream'
import type { ConnectionTransport } from 'puppeteer-core'

const END = 0
const ATTACHED = '{"method":"Target.attachedToTarget"'

/** Speaks with a Chromium over two pipes: messages in UTF-8, each ended by a byte 0. */
export class PipeTransport implements ConnectionTransport {
  onmessage?: (message: string) => void
  onclose?: () => void
  /** Ids of sessions with targets that waited for the debugger when they were attached: new tabs, frames and workers. */
  readonly waiting = new Set<string>()
  private readonly newTabs = new Set<string>()
  /** Of a message whose end has not come. */
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
      // What one message makes others wait for is done before the next one.
      setImmediate(() => this.deliver(message.toString()))
    }
    if (from < chunk.length) this.parts.push(from === 0 ? chunk : chunk.subarray(from))
  }

  private deliver(message: string): void {
    if (message.startsWith(ATTACHED)) {
      const { params, sessionId: parent } = JSON.parse(message)
      // The page of a new tab is attached by way of the tab, and only the tab is said to wait.
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
