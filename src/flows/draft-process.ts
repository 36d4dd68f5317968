import { setPriority } from 'node:os'
import { ArchiveError, type ArchiveLimits, readHarArchive } from '../browser/har-archive.ts'
import { memoryOfProcess } from '../browser/process-memory.ts'
import { type Privacy, privacyFrom } from '../conditions/privacy-settings.ts'
import { workerEnv } from '../core/child-env.ts'
import { SECOND_MS } from '../core/clock.ts'
import { AppError, type ErrorCode } from '../core/error.ts'
import { FairQueue } from '../core/fair-queue.ts'
import { isJsonObject } from '../core/parse-json-object.ts'
import { programCommand } from '../core/program-command.ts'
import { parser } from '../core/schema.ts'
import { checkJson, parseJson } from '../http/json-body.ts'
import { type Draft, draftOf, draftOfRecording, sightingsOfHar } from './draft.ts'
import { type DraftInput, DraftInputSchema } from './draft-input.ts'

/** The settings read by `privacyFrom`. */
type PrivacySettings = Parameters<typeof privacyFrom>[0]

/**
 * Maximum size in bytes of a body that the server process parses itself. A small body may contain a session id instead
 * of a HAR.
 */
const SMALL_BYTES = 64 * 1024
const LIMIT_MS = 30 * SECOND_MS
const MEMORY_BYTES = 2 ** 30
const LOOK_EVERY_MS = 100
const NICENESS = 10
const PIECE_BYTES = 256 * 1024
/** Maximum number of concurrent processes. Each organization may use one at a time. */
const AT_ONCE = 2
/** Maximum number of waiting requests per organization. */
const WAITING = 3
/** Maximum number of waiting requests in total. */
const ALL_WAITING = 20

const readInput = parser(DraftInputSchema)

/** The same limits as for a HAR sent as JSON. */
const ARCHIVE: ArchiveLimits = { harBytes: 32 * 1024 * 1024, attachmentBytes: 32 * 1024 * 1024, entries: 20_000 }

/**
 * Returns the parsed body. Throws `invalid` for the same reasons as for other JSON bodies, but allows NUL characters
 * and lone surrogates in the HAR, because recorders use them for binary bodies.
 */
export function draftInputOf(body: Uint8Array): DraftInput {
  const value = parseJson(new TextDecoder().decode(body))
  checkJson(isJsonObject(value) ? { ...value, har: undefined } : value)
  const input = readInput(value) as DraftInput
  if (Object.keys(input).length !== 1) {
    throw new AppError('invalid', 'sessionId: exactly one of sessionId, har, harZip and recording is required')
  }
  return input
}

async function draftOfArchive(text: string, privacy: Privacy): Promise<Draft> {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text)) throw new AppError('invalid', 'harZip: must be base64')
  try {
    const { value, attachmentOf } = await readHarArchive(Buffer.from(text, 'base64'), ARCHIVE)
    return draftOf(sightingsOfHar(value, 'harZip', attachmentOf), 'harZip', privacy)
  } catch (error) {
    if (error instanceof ArchiveError) throw new AppError('invalid', `harZip: ${error.message}`)
    throw error
  }
}

/** Message that the child process writes to its standard output. */
type Answer = { draft: Draft } | { error: { code: ErrorCode; message: string } }

/**
 * Reads HARs in separate processes, because a large HAR takes seconds and hundreds of megabytes, and even a small one
 * may contain large compressed bodies.
 */
export class DraftProcesses {
  private readonly queue = new FairQueue(AT_ONCE, ALL_WAITING)

  constructor(private readonly limits: { command?: string[]; limitMs?: number; memoryBytes?: number } = {}) {}

  /** Returns whether a body must be parsed in a separate process because of its size. */
  takes(body: Uint8Array): boolean {
    return body.length > SMALL_BYTES
  }

  /**
   * Returns the draft for the HAR in a body. Throws `invalid` when the body is not a HAR, `tooLarge` when reading the
   * HAR takes more than 30 s or 1 GiB, and `rateLimited` when the organization has too many waiting requests.
   */
  draft(
    body: Uint8Array,
    { orgId, privacy, signal }: { orgId: string; privacy: PrivacySettings; signal: AbortSignal },
  ): Promise<Draft> {
    const shares = [{ name: orgId, maxRunning: 1, maxWaiting: WAITING }]
    return this.queue.run(() => this.inProcess(body, privacy, signal), { shares, signal })
  }

  private async inProcess(body: Uint8Array, privacy: PrivacySettings, signal: AbortSignal): Promise<Draft> {
    const { command = programCommand(), limitMs = LIMIT_MS, memoryBytes = MEMORY_BYTES } = this.limits
    const child = Bun.spawn([...command, 'draft'], {
      env: workerEnv(),
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    // Writing fails when the process has exited. Its exit code then shows the reason.
    void feed(child.stdin, [new TextEncoder().encode(`${JSON.stringify(privacy)}\n`), body]).catch(() => undefined)
    let exceeded: string | null = null
    const stop = (limit: string) => {
      exceeded ??= limit
      child.kill('SIGKILL')
    }
    const limit = setTimeout(() => stop(`${limitMs / SECOND_MS} s`), limitMs)
    const watch = setInterval(() => {
      if (memoryOfProcess(child.pid) > memoryBytes) stop(`${memoryBytes / 2 ** 20} MiB of memory`)
    }, LOOK_EVERY_MS)
    const abort = () => child.kill('SIGKILL')
    signal.addEventListener('abort', abort, { once: true })
    try {
      const text = await new Response(child.stdout).text()
      const code = await child.exited
      if (exceeded !== null) throw new AppError('tooLarge', `har: reading it takes more than ${exceeded}`)
      if (signal.aborted) throw new AppError('unavailable', 'the request was cancelled')
      if (code !== 0) throw new Error(`the process that drafts a flow test ended with exit code ${code}`)
      const answer: Answer = JSON.parse(text)
      if ('error' in answer) throw new AppError(answer.error.code, answer.error.message)
      return answer.draft
    } finally {
      clearTimeout(limit)
      clearInterval(watch)
      signal.removeEventListener('abort', abort)
      child.kill('SIGKILL')
    }
  }
}

/** Writes to a process in pieces, because writing 32 MiB at once would block the event loop for 50 ms. */
async function feed(stdin: Bun.FileSink, parts: readonly Uint8Array[]): Promise<void> {
  for (const part of parts) {
    for (let at = 0; at < part.length; at += PIECE_BYTES) {
      await stdin.write(part.subarray(at, at + PIECE_BYTES))
      await stdin.flush()
    }
  }
  await stdin.end()
}

/** Entry point of the child process. It reads one body, writes the result, and exits. */
export async function draftForParent(): Promise<void> {
  setPriority(NICENESS)
  const input = new Uint8Array(await Bun.stdin.arrayBuffer())
  const end = input.indexOf('\n'.charCodeAt(0))
  const privacy: PrivacySettings = JSON.parse(new TextDecoder().decode(input.subarray(0, end)))
  await Bun.write(Bun.stdout, JSON.stringify(await answerTo(input.subarray(end + 1), privacy)))
}

async function answerTo(body: Uint8Array, privacy: PrivacySettings): Promise<Answer> {
  try {
    const { har, harZip, recording } = draftInputOf(body)
    if (recording !== undefined) return { draft: draftOfRecording(recording) }
    const own = privacyFrom(privacy)
    if (harZip !== undefined) return { draft: await draftOfArchive(harZip, own) }
    return { draft: draftOf(sightingsOfHar(har, 'har'), 'har', own) }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return { error: { code: error.code, message: error.message } }
  }
}
