import {
  type ClaimAnswer,
  CONTROL_PATH,
  type CollectorStatus,
  type Commit,
  MAX_CLAIM,
  type Report,
  type SegmentSpan,
  type SyncAnswer,
} from '../collectors/protocol.ts'
import type { FeedPosition } from '../collectors/row-feed.ts'
import { AppError } from '../core/error.ts'
import type { Transport } from '../transport/transport.ts'

/** Maximum size of an answer: a page of rows with the largest rules. */
const MAX_ANSWER_BYTES = 256 * 1024 * 1024
const TIMEOUT_MS = 30_000

export interface ControlClientDeps {
  /** URL of the control node, without a trailing slash. */
  url: string
  token: string
  transport: Transport
  /** Aborts running requests. */
  stopping: AbortSignal
}

/** A segment whose events are about to be inserted. */
interface SegmentClaim {
  instance: string
  epoch: number
  segment: string
  span: SegmentSpan
  hashes: readonly bigint[]
}

/** Requests of a collector to its control node. They fail with `unavailable` when they can be repeated. */
export class ControlClient {
  constructor(private readonly deps: ControlClientDeps) {}

  /** Reports the collector's status and observations, and returns rows that have changed since a position. */
  sync(request: FeedPosition & { status: CollectorStatus; report?: Report }): Promise<SyncAnswer> {
    return this.post('sync', request)
  }

  /** Returns the hashes of batches that belong to segments of other collectors. */
  async claim({ hashes, ...segment }: SegmentClaim): Promise<Set<bigint>> {
    const taken = new Set<bigint>()
    // A segment without hashes is announced as well, because it may be late.
    for (let at = 0; at === 0 || at < hashes.length; at += MAX_CLAIM) {
      const some = hashes.slice(at, at + MAX_CLAIM).map(String)
      const answer = await this.post<ClaimAnswer>('claim', { ...segment, hashes: some })
      for (const hash of answer.taken) taken.add(BigInt(hash))
    }
    return taken
  }

  /** Records a stored segment. Has no effect if it is recorded already. */
  async commit(commit: Commit): Promise<void> {
    await this.post('commit', commit)
  }

  private async post<T>(name: string, body: unknown): Promise<T> {
    const { url, token, transport, stopping } = this.deps
    const reply = await transport.send(
      {
        kind: 'http',
        url: `${url}${CONTROL_PATH}${name}`,
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
        maxAnswerBytes: MAX_ANSWER_BYTES,
        timeoutMs: TIMEOUT_MS,
      },
      stopping,
    )
    if (reply.kind === 'error') throw new AppError('unavailable', `the control node can't be reached: ${reply.message}`)
    if (reply.status === 200) return parsed(reply.body)
    const reason = `the control node answered ${reply.status}: ${errorIn(reply.body)}`
    throw new AppError(CODES[reply.status] ?? 'unavailable', reason)
  }
}

/** Codes for statuses with which the same request is answered again. `upstream`: the request itself is at fault. */
const CODES: Readonly<Record<number, AppError['code']>> = {
  400: 'upstream',
  401: 'unauthorized',
  409: 'conflict',
  413: 'upstream',
}

/** Proxies can answer 200 with an HTML page. */
function parsed<T>(body: string): T {
  try {
    return JSON.parse(body) as T
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new AppError('unavailable', 'the control node answered with something other than JSON')
  }
}

function errorIn(body: string): string {
  try {
    return String((JSON.parse(body) as { error?: unknown }).error ?? 'no reason')
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return 'no reason'
  }
}
