import {
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import type { FolderPaths } from '../data-folder/folder-paths.ts'
import { RunFiles } from '../flows/run-files.ts'
import { spooledSegments } from '../ingest/segment-reader.ts'
import type { Db } from '../store/database.ts'
import { serverIdOf } from '../store/folder-mark.ts'
import { copyDatabase, openToRead } from '../store/inspect-database.ts'
import { listedFilePaths } from '../warehouse/inspect-warehouse-folder.ts'

/** A file of a snapshot, which does not change any more. */
export interface SnapshotFile {
  /** Path in the data folder. */
  path: string
  /** Where its content is now: on the file system of the data folder. */
  source: string
  bytes: number
  /** Time of the last change in the data folder, in ms. */
  modifiedAt: number
  /** True if `source` is a hard link to the file in the data folder. */
  isLink: boolean
}

export interface Snapshot {
  files: SnapshotFile[]
  serverId: string | null
  schema: number
  /** Event files that the database lists but that do not exist. */
  missing: string[]
}

/**
 * Takes a consistent copy of a data folder into `paths.backupDraft`, while a server may be running. Files that are
 * never changed are hard links.
 *
 * The order ensures that every acknowledged batch is included. A batch moves from `spool/late` to `spool` to the event
 * files, so the folders are read in this order, and the database, which says where a batch is now, is read after them. A
 * batch that is found in two places is recognised at the next start, as after a killed process.
 */
export async function takeSnapshot(paths: FolderPaths): Promise<Snapshot> {
  const draft = paths.backupDraft
  const files: SnapshotFile[] = []
  const add = (file: SnapshotFile | null) => {
    if (file) files.push(file)
    return file !== null
  }
  const late = existsSync(paths.late) ? readdirSync(paths.late).filter((name) => name.endsWith('.ndjson')) : []
  for (const name of late) add(copied(paths, `spool/late/${name}`))
  for (const name of spooledSegments(paths.spool).toSorted()) add(copied(paths, `spool/${name}.ndjson`))
  const { db, missing } = linkListed(paths, (path) => add(linked(paths, path)))
  try {
    for (const { runId, isFinished } of await new RunFiles(paths.runs, () => 0).uses(db)) {
      // The files of an active run may still change, and the run fails when the database is restored.
      const names = isFinished && existsSync(join(paths.runs, runId)) ? readdirSync(join(paths.runs, runId)) : []
      for (const name of names) add(linked(paths, `runs/${runId}/${name}`))
    }
    if (existsSync(paths.key)) add(copied(paths, 'master.key'))
    const source = join(draft, 'tagwarden.db')
    await copyDatabase(db, source)
    files.push({ path: 'tagwarden.db', source, ...statOf(source), isLink: false })
    const schema = db.pragma('user_version', { simple: true }) as number
    return { files, serverId: serverIdOf(db), schema, missing }
  } finally {
    db.close()
  }
}

/**
 * Opens the database with a read transaction, and links all event files that it lists. If a merge has replaced some of
 * them in the meantime, the list is read again.
 */
function linkListed(paths: FolderPaths, link: (path: string) => boolean): { db: Db; missing: string[] } {
  const present = new Set<string>()
  let lost = new Set<string>()
  for (;;) {
    const db = openToRead(paths.database)
    db.exec('BEGIN')
    const listed = listedFilePaths(db).map((path) => `events/${path}`)
    for (const path of listed) if (!present.has(path) && link(path)) present.add(path)
    const missing = listed.filter((path) => !present.has(path))
    // A file that is listed twice and missing twice was not replaced by a merge.
    if (missing.every((path) => lost.has(path))) return { db, missing }
    lost = new Set(missing)
    db.close()
  }
}

function statOf(path: string): Pick<SnapshotFile, 'bytes' | 'modifiedAt'> {
  const { size, mtimeMs } = statSync(path)
  return { bytes: size, modifiedAt: mtimeMs }
}

/** Links a file that is never changed. Returns null if it does not exist. */
function linked({ folder, backupDraft }: FolderPaths, path: string): SnapshotFile | null {
  const source = join(backupDraft, path)
  mkdirSync(dirname(source), { recursive: true, mode: 0o700 })
  return ifThere(() => {
    linkSync(join(folder, path), source)
    return { path, source, ...statOf(source), isLink: true }
  })
}

const CHUNK_BYTES = 2 ** 20

/** Copies a file that may grow. Returns null if it does not exist. */
function copied({ folder, backupDraft }: FolderPaths, path: string): SnapshotFile | null {
  const source = join(backupDraft, path)
  mkdirSync(dirname(source), { recursive: true, mode: 0o700 })
  return ifThere(() => {
    const from = openSync(join(folder, path), 'r')
    const to = openSync(source, 'wx', 0o600)
    try {
      const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
      for (;;) {
        const bytes = readSync(from, chunk)
        if (bytes === 0) break
        for (let written = 0; written < bytes; ) written += writeSync(to, chunk, written, bytes - written)
      }
    } finally {
      closeSync(from)
      closeSync(to)
    }
    const { modifiedAt } = statOf(join(folder, path))
    return { path, source, ...statOf(source), modifiedAt, isLink: false }
  })
}

/** Returns the result; null if a file was deleted in the meantime. */
function ifThere<T>(work: () => T): T | null {
  try {
    return work()
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return null
    throw error
  }
}

/** Deletes what a backup has left behind, except the lock. */
export function removeDraft({ backupDraft }: FolderPaths): void {
  for (const name of readdirSync(backupDraft))
    if (!name.startsWith('lock')) rmSync(join(backupDraft, name), { recursive: true, force: true })
}
