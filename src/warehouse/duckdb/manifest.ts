import type { Instant } from '../../core/clock.ts'
import type { Db } from '../../store/database.ts'
import { type NamePlan, TrackedNames } from './counted-event-names.ts'
import { commit, type DamagedFile, FileTable } from './manifest-table.ts'

/**
 * `fresh`: one segment, unsorted; `merged`: several segments; `compacted`: one organization's hour or day, sorted and
 * shredded.
 */
type FileLevel = 'fresh' | 'merged' | 'compacted'

/** One Parquet file of events. */
export interface EventFile {
  /** Path relative to the folder `events/`. */
  path: string
  /** Null if the file has events from several organizations. */
  orgId: string | null
  /** Start of the hour in which its first event was received. */
  hour: Instant
  minReceivedAt: Instant
  maxReceivedAt: Instant
  /** Highest `seq` of its events. */
  maxSeq: number
  rows: number
  sizeBytes: number
  /** Size of its events as lines of JSON; absent for files written by earlier versions. */
  unpackedBytes?: number
  /** CRC-32 of the file; null for files written by earlier versions. */
  sum: number | null
  level: FileLevel
  /** Parameters that have their own column; null for a file that stores all parameters as JSON. */
  keys: string[] | null
  /** False for files written by earlier versions, which lack the columns for segments. */
  hasSegments: boolean
  /** Time by which all of its events had been scanned; absent until then. */
  lookedAt?: Instant
}

/**
 * Contents of a count file. `fresh`: one segment; `merged`: several segments; `hour`: an ended hour; `day`: one day of
 * one organization; `quarters`: a day by quarter-hour; `hours`: a day by hour, in addition to the other files
 * (`hoursPath`).
 */
type RollupLevel = 'fresh' | 'merged' | 'hour' | 'day' | 'quarters' | 'hours'

/** One Parquet file of event counts by minute. */
export interface RollupFile {
  /** Path relative to the folder `events/`. */
  path: string
  /** Null if the file has counts from several organizations. */
  orgId: string | null
  /** Starts of the first and the last minute. */
  minMinute: Instant
  maxMinute: Instant
  rows: number
  sizeBytes: number
  sum: number | null
  level: RollupLevel
}

/** One Parquet file of `pages`. */
export interface PageFile {
  /** Path relative to the folder `events/`. */
  path: string
  /** Null if the file has pages from several organizations. */
  orgId: string | null
  minReceivedAt: Instant
  maxReceivedAt: Instant
  rows: number
  sizeBytes: number
  sum: number | null
  level: 'fresh' | 'merged' | 'hour' | 'day'
}

export type ManifestFile = EventFile | RollupFile | PageFile

/** First and last `receivedAt`; for counts, the starts of the first and last minute. */
export function spanOf(file: ManifestFile): { first: Instant; last: Instant } {
  return 'minMinute' in file
    ? { first: file.minMinute, last: file.maxMinute }
    : { first: file.minReceivedAt, last: file.maxReceivedAt }
}

/** True if a file may have rows for this window and organization (null for any). */
export function isInScope(file: ManifestFile, { orgId, window }: FileScope): boolean {
  const { first, last } = spanOf(file)
  return (orgId === null || file.orgId === null || file.orgId === orgId) && last >= window.from && first < window.to
}

export interface FileScope {
  orgId: string | null
  window: { from: Instant; to: Instant }
}

/** Files of one segment; null or absent if the segment had no such data. */
export interface SegmentFiles {
  file: EventFile | null
  rollup: RollupFile | null
  pages?: PageFile | null
  /** Which names are counted separately. */
  naming?: NamePlan | null
}

/**
 * The manifest: the files that make up the history. Stored in SQLite, so that files are swapped in a single
 * transaction, and mirrored in memory.
 */
export class Manifest {
  private readonly events: FileTable<EventFile>
  private readonly counted: FileTable<RollupFile>
  private readonly paged: FileTable<PageFile>
  /** Names that are counted separately. */
  readonly names: TrackedNames

