import type { Instant } from '../../core/clock.ts'
import type { Db } from '../../store/database.ts'
import { commit, type DamagedFile, FileTable } from './file-table.ts'
import { type NamePlan, TrackedNames } from './tracked-names.ts'

/** `fresh`: one segment as it came; `merged`: several of them; `compacted`: an hour or a day of one organization, sorted and shredded. */
export type FileLevel = 'fresh' | 'merged' | 'compacted'

/** One Parquet file of events. */
export interface EventFile {
  /** Relative to the folder `events/`. */
  path: string
  /** Null when it holds several organizations' events. */
  orgId: string | null
  /** Start of the hour of its first event's `receivedAt`. */
  hour: Instant
  minReceivedAt: Instant
  maxReceivedAt: Instant
  /** Highest `seq` of its events. */
  maxSeq: number
  rows: number
  sizeBytes: number
  /** Size of its events as the lines of JSON that they came in; absent: a version that kept none wrote it. */
  unpackedBytes?: number
  /** CRC-32 of its bytes; null when it was written by a version that kept none. */
  sum: number | null
  level: FileLevel
  /** Parameters that have a column of their own; null in a file that keeps all as the JSON that they came in. */
  keys: string[] | null
  /** When all of its events had been looked through; absent: some were not yet. */
  lookedAt?: Instant
}

/**
 * `fresh`: the counts of one segment; `merged`: of several; `hour`: of an hour that ended; `day`: of one organization's
 * day; `quarters`: the same by the quarter of an hour; `hours`: the same by the hour, beside the others (`hoursPath`).
 */
export type RollupLevel = 'fresh' | 'merged' | 'hour' | 'day' | 'quarters' | 'hours'

/** One Parquet file of events counted by the minute. */
export interface RollupFile {
  /** Relative to the folder `events/`. */
  path: string
  /** Null when it holds several organizations' counts. */
  orgId: string | null
  /** Starts of the first and the last minute; no row lies outside. */
  minMinute: Instant
  maxMinute: Instant
  rows: number
  sizeBytes: number
  sum: number | null
  level: RollupLevel
}

/** One Parquet file of `pages`. */
export interface PageFile {
  /** Relative to the folder `events/`. */
  path: string
  /** Null when it holds several organizations' pages. */
  orgId: string | null
  minReceivedAt: Instant
  maxReceivedAt: Instant
  rows: number
  sizeBytes: number
  sum: number | null
  level: 'fresh' | 'merged' | 'hour' | 'day'
}

export type ManifestFile = EventFile | RollupFile | PageFile

/** From its first row to its last; those of counts are the beginnings of minutes. */
export function spanOf(file: ManifestFile): { first: Instant; last: Instant } {
  return 'minMinute' in file
    ? { first: file.minMinute, last: file.maxMinute }
    : { first: file.minReceivedAt, last: file.maxReceivedAt }
}

/** Whether a file may have rows of this window and organization; null: of any. */
export function isInScope(file: ManifestFile, { orgId, window }: FileScope): boolean {
  const { first, last } = spanOf(file)
  return (orgId === null || file.orgId === null || file.orgId === orgId) && last >= window.from && first < window.to
}

export interface FileScope {
  orgId: string | null
  window: { from: Instant; to: Instant }
}

/** The files that one segment became; null or absent what it held nothing for. */
export interface SegmentFiles {
  file: EventFile | null
  rollup: RollupFile | null
  pages?: PageFile | null
  /** Which names its counts have. */
  naming?: NamePlan | null
}

/** Which files make up the history. Kept in SQLite, so that a swap of files is one transaction; mirrored in memory. */
export class Manifest {
  private readonly events: FileTable<EventFile>
  private readonly counted: FileTable<RollupFile>
  private readonly paged: FileTable<PageFile>
  /** The names that counts keep. */
  readonly names: TrackedNames

