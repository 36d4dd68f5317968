import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { memoryDb, TEST_START, testClock } from '../../test/fixtures.ts'
import { HOUR_MS, type Instant, MINUTE_MS } from '../core/clock.ts'
import { type EventFields as AnyFields, plainEvent } from '../core/event.fixture.ts'
import type { StoredEvent } from '../core/event.ts'
import type { SegmentCount } from '../ingest/segment-counts.ts'
import { Spool } from '../ingest/spool.ts'
import { type Db, openDatabase } from '../store/database.ts'
import { wholeEvent } from './dialect.ts'
import { compactEvents, runMerge } from './duckdb/compact-events.ts'
import { compactRollups } from './duckdb/compact-rollups.ts'
import { duckdbDialect } from './duckdb/duckdb-dialect.ts'
import { DuckdbWarehouse, type EngineOptions } from './duckdb/duckdb-warehouse.ts'
import { type EventFile, Manifest } from './duckdb/manifest.ts'
import type { ParquetFiles } from './duckdb/parquet-files.ts'
import { findDifferences, removeLeftovers } from './duckdb/unlisted-files.ts'
import { Binder, type Query, query, type Statement, type WrittenQuery, writeQuery } from './query.ts'

/** The start of an hour. */
export const HOUR = TEST_START

/** Keys whose differences an engine might ignore, or that have a special meaning in some engines. */
export const NASTY_KEYS = [
  'userId',
  'UserID',
  'userid',
  'USERID',
  'user^id',
  'user^^id',
  '^',
  '^^',
  'a',
  'A',
  '^a',
  '^A',
  '^97;',
  '^201;',
  'C9;',
  '^c9;',
  '',
  ' ',
  'a b',
  'a.b',
  'a\nb',
  "it's",
  "''",
  '"',
  'a"b',
  '""',
  '\\',
  "\\'",
  ';--',
  '$p0',
  '%s',
  '[0]',
  'p:',
  'p:a',
  'P:A',
  'params',
  'seq',
  'receivedAt',
  'key',
  'value',
  'e',
  'v',
  'events',
  'NULL',
  'null',
  '__proto__',
  'constructor',
  'toString',
  // Each is the lowercase of another, by simple or special case mappings.
  'K',
  'k',
  '\u212a',
  'Å',
  'å',
  '\u212b',
  'Ω',
  '\u2126',
  'İ',
  'I\u0307',
  'i\u0307',
  'ı',
  'ß',
  'ẞ',
  'ss',
  'ſ',
  's',
  'Ǆ',
  'ǅ',
  'ǆ',
  'Σ',
  'σ',
  'ς',
  'é',
  'É',
  'e\u0301',
  '😀',
  '𐐀',
  '𐐨',
  '\ufffd',
  '\u2028',
  'x'.repeat(200),
] as const

export const aKey = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom<string>(...NASTY_KEYS) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 8 }).map(storable) },
)
export const aValue = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    '0',
    '9.5',
    'null',
    'NULL',
    "it's",
    '"',
    '\\',
    '{"a": 1}',
    '\n',
    'é',
    'İ',
    '😀',
    'x'.repeat(4000),
  ),
  fc.string({ unit: 'binary', maxLength: 12 }).map(storable),
)

/** Cleans a string in the same way as the collector. */
function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd')
}

/** Event fields that a test sets. All other fields are filled in. */
export type EventFields = Omit<AnyFields, 'seq' | 'receivedAt'>

export const anEvent: fc.Arbitrary<EventFields> = fc.record(
  {
    orgId: fc.constantFrom('org_1', 'org_2', "org_'3"),
    domainId: fc.constantFrom('dom_1', 'dom_2'),
    vendor: fc.constantFrom('Google Analytics 4', 'Meta Pixel', ''),
    event: fc.constantFrom('purchase', 'page_view', "it's"),
    env: fc.constantFrom('prod', 'dev'),
    host: fc.constantFrom(null, 'a.example', 'b.example'),
    path: fc.constantFrom(null, '/', '/cart', '/p/4711/'),
    segments: fc.record(
      {
        browser: fc.constantFrom('Safari', "it's", null),
        device: fc.constantFrom('phone', null),
        consent: fc.constantFrom('granted', 'unknown'),
        visitor: fc.constantFrom('new', null),
      },
      { requiredKeys: [] },
    ),
    version: fc.constantFrom(null, 1, 2, 3.5),
    violations: fc.constantFrom(null, ['alr_1'], ['alr_1', 'alr_2']),
    params: fc.dictionary(aKey, aValue, { maxKeys: 8, noNullPrototype: false }),
  },
  { requiredKeys: ['orgId'] },
)

