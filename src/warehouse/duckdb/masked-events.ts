import { randomUUID } from 'node:crypto'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { EVENT_COLUMNS, type StoredEvent } from '../../core/event.ts'
import { wholeEvent } from '../dialect.ts'
import { Binder, type Masking } from '../query.ts'
import { type CountScope, type CountSources, countsRelation } from './counts-rollup.ts'
import { duckdbDialect, quoteText } from './duckdb-dialect.ts'
import { eventsRelation, type Scope, type Sources, wholeEventsBranch } from './events-relation.ts'
import type { ParquetFiles, Reader } from './parquet-files.ts'
import { PARAMS, VIOLATED } from './spool-relation.ts'

interface MaskedEventsDeps {
  parquet: ParquetFiles
  reader: Reader
  signals: readonly AbortSignal[]
  /** Disposed after the query ends. */
  cleanup: AsyncDisposableStack
}

/** Maximum number of masked events per write. */
const LINES_AT_ONCE = 500
const COLUMNS = Object.keys(EVENT_COLUMNS).join(', ')

/**
 * Returns the relation `events`, in which each event affected by masking is replaced with its masked copy. The copies
 * are in a temporary file that belongs to this query. Events that arrive in the meantime are excluded, because they
 * have no copy.
 */
export async function maskedEvents(
  sources: Sources,
  scope: Scope,
  masking: Masking,
  { parquet, reader, signals, cleanup }: MaskedEventsDeps,
): Promise<string> {
  const { orgId, window } = scope
  const run = <T>(sql: string, asked: Omit<Scope, 'orgId' | 'window'>, more: object = {}) => {
    const relation = eventsRelation(sources, { ...asked, orgId, window })
    return parquet.read<T>(reader, `WITH events AS NOT MATERIALIZED (${relation})\n${sql}`, { signals, ...more })
  }
  const [newest] = await run<{ seq: number | null }>('SELECT max(seq) AS seq FROM events', {})
  const last = newest?.seq ?? 0
  const path = join(parquet.folder, 'tmp', `masked-${randomUUID()}.ndjson`)
  const file = await open(path, 'wx', 0o600)
  const copies = new Copies(file)
  cleanup.defer(async () => {
    await file.close()
    await rm(path, { force: true })
  })
  const binder = new Binder(duckdbDialect)
  const statement = { ...masking.candidates(binder), wholeParams: true }
  const read = (event: StoredEvent) => {
    const masked = masking.mask(event)
    if (JSON.stringify(masked) !== JSON.stringify(event)) copies.add(masked)
    return null
  }
  await run(`SELECT ${wholeEvent(duckdbDialect)} FROM events WHERE seq <= ${last}`, statement, {
    params: binder.params,
    read,
  })
  const written = await copies.end()
  // Tests on the text of all parameters are dropped, because they would use the unmasked text.
  const { either: _, ...asked } = scope
  const stored = `SELECT * FROM (${eventsRelation(sources, asked)}) WHERE seq <= ${last}`
  if (written === 0) return stored
  const seqs = `SELECT seq FROM read_json([${quoteText(path)}], format = 'newline_delimited', columns = {seq: 'BIGINT'})`
  return `${stored} AND seq NOT IN (${seqs})\nUNION ALL\n${wholeEventsBranch(copiesIn(path), asked)}`
}

function copiesIn(path: string): string {
  const types = Object.entries({ ...EVENT_COLUMNS, params: PARAMS }).map(
    ([name, type]) => `${name}: ${quoteText(type)}`,
  )
  const lines = `read_json([${quoteText(path)}], format = 'newline_delimited', columns = {${types.join(', ')}})`
  return `(SELECT ${COLUMNS}, violations IS NOT NULL AS ${VIOLATED}, params FROM ${lines})`
}

/** Writes masked events as lines of JSON, in order. */
class Copies {
  private lines: string[] = []
  private writing: Promise<unknown> = Promise.resolve()
  private count = 0

  constructor(private readonly file: FileHandle) {}

  add({ segments, ...event }: StoredEvent): void {
    this.count++
    if (this.lines.push(`${JSON.stringify({ ...event, ...segments })}\n`) >= LINES_AT_ONCE) this.write()
  }

  /** Resolves to the number of lines once all are written. */
  async end(): Promise<number> {
    this.write()
    await this.writing
    return this.count
  }

  private write(): void {
    const text = this.lines.join('')
    this.lines = []
    this.writing = this.writing.then(() => this.file.appendFile(text))
    // `end` reports failures.
    this.writing.catch(() => {})
  }
}

/** Returns the relation `counts` with masked vendor and event names. */
export async function maskedCounts(
  sources: CountSources,
  scope: CountScope,
  masking: Masking,
  { parquet, reader, signals }: MaskedEventsDeps,
): Promise<string> {
  const relation = countsRelation(sources, scope)
  const masked = async (field: 'vendor' | 'event') => {
    const sql = `WITH counts AS NOT MATERIALIZED (${relation})\nSELECT DISTINCT ${field} AS name FROM counts`
    const names = await parquet.read<{ name: string }>(reader, sql, { signals })
    const changed = names.flatMap(({ name }) => {
      const shown = masking.maskName(name, field)
      return shown === name ? [] : [`WHEN ${quoteText(name)} THEN ${quoteText(shown)}`]
    })
    return changed.length > 0 ? [`CASE ${field} ${changed.join(' ')} ELSE ${field} END AS ${field}`] : []
  }
  const replaced = [...(await masked('vendor')), ...(await masked('event'))]
  return replaced.length > 0 ? `SELECT * REPLACE (${replaced.join(', ')}) FROM (${relation})` : relation
}