  constructor(private readonly db: Db) {
    this.names = new TrackedNames(db)
    const common = ['path', 'orgId', 'rows', 'sizeBytes', 'sum', 'level'] as const
    this.events = new FileTable(db, {
      table: 'eventFile',
      columns: [
        ...common,
        'hour',
        'minReceivedAt',
        'maxReceivedAt',
        'maxSeq',
        'keys',
        'hasSegments',
        'lookedAt',
        'unpackedBytes',
      ],
      json: ['keys', 'hasSegments'],
      optional: ['lookedAt', 'unpackedBytes'],
      orderOf: (file) => file.minReceivedAt,
    })
    this.counted = new FileTable(db, {
      table: 'rollupFile',
      columns: [...common, 'minMinute', 'maxMinute'],
      orderOf: (file) => file.minMinute,
    })
    this.paged = new FileTable(db, {
      table: 'pageFile',
      columns: [...common, 'minReceivedAt', 'maxReceivedAt'],
      orderOf: (file) => file.minReceivedAt,
    })
  }

  /** Current event files, sorted by first event. The array is never modified, so running queries can keep using it. */
  files(): readonly EventFile[] {
    return this.events.present()
  }

  /** Current count files, sorted by first minute. Never modified, as with `files`. */
  rollups(): readonly RollupFile[] {
    return this.counted.present()
  }

  /** Current files of `pages`, like `files`. */
  pages(): readonly PageFile[] {
    return this.paged.present()
  }

  hasSegment(name: string): boolean {
    return this.db.prepare('SELECT 1 FROM segment WHERE name = ?').get(name) !== undefined
  }

  /** Name of the newest segment ever loaded; null before the first. */
  lastSegment(): string | null {
    return (this.db.prepare('SELECT max(name) AS name FROM segment').get() as { name: string | null }).name
  }

  /** Damaged files of any kind. They are excluded from all query results. */
  damaged(): readonly DamagedFile<ManifestFile>[] {
    return this.tables().flatMap((table) => table.damaged())
  }

  /** Upper bound for the `receivedAt` of all data that the manifest has ever contained; 0 if there was none. */
  lastKnownAt(): Instant {
    const loadedAt = this.db.prepare<[], Instant | null>('SELECT max(loadedAt) FROM segment').pluck().get() ?? 0
    const pagesAt = this.pages().reduce((latest, file) => Math.max(latest, file.maxReceivedAt), 0)
    return Math.max(loadedAt, this.lastReceivedAt(), pagesAt)
  }

  /** Excludes a file as damaged. Returns false if the file is not in use. */
  markDamaged(path: string, damagedAt: Instant): boolean {
    return this.tables().some((table) => table.markDamaged(path, damagedAt))
  }

  /** Restores a damaged file to use. Returns false if the file is not marked as damaged. */
  restore(path: string): boolean {
    return this.tables().some((table) => table.restore(path))
  }

  /** All intact files. */
  present(): ManifestFile[] {
    return this.tables().flatMap((table) => [...table.present()])
  }

  /** Removes files of any kind, including damaged ones, from the manifest in a new transaction. */
  drop(paths: ReadonlySet<string>): void {
    if (paths.size > 0) commit(this.db, () => this.tables().map((table) => table.drop(paths)))
  }

  private tables(): Pick<FileTable<ManifestFile>, 'present' | 'damaged' | 'markDamaged' | 'restore' | 'drop'>[] {
    return [this.events, this.counted, this.paged]
  }

  private everyEventFile(): EventFile[] {
    return [...this.events.present(), ...this.events.damaged().map(({ file }) => file)]
  }

  /** Latest `receivedAt` of any file, including damaged ones; 0 without files. */
  lastReceivedAt(): Instant {
    return this.everyEventFile().reduce((latest, file) => Math.max(latest, file.maxReceivedAt), 0)
  }

  /** Highest `seq` of any event, including events in damaged files; 0 without files. */
  lastSeq(): number {
    return this.everyEventFile().reduce((last, file) => Math.max(last, file.maxSeq), 0)
  }

  /** Adds the files of a loaded segment, and runs `account` in the same new transaction. Idempotent. */
  addSegment(
    name: string,
    { file, rollup, pages, naming }: SegmentFiles,
    loadedAt: Instant,
    account: () => void,
  ): void {
    commit(this.db, () => {
      this.db.prepare('INSERT OR REPLACE INTO segment VALUES (?, ?)').run(name, loadedAt)
      // Only the newest name is required. A few more are kept in case an older copy of the spool folder is restored.
      this.db.prepare('DELETE FROM segment WHERE name < ?').run(segmentBefore(name, RETAINED_SEGMENTS))
      const mirrors = [
        this.events.write([], file ? [file] : []),
        this.counted.write([], rollup ? [rollup] : []),
        this.paged.write([], pages ? [pages] : []),
        ...(naming ? [this.names.write(naming)] : []),
      ]
      account()
      return mirrors
    })
  }

