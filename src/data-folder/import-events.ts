import { createWriteStream } from 'node:fs'
import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { rescanReleases } from '../changes/detect-releases.ts'
import { resetConsentCounts } from '../compliance/consent-store.ts'
import type { Instant } from '../core/clock.ts'
import { AppError, messageOf } from '../core/error.ts'
import { bytesOf, type FileLine, linesIn, MAX_LINE_BYTES } from '../core/line-reader.ts'
import { importDomains } from '../domains/domain-directory.ts'
import { type ImportRules, readLine } from '../ingest/import-line.ts'
import { isImported, recordImport } from '../ingest/import-store.ts'
import type { LedgerRecord } from '../ingest/record-segment.ts'
import type { Db } from '../store/database.ts'
import type { EventImport } from '../warehouse/event-import.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'

/** A line or row that was rejected. */
interface ImportError {
  file: string
  /** Starts at 1. */
  line: number
  error: string
}

/** Result of an import. */
export interface Imported {
  imported: number
  refused: number
  /** The first rejected lines, at most 20. */
  errors: ImportError[]
}

export interface ImportOptions {
  files: readonly string[]
  /** Domain for all events; null if each event specifies its own domain. */
  domainId: string | null
  /** Only events with `from <= receivedAt <= now` are imported. */
  from: Instant
  now: Instant
  /** Called with the fraction of a file that has been completed, 0 to 1. */
  progress(file: string, done: number): void
}

export interface ImportDeps {
  db: Db
  warehouse: Pick<Warehouse, 'importEvents'>
}

const MAX_ERRORS = 20
/** Approximate size of each file that passes parsed events to the warehouse. */
const DRAFT_BYTES = 64 * 1024 * 1024
const WRITE_AT_ONCE = 512 * 1024
/**
 * Fractions completed after a file has been hashed and after it has been read. Storing its events accounts for the
 * remainder.
 */
const [HASHED, READ] = [0.05, 0.5]

/** True if the file name has an extension of a supported format. */
export const isImportable = (file: string) => isParquet(file) || /\.(?:ndjson|jsonl)(?:\.gz)?$/.test(file)
const isParquet = (file: string) => file.endsWith('.parquet')

/**
 * Imports past events into the history, with one transaction per file. If a file's content was already imported for the
 * same domain, the file is skipped. Throws `invalid` if a file is unreadable; files that were already imported remain
 * imported.
 */
export async function importEvents(parts: ImportDeps, order: ImportOptions): Promise<Imported> {
  const rules: ImportRules = {
    domains: importDomains(parts.db),
    domainId: order.domainId,
    from: order.from,
    to: order.now,
  }
  const result: Imported = { imported: 0, refused: 0, errors: [] }
  for (const file of order.files) {
    const one = await new FileImport(parts, order, rules, file).run()
    result.imported += one.imported
    result.refused += one.refused
    result.errors = [...result.errors, ...one.errors].slice(0, MAX_ERRORS)
  }
  return result
}

const NOTHING: Imported = { imported: 0, refused: 0, errors: [] }

class FileImport {
  private readonly notes = new Map<string, LedgerRecord>()
  private readonly errors: ImportError[] = []
  private refused = 0

  constructor(
    private readonly parts: ImportDeps,
    private readonly order: ImportOptions,
    private readonly rules: ImportRules,
    private readonly file: string,
  ) {}

  async run(): Promise<Imported> {
    const { db, warehouse } = this.parts
    const content = await this.hash()
    const named = { content, domainId: this.order.domainId ?? '' }
    if (isImported(db, named)) return NOTHING
    // Importing the same content for another domain is a separate import with separate files.
    const name = Bun.hash(`${content} ${named.domainId}`).toString(16).padStart(16, '0')
    const events = warehouse.importEvents(name)
    try {
      await this.take(events)
      const notes = [...this.notes.values()]
      if (events.events === 0) return { imported: 0, refused: this.refused, errors: this.errors }
      await events.store(
        (content, spans) => {
          recordImport(db, { ...named, events: events.events }, { content, spans, notes }, this.order.now)
          rescanReleases(db)
          resetConsentCounts(db)
        },
        (done) => this.progress(READ + (1 - READ) * done),
      )
      return { imported: events.events, refused: this.refused, errors: this.errors }
    } finally {
      await events.close()
    }
  }

  private progress(done: number): void {
    this.order.progress(this.file, done)
  }

  private async hash(): Promise<string> {
    const hasher = new Bun.CryptoHasher('sha256')
    try {
      const { size } = await stat(this.file)
      let seen = 0
      const read = (bytes: number) => {
        seen += bytes
        this.progress((HASHED * seen) / size)
      }
      for await (const part of bytesOf(this.file, read)) hasher.update(part)
    } catch (error) {
      // Errors from the file system or gzip have a `code`.
      if (typeof (error as { code?: unknown }).code !== 'string') throw error
      throw new AppError('invalid', `${this.file} can't be read: ${messageOf(error)}`)
    }
    return hasher.digest('hex')
  }