/** Returns the SQL of a query for the production engine. */
export const inSql = (query: Query): WrittenQuery => writeQuery(query, duckdbDialect)

/** Collects bound values in SQL for the production engine. */
export const newBinder = (prefix?: string) => new Binder(duckdbDialect, prefix)

/** A query in the SQL of the production engine, in which `$name` represents a value in `params`. */
export interface PlainQuery extends Statement, Partial<Omit<Query, 'write' | 'name'>> {
  params?: WrittenQuery['params']
}

export function plainQuery({
  over,
  orgId = null,
  window = WHOLE,
  stepMs,
  read,
  params,
  ...statement
}: PlainQuery): Query {
  const write = (binder: Binder) => {
    Object.assign(binder.params, params)
    return statement
  }
  return query('test', {
    ...(over && { over }),
    ...(read && { read }),
    ...(stepMs && { stepMs }),
    orgId,
    window,
    write,
  })
}

const WHOLE: Query['window'] = { from: 0, to: Number.MAX_SAFE_INTEGER }

export interface QueryScope {
  orgId?: string | null
  window?: Query['window']
  keys?: readonly string[]
}

/** The complete content of a fixture, in memory. */
export interface WarehouseSnapshot {
  /** Keyed by path below the fixture's folder. */
  files: ReadonlyMap<string, Buffer>
  database: Buffer
  now: Instant
  events: readonly StoredEvent[]
  counts: readonly SegmentCount[]
}

/** A warehouse in a separate folder. Receives events through a real spool and provides access to all of them. */
export class WarehouseFixture {
  readonly clock = testClock(HOUR)
  /** Received events, in order. */
  readonly events: StoredEvent[]
  readonly counts: SegmentCount[]
  readonly db: Db
  private readonly root = mkdtempSync(join(tmpdir(), 'warehouse-'))
  readonly folder = join(this.root, 'events')
  readonly spoolFolder = join(this.root, 'spool')
  manifest: Manifest
  spool: Spool
  private engine: DuckdbWarehouse | null = null

  private constructor(
    private readonly settings: Partial<EngineOptions>,
    image: WarehouseSnapshot | null,
  ) {
    for (const path of [this.folder, this.spoolFolder]) mkdirSync(path)
    for (const [name, bytes] of image?.files ?? []) {
      mkdirSync(dirname(join(this.root, name)), { recursive: true })
      writeFileSync(join(this.root, name), bytes)
    }
    this.db = image ? openDatabase(image.database) : memoryDb()
    this.clock.set(image?.now ?? HOUR)
    this.events = [...(image?.events ?? [])]
    this.counts = [...(image?.counts ?? [])]
    this.manifest = new Manifest(this.db)
    this.spool = this.newSpool()
  }

  /** `image`: snapshot of another fixture, which is copied into this one. */
  static async open(
    settings: Partial<EngineOptions> = {},
    image: WarehouseSnapshot | null = null,
  ): Promise<WarehouseFixture> {
    const fixture = new WarehouseFixture(settings, image)
    await fixture.reopen()
    return fixture
  }

  /** Returns the complete content. The fixture must be idle. */
  snapshot(): WarehouseSnapshot {
    const names = readdirSync(this.root, { recursive: true, encoding: 'utf8' })
    const files = names.filter((name) => statSync(join(this.root, name)).isFile())
    return {
      files: new Map(files.map((name) => [name, readFileSync(join(this.root, name))])),
      database: this.db.serialize(),
      now: this.clock.now(),
      events: [...this.events],
      counts: [...this.counts],
    }
  }

  get warehouse(): DuckdbWarehouse {
    if (!this.engine) throw new Error('the warehouse fixture is not open')
    return this.engine
  }

  /** The warehouse's files, with the engines that write and read them. */
  get parquet(): ParquetFiles {
    return this.warehouse.parquet
  }

  /** Restarts with the files on disk, as after a crash. */
  async reopen(): Promise<void> {
    this.engine?.close()
    this.manifest = new Manifest(this.db)
    this.spool = this.newSpool()
    this.engine = await DuckdbWarehouse.open({
      folder: this.folder,
      manifest: this.manifest,
      clock: this.clock,
      spoolFiles: (window) => this.spool.files(window),
      ...this.settings,
    })
    const parts = {
      parquet: this.engine.parquet,
      manifest: this.manifest,
      folder: this.folder,
      spoolFolder: this.spoolFolder,
    }
    await removeLeftovers(this.folder, (await findDifferences(parts)).leftovers)
    await this.engine.parquet.check.start()
  }