  /**
   * Adds imported files, and runs `account` in the same new transaction.
   * @param imported with the name of the last segment if the files are those of segments
   */
  addImported(
    imported: { files: EventFile[]; rollups: RollupFile[]; naming: NamePlan | null; segment?: string },
    now: Instant,
    account: () => void,
  ): void {
    const { files, rollups, naming, segment } = imported
    commit(this.db, () => {
      if (segment !== undefined) this.db.prepare('INSERT OR REPLACE INTO segment VALUES (?, ?)').run(segment, now)
      const mirrors = [this.events.write([], files), this.counted.write([], rollups)]
      if (naming) mirrors.push(this.names.write(naming))
      account()
      return mirrors
    })
  }

  /**
   * Adds existing files, removes missing files, and ensures that the names of new segments sort after `segment`. Uses a
   * new transaction.
   */
  relist(
    { files, rollups, pages }: { files: EventFile[]; rollups: RollupFile[]; pages: PageFile[] },
    { gone, segment, at }: { gone: ReadonlySet<string>; segment: string; at: Instant },
    account: () => void,
  ): void {
    commit(this.db, () => {
      this.db.prepare('INSERT OR REPLACE INTO segment VALUES (?, ?)').run(segment, at)
      const isGone = ({ path }: { path: string }) => gone.has(path)
      const mirrors = [
        this.events.write(this.files().filter(isGone), files),
        this.counted.write(this.rollups().filter(isGone), rollups),
        this.paged.write(this.pages().filter(isGone), pages),
      ]
      account()
      return mirrors
    })
  }

  /**
   * Replaces all entries, including those of damaged files, except the ones with these paths. Runs `account` in the same
   * new transaction.
   */
  replaceAll(
    { files, rollups, pages }: { files: EventFile[]; rollups: RollupFile[]; pages: PageFile[] },
    retained: ReadonlySet<string>,
    account: () => void,
  ): void {
    const listed = [...this.present(), ...this.damaged().map(({ file }) => file)].map(({ path }) => path)
    const gone = new Set(listed.filter((path) => !retained.has(path)))
    commit(this.db, () => {
      const mirrors = [
        ...this.tables().map((table) => table.drop(gone)),
        this.events.write([], files),
        this.counted.write([], rollups),
        this.paged.write([], pages),
      ]
      account()
      return mirrors
    })
  }

  /**
   * Marks all events in these files as scanned, and runs `account` in the same new transaction. Returns false without
   * writing anything if one of the files is no longer in use.
   */
  markScanned(files: readonly EventFile[], lookedAt: Instant, account: () => void): boolean {
    const present = new Map(this.files().map((file) => [file.path, file]))
    if (!files.every((file) => present.get(file.path) === file)) return false
    const scanned = files.map((file) => ({ ...file, lookedAt }))
    commit(this.db, () => {
      account()
      return [this.events.write(files, scanned)]
    })
    return true
  }

  /** Replaces `removed` with `added` in a new transaction. */
  swap(removed: readonly EventFile[], added: readonly EventFile[]): void {
    this.events.swap(removed, added)
  }

  /** Like `swap`, but for count files. */
  swapRollups(removed: readonly RollupFile[], added: readonly RollupFile[]): void {
    this.counted.swap(removed, added)
  }

  /** Like `swap`, but for files of `pages`. */
  swapPages(removed: readonly PageFile[], added: readonly PageFile[]): void {
    this.paged.swap(removed, added)
  }
}

const RETAINED_SEGMENTS = 1000

function segmentBefore(name: string, distance: number): string {
  return String(Math.max(0, Number.parseInt(name, 10) - distance)).padStart(name.length, '0')
}

/** The manifest contains an invalid value. */
export class ListError extends Error {}

/** Throws `ListError` and SQLite errors. */
export function readManifest(db: Db): Manifest {
  try {
    return new Manifest(db)
  } catch (error) {
    if (error instanceof SyntaxError) throw new ListError(error.message, { cause: error })
    throw error
  }
}