  private async take(events: EventImport): Promise<void> {
    if (!isParquet(this.file)) {
      const { size } = await stat(this.file)
      let seen = 0
      const read = (bytes: number) => {
        seen += bytes
        this.progress(HASHED + ((READ - HASHED) * seen) / size)
      }
      return this.takeLines(events, linesIn(bytesOf(this.file, read)), (text, row) => ({
        row,
        value: JSON.parse(text),
      }))
    }
    const { others } = await events.takeParquet(this.file, this.rules)
    if (others === null) return
    try {
      await this.takeLines(events, linesIn(bytesOf(others)), rowOf)
    } finally {
      await rm(others, { force: true })
    }
  }

  private async takeLines(
    events: EventImport,
    lines: AsyncIterable<FileLine>,
    parse: (text: string, row: number) => { row: number; value: unknown },
  ): Promise<void> {
    const draft = new Draft(events.draftFolder, (path) => events.takeLines(path))
    for await (const { row, text } of lines) {
      if (text === null) {
        this.refuse(row, `is longer than ${MAX_LINE_BYTES} bytes`)
        continue
      }
      const line = this.read(text, row, parse)
      if (line !== null) await draft.add(line)
    }
    await draft.end()
  }

  /** Returns the staged line for an event; null if the event was rejected. */
  private read(
    text: string,
    at: number,
    parse: (text: string, row: number) => { row: number; value: unknown },
  ): string | null {
    let parsed: { row: number; value: unknown }
    try {
      parsed = parse(text, at)
    } catch {
      this.refuse(at, 'is not valid JSON')
      return null
    }
    const { row, value } = parsed
    const read = readLine(value, row, this.rules)
    if (read.error !== null) {
      this.refuse(row, read.error)
      return null
    }
    for (const reason of read.changes) this.note(reason, read.event)
    return JSON.stringify(read.event)
  }

  private refuse(line: number, error: string): void {
    this.refused++
    // Rows that were not accepted by SQL arrive in any order.
    if (this.errors.length === MAX_ERRORS && (this.errors.at(-1)?.line ?? 0) < line) return
    this.errors.push({ file: this.file, line, error })
    this.errors.sort((a, b) => a.line - b.line)
    this.errors.splice(MAX_ERRORS)
  }

  private note(
    reason: string,
    event: { orgId: string; domainId: string; receivedAt: Instant; vendor: string; event: string },
  ) {
    const { orgId, domainId, receivedAt } = event
    const key = `${domainId} ${reason}`
    const known = this.notes.get(key)
    const count = (known?.ledger[0]?.count ?? 0) + 1
    const sample = `${event.vendor} ${event.event}`
    const at = Math.max(receivedAt, known?.receivedAt ?? 0)
    this.notes.set(key, { orgId, domainId, receivedAt: at, ledger: [{ reason, count, sample }] })
  }
}

/** Parses a row that was not accepted by SQL, and returns its number and its content as a line. */
function rowOf(text: string): { row: number; value: unknown } {
  const { row, line } = JSON.parse(text) as { row: number; line: Record<string, unknown> }
  return { row, value: { ...line, params: paramsOf(line.params) } }
}

/** Parses parameters that are JSON text. Other text is returned unchanged and rejected later. */
function paramsOf(params: unknown): unknown {
  if (typeof params !== 'string') return params
  try {
    return JSON.parse(params)
  } catch {
    return params
  }
}

/** Collects lines in files, and passes on each file once it is large enough. */
class Draft {
  private files = 0
  private bytes = 0
  private waiting: string[] = []
  private waitingBytes = 0
  private out: ReturnType<typeof createWriteStream> | null = null

  constructor(
    private readonly folder: string,
    private readonly handOn: (path: string) => Promise<void>,
  ) {}

  async add(line: string): Promise<void> {
    this.waiting.push(line)
    this.waitingBytes += line.length
    if (this.waitingBytes < WRITE_AT_ONCE) return
    await this.write()
    if (this.bytes >= DRAFT_BYTES) await this.end()
  }

  async end(): Promise<void> {
    await this.write()
    const { out } = this
    if (!out) return
    await new Promise<void>((done, failed) => out.on('error', failed).end(done))
    this.out = null
    this.bytes = 0
    await this.handOn(String(out.path))
  }

  private async write(): Promise<void> {
    if (this.waiting.length === 0) return
    this.out ??= createWriteStream(join(this.folder, `import-lines-${this.files++}.ndjson`))
    const { out } = this
    const text = `${this.waiting.join('\n')}\n`
    this.bytes += this.waitingBytes
    this.waiting = []
    this.waitingBytes = 0
    await new Promise<void>((done, failed) => out.write(text, (error) => (error ? failed(error) : done())))
  }
}
