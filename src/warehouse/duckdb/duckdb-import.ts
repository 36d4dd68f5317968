import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { HOUR_MS } from '../../core/clock.ts'
import { AppError, messageOf } from '../../core/error.ts'
import type { ImportRules } from '../../ingest/import-line.ts'
import type { ImportedSpan } from '../../ingest/import-store.ts'
import type { SegmentContent } from '../../ingest/segment-counts.ts'
import type { EventImport, ImportedRows } from '../event-import.ts'
import { quoteText } from './duckdb-dialect.ts'
import { countsFrom, foldedIn, nameEvents, type ProfileRow, profileOf } from './file-profile.ts'
import { HOUR, type StagedHour } from './import-batches.ts'
import type { ParquetFiles } from './parquet-files.ts'
import { type ColumnTypes, STAGED_COLUMNS, selectRows } from './select-import-rows.ts'
import { cutIntoFiles } from './write-import-files.ts'
import { cutIntoSegments, type ImportSegments } from './write-import-segments.ts'

/**
 * Staged files are read hour by hour, and small row groups avoid reading unnecessary rows. However, the metadata of
 * each group is kept in memory: 2,400 groups with ten million events took 500 MB.
 */
const STAGED = 'COMPRESSION lz4, ROW_GROUP_SIZE 16384, WRITE_BLOOM_FILTER false'
/** Maximum ratio of rows read to rows needed. If it is exceeded, the staged events are sorted first. */
const MAX_READ_RATIO = 6

/**
 * An import of past events. Staged events are stored in temporary files. If the process is killed, the next start
 * removes them.
 */
export class DuckdbImport implements EventImport {
  events = 0
  private staged: string[] = []
  private drafts = 0

  /**
   * @param name 16 hexadecimal digits that become part of file names
   * @param segments imports the events as segments for another engine; null to store them in files
   */
  constructor(
    private readonly parquet: ParquetFiles,
    private readonly name: string,
    private readonly segments: ImportSegments | null = null,
  ) {}

  get draftFolder(): string {
    return join(this.parquet.folder, 'tmp')
  }

  async takeParquet(path: string, rules: ImportRules): Promise<ImportedRows> {
    const { rows, types } = await this.describe(path)
    const { fine, others } = selectRows(path, types, rules)
    const taken = await this.stage(fine)
    if (taken === rows) return { rows, others: null }
    const lines = this.draft('ndjson')
    await this.run(`COPY (${others}) TO ${quoteText(lines)} (FORMAT json)`)
    return { rows, others: lines }
  }

  async takeLines(path: string): Promise<void> {
    const types = Object.entries(STAGED_COLUMNS).map(([name, type]) => `${name}: ${quoteText(type)}`)
    const columns = Object.keys(STAGED_COLUMNS).join(', ')
    await this.stage(
      `SELECT ${columns} FROM read_json(${quoteText(path)}, format = 'newline_delimited', columns = {${types.join(', ')}})`,
    )
    rmSync(path, { force: true })
  }

  async store(
    account: (content: SegmentContent, spans: readonly ImportedSpan[]) => void,
    progress: (done: number) => void,
  ): Promise<void> {
    const { manifest } = this.parquet
    // Staged files have thousands of row groups and are opened repeatedly.
    await this.run('SET parquet_metadata_cache = true')
    await this.sortIfScattered()
    const events = this.source()
    const naming = await nameEvents((sql) => this.run(sql), manifest.names, events)
    // The latest event is determined by `receivedAt`, because sequence numbers are assigned later.
    const found = await this.run<ProfileRow>(profileOf(`(SELECT *, receivedAt AS seq FROM ${events})`))
    const spans = await this.run<ImportedSpan>(
      `SELECT domainId, min(receivedAt) AS firstAt, max(receivedAt) AS lastAt FROM ${events} GROUP BY domainId`,
    )
    const counts = countsFrom(found)
    const content = { counts, vendors: naming.vendors, folded: foldedIn(counts, naming.overflows) }
    const parts = {
      parquet: this.parquet,
      name: this.name,
      events,
      hours: await this.hours(),
      crowds: naming.overflows,
    }
    const { segments } = this
    const cut = segments ? await cutIntoSegments(parts, segments, progress) : await cutIntoFiles(parts, progress)
    manifest.addImported({ ...cut, naming }, this.parquet.now, () => account(content, spans))
  }

  async close(): Promise<void> {
    for (let at = 0; at < this.drafts; at++) {
      for (const kind of ['parquet', 'ndjson'] as const) rmSync(this.pathOf(at, kind), { force: true })
    }
    this.staged = []
  }

  /** Reads the row count and column types of a Parquet file. */
  private async describe(path: string): Promise<{ rows: number; types: ColumnTypes }> {
    try {
      const columns = await this.run<{ column_name: string; column_type: string }>(
        `DESCRIBE SELECT * FROM read_parquet(${quoteText(path)})`,
      )
      const [file] = await this.run<{ rows: number }>(
        `SELECT num_rows AS rows FROM parquet_file_metadata(${quoteText(path)})`,
      )
      return { rows: file?.rows ?? 0, types: new Map(columns.map((one) => [one.column_name, one.column_type])) }
    } catch (error) {
      throw new AppError('invalid', `${path} can't be read as Parquet: ${messageOf(error).split('\n', 1)[0]}`)
    }
  }

  private async stage(select: string): Promise<number> {
    const path = this.draft('parquet')
    const [row] = await this.run<{ Count: number }>(
      `COPY (${select}) TO ${quoteText(path)} (FORMAT parquet, ${STAGED})`,
    )
    const count = row?.Count ?? 0
    if (count > 0) this.staged.push(path)
    this.events += count
    return count
  }

  /** Sorts the events by time, unless the events of each hour are already close together. */
  private async sortIfScattered(): Promise<void> {
    const files = this.staged.map(quoteText).join(', ')
    const [found] = await this.run<{ read: number; rows: number }>(
      `SELECT sum(rows * (last // ${HOUR_MS} - first // ${HOUR_MS} + 1))::DOUBLE AS read, sum(rows)::DOUBLE AS rows FROM (
         SELECT row_group_num_rows AS rows, stats_min_value::BIGINT AS first, stats_max_value::BIGINT AS last
         FROM parquet_metadata([${files}]) WHERE path_in_schema = 'receivedAt')`,
    )
    if (!found || found.read <= found.rows * MAX_READ_RATIO) return
    const [events, loose] = [this.source(), this.staged]
    this.staged = []
    this.events = 0
    await this.parquet.runAlone(() => this.stage(`SELECT * FROM ${events} ORDER BY receivedAt`))
    for (const path of loose) rmSync(path, { force: true })
  }

  private hours(): Promise<StagedHour[]> {
    return this.run(
      `SELECT orgId, ${HOUR} AS hour, count(*) AS rows, max(receivedAt) AS last
       FROM ${this.source()} GROUP BY ALL ORDER BY hour, orgId`,
    )
  }

  /** SQL that selects the staged events. */
  private source(): string {
    return `read_parquet([${this.staged.map(quoteText).join(', ')}])`
  }

  private draft(kind: 'parquet' | 'ndjson'): string {
    return this.pathOf(this.drafts++, kind)
  }

  private pathOf(at: number, kind: 'parquet' | 'ndjson'): string {
    return join(this.draftFolder, `import-${this.name}-${at}.${kind}`)
  }

  private run<T>(sql: string): Promise<T[]> {
    return this.parquet.runWide<T>(sql)
  }
}
