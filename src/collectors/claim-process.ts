import type { Subprocess } from 'bun'
import { workerEnv } from '../core/child-env.ts'
import type { Instant } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { programCommand } from '../core/program-command.ts'
import { type Claim, ClaimStore } from './claim-store.ts'

/** Message to the process. Hashes are decimal, because JSON has no 64-bit integers. */
interface Request {
  number: number
  segment: string
  hashes: readonly string[]
  now: Instant
}

/** The response: hashes that belong to other segments, or the message of an error. */
type Response = { number: number; taken: string[] } | { number: number; error: string }

const RETRY_AFTER_S = 5

/**
 * The claims of collectors, in a separate process: a large claim takes longer than requests may hold the event loop.
 * Started on demand. It exits with the server, because the pipe between them closes.
 */
export class ClaimProcess {
  private child: Subprocess | null = null
  private readonly pending = new Map<number, PromiseWithResolvers<bigint[]>>()
  private number = 0

  /** @param path file of the claims */
  constructor(private readonly path: string) {}

  /** Like `ClaimStore.claim`. Throws `unavailable` when the process exits or can't write; the claim can be repeated. */
  claim({ segment, hashes }: Claim, now: Instant): Promise<bigint[]> {
    this.child ??= this.start()
    const answer = Promise.withResolvers<bigint[]>()
    const number = ++this.number
    this.pending.set(number, answer)
    this.child.send({ number, segment, hashes: hashes.map(String), now } satisfies Request)
    return answer.promise
  }

  /** Terminates the process. Pending claims fail. */
  close(): void {
    this.child?.kill('SIGKILL')
    this.ended()
  }

  private start(): Subprocess {
    const child = Bun.spawn([...programCommand(), 'claims', this.path], {
      env: workerEnv(),
      stdio: ['ignore', 'ignore', 'inherit'],
      ipc: (message) => this.answered(message as Response),
      onExit: (exited) => {
        if (exited === this.child) this.ended()
      },
    })
    child.unref()
    return child
  }

  private answered(response: Response): void {
    const waiting = this.pending.get(response.number)
    this.pending.delete(response.number)
    if ('taken' in response) waiting?.resolve(response.taken.map(BigInt))
    else waiting?.reject(unavailable(response.error))
  }

  private ended(): void {
    this.child = null
    for (const { reject } of this.pending.values()) reject(unavailable('the process exited'))
    this.pending.clear()
  }
}

function unavailable(reason: string): AppError {
  return new AppError('unavailable', `batches can't be claimed: ${reason}`, RETRY_AFTER_S)
}

/** Runs in the child process: answers claims, and exits when the pipe closes. */
export function answerClaims(path: string): Promise<never> {
  const store = new ClaimStore(path)
  process.on('message', ({ number, segment, hashes, now }: Request) => {
    process.send?.(answerTo(() => store.claim({ segment, hashes: hashes.map(BigInt) }, now), number))
  })
  process.once('disconnect', () => process.exit())
  return new Promise(() => {})
}

function answerTo(claim: () => bigint[], number: number): Response {
  try {
    return { number, taken: claim().map(String) }
  } catch (error) {
    // For example, the disk is full.
    return { number, error: String((error as { code?: unknown } | null)?.code ?? 'unknown error') }
  }
}