  /** Adds events at the current time. */
  async add(said: readonly EventFields[]): Promise<StoredEvent[]> {
    const receivedAt = this.spool.arrivalAt()
    const events = said.map((values) => this.eventOf(values, receivedAt))
    this.events.push(...events)
    const { orgId = 'org_1', domainId = 'dom_1' } = events[0] ?? {}
    const answer = { accepted: events.length, rejected: 0, errors: [] }
    // A spool line stores values shared by its events only once. Each event is appended as a separate batch, so that no
    // values are shared.
    await Promise.all(
      events.map((event) => this.spool.append([event], { key: null, orgId, domainId, receivedAt, answer, ledger: [] })),
    )
    return events
  }

  /** Flushes in the same way as the flush job. */
  async flush(): Promise<void> {
    await this.spool.seal()
    for (const segment of [...this.spool.segments()]) {
      const pages = segment.batches.notable.flatMap((batch) => batch.pages ?? [])
      await this.warehouse.load(
        { ...segment, pages },
        ({ counts }) => this.counts.push(...counts),
        () => this.spool.release(segment),
      )
      await this.warehouse.discard(segment)
    }
  }

  /** Merges all files that are not compacted into one. */
  async merge(): Promise<void> {
    const files = this.manifest.files().filter(({ level }) => level !== 'compacted')
    if (files.length > 0) await runMerge(this.parquet, this.manifest, this.folder, { files, level: 'merged' })
  }

  /** Compacts in the same way as the compaction job, by default at a time when every hour with events has ended. */
  async compact(now = this.clock.now() + HOUR_MS + 3 * MINUTE_MS): Promise<void> {
    const { parquet, manifest, folder } = this
    await compactEvents({ parquet, manifest, folder }, now)
  }

  /** Compacts counts in the same way as the compaction job, by default at the current time. */
  compactCounts(now = this.clock.now()): Promise<void> {
    return compactRollups(this.parquet, this.manifest, this.folder, now)
  }

  query<T>(
    sql: string,
    params: WrittenQuery['params'] = {},
    asked: QueryScope & Pick<PlainQuery, 'wholeParams' | 'over'> = {},
  ): Promise<T[]> {
    return this.warehouse.query<T>(plainQuery({ sql, params, ...asked }))
  }

  /** Returns the number of rows and of distinct events. */
  async count(asked: QueryScope = {}): Promise<{ rows: number; events: number }> {
    const [row] = await this.query<{ rows: number; events: number }>(
      'SELECT count(*) AS rows, count(DISTINCT seq) AS events FROM events',
      {},
      asked,
    )
    return row ?? { rows: 0, events: 0 }
  }

  /** Returns the values of these keys, one row per event; null if the event lacks the key. */
  async valuesOf(keys: readonly string[], asked: QueryScope = {}): Promise<(string | null)[][]> {
    const columns = keys.map((key, at) => `${duckdbDialect.key(key)} AS k${at}`)
    const rows = await this.query<Record<string, string | null>>(
      `SELECT ${['seq', ...columns].join(', ')} FROM events ORDER BY seq`,
      {},
      { ...asked, keys },
    )
    return rows.map((row) => keys.map((_, at) => row[`k${at}`] ?? null))
  }

  /** Returns whole events in order. */
  wholeEvents(asked: QueryScope = {}): Promise<(StoredEvent & { violated: boolean })[]> {
    return this.query(
      `SELECT ${wholeEvent(duckdbDialect)}, violated FROM events ORDER BY seq`,
      {},
      { ...asked, wholeParams: true },
    )
  }

  levels(): EventFile['level'][] {
    return this.manifest.files().map(({ level }) => level)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.spool.close()
    this.engine?.close()
    this.db.close()
    rmSync(this.root, { recursive: true })
  }

  private newSpool(): Spool {
    return new Spool(this.spoolFolder, this.clock, {
      has: (name) => this.manifest.hasSegment(name),
      last: this.manifest.lastSegment(),
      lastReceivedAt: this.manifest.lastReceivedAt(),
      lastSeq: this.manifest.lastSeq(),
    })
  }

  private eventOf(said: EventFields, receivedAt: number): StoredEvent {
    return plainEvent({ seq: this.spool.nextSeq(), receivedAt, ...said })
  }
}

/** Returns the value of this exact key; null if the event lacks it. */
export function paramOf(event: StoredEvent, key: string): string | null {
  return Object.hasOwn(event.params, key) ? (event.params[key] ?? null) : null
}