  constructor(private readonly db: Db) {
    this.names = new TrackedNames(db)
    const common = ['path', 'orgId', 'rows', 'sizeBytes', 'sum', 'level'] as const
    this.events = new FileTable(db, {
      table: 'eventFile',
      columns: [...common, 'hour', 'minReceivedAt', 'maxReceivedAt', 'maxSeq', 'keys', 'lookedAt', 'unpackedBytes'],
      json: ['keys'],
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

  /**
   * The files of this moment, in the order of their first events; the array is never changed afterwards, so a running
   * query may keep it.
   */
  files(): readonly EventFile[] {
    return this.events.present()
  }

  /** The files of counts of this moment, in the order of their first minutes; as `files`, never changed afterwards. */
  rollups(): readonly RollupFile[] {
    return this.counted.present()
  }

  /** The files of `pages`; as `files`. */
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

  /** Files of any kind that are left out of every answer because they are not as they were written. */
  damaged(): readonly DamagedFile<ManifestFile>[] {
    return this.tables().flatMap((table) => table.damaged())
  }

  /** Nothing that the manifest ever knew was received later; 0 when it never knew of anything. */
  lastKnownAt(): Instant {
    const loadedAt = this.db.prepare<[], Instant | null>('SELECT max(loadedAt) FROM segment').pluck().get() ?? 0
    const pagesAt = this.pages().reduce((latest, file) => Math.max(latest, file.maxReceivedAt), 0)
    return Math.max(loadedAt, this.lastReceivedAt(), pagesAt)
  }

  /** Leaves a file out from now on; false when it is not in force. */
  markDamaged(path: string, damagedAt: Instant): boolean {
    return this.tables().some((table) => table.markDamaged(path, damagedAt))
  }

  /** Uses a damaged file again; false when it is none. */
  restore(path: string): boolean {
    return this.tables().some((table) => table.restore(path))
  }

  /** All files in force. */
  present(): ManifestFile[] {
    return this.tables().flatMap((table) => [...table.present()])
  }

  /** Takes files of any kind off the list, damaged ones too, in one transaction, which is none of the caller's. */
  drop(paths: ReadonlySet<string>): void {
    if (paths.size > 0) commit(this.db, () => this.tables().map((table) => table.drop(paths)))
  }

  private tables(): Pick<FileTable<ManifestFile>, 'present' | 'damaged' | 'markDamaged' | 'restore' | 'drop'>[] {
    return [this.events, this.counted, this.paged]
  }

  private everyEventFile(): EventFile[] {
    return [...this.events.present(), ...this.events.damaged().map(({ file }) => file)]
  }

  /** Latest `receivedAt` of any file, also of damaged ones; 0 without files. */
  lastReceivedAt(): Instant {
    return this.everyEventFile().reduce((latest, file) => Math.max(latest, file.maxReceivedAt), 0)
  }

  /** Highest `seq` of any event, also in damaged files; 0 without files. */
  lastSeq(): number {
    return this.everyEventFile().reduce((last, file) => Math.max(last, file.maxSeq), 0)
  }

  /**
   * Adds the files of a loaded segment together with whatever `account` writes, in one transaction, which is none of the
   * caller's. Loading it again replaces the same rows.
   */
  addSegment(
    name: string,
    { file, rollup, pages, naming }: SegmentFiles,
    loadedAt: Instant,
    account: () => void,
  ): void {
    commit(this.db, () => {
      this.db.prepare('INSERT OR REPLACE INTO segment VALUES (?, ?)').run(name, loadedAt)
      // Only the newest name is needed once its file is gone; a few are kept for a spool folder that was copied late.
      this.db.prepare('DELETE FROM segment WHERE name < ?').run(segmentBefore(name, KEPT_SEGMENTS))
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

  /** Lists files of events of before, with whatever `account` writes, in one transaction, which is none of the caller's. */
  addImported(
    { files, rollups, naming }: { files: EventFile[]; rollups: RollupFile[]; naming: NamePlan | null },
    account: () => void,
  ): void {
    commit(this.db, () => {
      const mirrors = [this.events.write([], files), this.counted.write([], rollups)]
      if (naming) mirrors.push(this.names.write(naming))
      account()
      return mirrors
    })
  }

  /**
   * Lists files that were written earlier, takes off the list what is gone, and lets new segments have later names than
   * `segment`. One transaction, which is none of the caller's.
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
   * Notes that all events of these files were looked through, together with whatever `account` writes, in one transaction,
   * which is none of the caller's. False, and nothing is written, when one of them is no longer in force.
   */
  markLooked(files: readonly EventFile[], lookedAt: Instant, account: () => void): boolean {
    const present = new Map(this.files().map((file) => [file.path, file]))
    if (!files.every((file) => present.get(file.path) === file)) return false
    const looked = files.map((file) => ({ ...file, lookedAt }))
    commit(this.db, () => {
      account()
      return [this.events.write(files, looked)]
    })
    return true
  }

  /** Puts `added` in the place of `removed`, in one transaction, which is none of the caller's. */
  swap(removed: readonly EventFile[], added: readonly EventFile[]): void {
    this.events.swap(removed, added)
  }

  /** As `swap`, of files of counts. */
  swapRollups(removed: readonly RollupFile[], added: readonly RollupFile[]): void {
    this.counted.swap(removed, added)
  }

  /** As `swap`, of files of `pages`. */
  swapPages(removed: readonly PageFile[], added: readonly PageFile[]): void {
    this.paged.swap(removed, added)
  }
}

const KEPT_SEGMENTS = 1000

function segmentBefore(name: string, distance: number): string {
  return String(Math.max(0, Number.parseInt(name, 10) - distance)).padStart(name.length, '0')
}

/** A cell of the list of files is not what it can be: SQLite can't tell. */
export class ListError extends Error {}

/** Fails with `ListError`, and as SQLite does. */
export function readManifest(db: Db): Manifest {
  try {
    return new Manifest(db)
  } catch (error) {
    if (error instanceof SyntaxError) throw new ListError(error.message, { cause: error })
    throw error
  }
}
