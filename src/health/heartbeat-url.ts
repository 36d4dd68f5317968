import { MINUTE_MS } from '../core/clock.ts'
import { SEND_TIMEOUT_MS, type Transport } from '../transport/transport.ts'

export interface HeartbeatUrlDeps {
  /** `TAGWARDEN_HEARTBEAT_URL`; empty if there is none. */
  url: string
  transport: Transport
  /** True if all checks succeed and the server may send. */
  isReady(): boolean
  stopping: AbortSignal
  warn(message: string): void
}

/**
 * Requests the heartbeat URL while the server is ready. The service behind the URL alerts the operator when the requests
 * stop: https://healthchecks.io/docs/http_api/
 */
export class HeartbeatUrl {
  private isFailing = false

  constructor(private readonly deps: HeartbeatUrlDeps) {}

  /** Must be called once a minute. Never throws: the first of consecutive failures is logged. */
  async call(): Promise<void> {
    const { url, transport, isReady, stopping, warn } = this.deps
    if (url === '' || !isReady()) return
    const outbound = { kind: 'http', method: 'GET', url, headers: {}, body: '', timeoutMs: TIMEOUT_MS } as const
    const reply = await transport.send(outbound, stopping)
    if (stopping.aborted) return
    const isOk = reply.kind === 'status' && reply.status >= 200 && reply.status < 300
    const reason = reply.kind === 'error' ? reply.message : `status ${reply.status}`
    if (!isOk && !this.isFailing) warn(`TAGWARDEN_HEARTBEAT_URL cannot be reached: ${reason}`)
    this.isFailing = !isOk
  }
}

/** The next call must not have to wait for this one. */
const TIMEOUT_MS = Math.min(SEND_TIMEOUT_MS, MINUTE_MS / 2)
