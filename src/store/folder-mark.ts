import { createHash, randomBytes } from 'node:crypto'
import { existsSync, fstatSync, openSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Instant } from '../core/clock.ts'
import { type Db, prepared, tx } from './database.ts'
import { closeSynced } from './private-file.ts'

/** State of a server that sends nothing, because its data folder is a copy. */
export interface QuietState {
  since: Instant
  /** Cause, as a sentence without a full stop. */
  reason: string
}

/**
 * The file that marks a data folder. It contains its own inode and time of creation, which a copy of the file does not
 * have. Renaming or moving the folder within a file system changes neither.
 */
interface Mark {
  /** The same as in the database. */
  mark: string
  inode: string
  /** Time of creation in nanoseconds; `0` if the file system does not store it. */
  born: string
  /** Hash of the machine's id; empty if unknown or if the program runs in a container. */
  machine: string
}

/** The mark of a folder that was written by `restore`. It never matches a database. */
interface RestoredMark {
  /** Name of the backup. */
  restored: string
}

interface MarkRow {
  serverId: string
  mark: string
  quietSince: Instant | null
  quietReason: string | null
}

const FILE = 'folder.mark'

/**
 * Compares the marks of the folder and its database. A folder that was copied or restored becomes quiet and stays so
 * until `resume`. A new folder is marked. Returns the state; null if the folder is the original.
 */
export function checkFolderMark(db: Db, folder: string, now: Instant): QuietState | null {
  const row = rowOf(db)
  const found = readMark(folder)
  if (!row && !(found && 'restored' in found)) {
    writeMark(db, folder)
    return null
  }
  if (row && row.quietSince !== null) return quietState(db)
  const reason = differenceOf(row, found, folder)
  if (reason === null) return null
  tx(db, () => {
    if (!row) insertRow(db, randomId())
    prepared(db, 'UPDATE folderMark SET quietSince = ?, quietReason = ?').run(now, reason)
  })
  return quietState(db)
}

/** Returns the state of a quiet server; null if it sends messages. */
export function quietState(db: Db): QuietState | null {
  const row = rowOf(db)
  return row && row.quietSince !== null ? { since: row.quietSince, reason: row.quietReason ?? '' } : null
}

/** Marks the folder as the original, so that its server sends messages again. */
export function resumeSending(db: Db, folder: string): void {
  writeMark(db, folder)
}

/** Returns the id of the server, which all copies of its folder share; null before the first start. */
export function serverIdOf(db: Db): string | null {
  const exists = db.prepare(`SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'folderMark'`).get()
  return exists ? (rowOf(db)?.serverId ?? null) : null
}

/** Returns a text that differs between a folder and its copies, and changes when a folder is restored or resumed. */
export function folderMarkOf(db: Db): string {
  const row = rowOf(db)
  return `${row?.mark ?? ''} ${row?.quietSince ?? ''}`
}

/** Marks a folder as restored, before its other files are written. */
export function markRestored(folder: string, backup: string): void {
  replaceFile(folder, () => ({ restored: backup }))
}

function rowOf(db: Db): MarkRow | undefined {
  return prepared<[], MarkRow>(db, 'SELECT serverId, mark, quietSince, quietReason FROM folderMark').get()
}

const randomId = () => randomBytes(16).toString('hex')

function insertRow(db: Db, mark: string): void {
  prepared(db, 'INSERT INTO folderMark (only, serverId, mark) VALUES (1, ?, ?)').run(randomId(), mark)
}

/** Writes the file first. If the program is killed in between, the marks differ, and the folder is quiet. */
function writeMark(db: Db, folder: string): void {
  const mark = randomId()
  replaceFile(folder, (own) => ({ mark, ...own, machine: machineId() }))
  tx(db, () => {
    if (!rowOf(db)) insertRow(db, mark)
    prepared(db, 'UPDATE folderMark SET mark = ?, quietSince = NULL, quietReason = NULL').run(mark)
  })
}

type Identity = Pick<Mark, 'inode' | 'born'>

function identityOf({ ino, birthtimeNs }: { ino: bigint; birthtimeNs: bigint }): Identity {
  return { inode: String(ino), born: String(birthtimeNs) }
}

function replaceFile(folder: string, contentOf: (own: Identity) => Mark | RestoredMark): void {
  const path = join(folder, FILE)
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  try {
    const fd = openSync(draft, 'wx', 0o600)
    closeSynced(fd, JSON.stringify(contentOf(identityOf(fstatSync(fd, { bigint: true })))))
    renameSync(draft, path)
  } finally {
    rmSync(draft, { force: true })
  }
}

/** Returns null if the file is missing or unreadable. */
function readMark(folder: string): Mark | RestoredMark | null {
  const path = join(folder, FILE)
  if (!existsSync(path)) return null
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Mark | RestoredMark
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

/** Returns why the folder is not the one to which the database belongs; null if it is. */
function differenceOf(row: MarkRow | undefined, found: Mark | RestoredMark | null, folder: string): string | null {
  if (found && 'restored' in found) return `the data folder was restored from the backup ${found.restored}`
  if (!found) return `the data folder was copied without its file ${FILE}`
  if (found.mark !== row?.mark) return `the database and the file ${FILE} are from different data folders`
  const { inode, born } = identityOf(statSync(join(folder, FILE), { bigint: true }))
  const isBirthKnown = found.born !== '0' && born !== '0'
  if (isBirthKnown ? born !== found.born : inode !== found.inode) return 'the data folder is a copy'
  const machine = machineId()
  if (machine !== '' && found.machine !== '' && machine !== found.machine) {
    return 'the data folder was moved to another machine, or its disk was copied'
  }
  return null
}

/** A container has the machine id of its image or of no machine, so an upgrade would look like a move. */
function machineId(): string {
  const isContainer =
    existsSync('/.dockerenv') || existsSync('/run/.containerenv') || process.env.KUBERNETES_SERVICE_HOST !== undefined
  if (isContainer || !existsSync('/etc/machine-id')) return ''
  const id = readFileSync('/etc/machine-id', 'utf8').trim()
  // The id itself is confidential: https://www.freedesktop.org/software/systemd/man/latest/machine-id.html
  return id === '' ? '' : createHash('sha256').update(`tagwarden ${id}`).digest('hex').slice(0, 32)
}
