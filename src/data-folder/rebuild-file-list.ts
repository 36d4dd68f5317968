import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import type { Clock, Instant } from '../core/clock.ts'
import type { SecretBox } from '../core/secret-box.ts'
import { recordSightings } from '../domains/record-sightings.ts'
import { recoverDomain } from '../domains/store.ts'
import { raiseUsage } from '../ingest/record-segment.ts'
import { recoverOrg } from '../org/store.ts'
import { type Db, openDatabase, type UpgradeLog } from '../store/database.ts'
import { inspectDatabase, isDamage, openToRead, textsIn } from '../store/inspect-database.ts'
import { type Owner, type RebuiltFileList, rebuildFileList } from '../warehouse/inspect-warehouse-folder.ts'
import { markClickhouse } from '../warehouse/stored-engine.ts'
import type { FolderPaths } from './folder-paths.ts'
import { readList } from './open-folder.ts'
import { openBox } from './sealed-secrets.ts'

/** Result of a rebuild. Files are paths below `events/`; organizations and domains are ids. */
export interface Rebuilt {
  /** New path of the damaged database or its log; null if there was no damage. */
  setAside: string | null
  /** Files added to the manifest. */
  listed: string[]
  /** Unreadable files, which are left unchanged and not added to the manifest. */
  unreadable: string[]
  /** Missing files that were removed from the manifest. */
  gone: string[]
  /** Organizations and domains that were recreated. */
  orgs: string[]
  domains: string[]
}

export interface RebuildOptions {
  /** True if the settings name a ClickHouse server. A new database states where the events are stored. */
  isClickhouse?: boolean
  /** Called after each file with the number of processed files. */
  progress?(done: number, of: number): void
  /** Writes lines about an upgrade of the database. */
  log?: UpgradeLog
}

/**
 * Adds unlisted event files to the manifest, and recreates organizations and domains that occur only in these files.
 * Deletes no files. The caller must hold the folder's lock. Idempotent. Throws `FolderError` if the key can't decrypt
 * the stored secrets.
 */
export async function rebuild(
  paths: FolderPaths,
  clock: Clock,
  { isClickhouse = false, progress = () => {}, log }: RebuildOptions = {},
): Promise<Rebuilt> {
  for (const path of [paths.events, paths.spool]) mkdirSync(path, { recursive: true, mode: 0o700 })
  const engine = engineBefore(paths)
  const setAside = setDamagedAside(paths, clock.now())
  const db = openDatabase(paths.database, log)
  try {
    if (engine === 'clickhouse' || (isClickhouse && engine === null)) markClickhouse(db)
    const box = openBox(paths, db)
    const parts = { db, folder: paths.events, spoolFolder: paths.spool }
    let made: Made = { orgs: [], domains: [] }
    const account = ({ owners, content, usage }: RebuiltFileList) => {
      made = recoverOwners(db, box, owners)
      recordSightings(db, content)
      raiseUsage(db, usage)
    }
    const relisted = await readList(paths, () => rebuildFileList(parts, clock, { account, progress }))
    const { listed, unreadable, gone } = relisted
    return { setAside, listed, unreadable, gone, ...made }
  } finally {
    db.close()
  }
}

/** Returns where the events are stored according to the database; null if it is lost or can't be read. */
function engineBefore({ database }: FolderPaths): 'files' | 'clickhouse' | null {
  if (inspectDatabase(database).kind === 'empty') return null
  const db = openToRead(database)
  try {
    // Without the table, the database is of a version that did not know ClickHouse.
    return textsIn(db, 'warehouseEngine', 'engine', 1).length > 0 ? 'clickhouse' : 'files'
  } catch (error) {
    if (isDamage(error)) return null
    throw error
  } finally {
    db.close()
  }
}

/**
 * Renames a damaged database and its log, and returns the new path. If only the log is damaged, the log is copied
 * instead, and its readable part remains in use.
 */
function setDamagedAside({ database }: FolderPaths, now: Instant): string | null {
  const { kind } = inspectDatabase(database)
  const aside = `${database}.damaged-${now}`
  const [log, index] = [`${database}-wal`, `${database}-shm`]
  if (kind === 'damaged') {
    for (const [from, to] of [[database, aside] as const, [log, `${aside}-wal`] as const]) {
      if (existsSync(from)) renameSync(from, to)
    }
    rmSync(index, { force: true })
    return aside
  }
  if (kind !== 'cut' || !existsSync(log)) return null
  copyFileSync(log, `${aside}-wal`)
  return `${aside}-wal`
}

type Made = Pick<Rebuilt, 'orgs' | 'domains'>

function recoverOwners(db: Db, box: SecretBox, owners: readonly Owner[]): Made {
  const [orgs, domains]: [string[], string[]] = [[], []]
  for (const { orgId, domainId, firstAt, host } of owners) {
    if (recoverOrg(db, box, { id: orgId, createdAt: firstAt })) orgs.push(orgId)
    if (recoverDomain(db, { id: domainId, orgId, name: host, createdAt: firstAt })) domains.push(domainId)
  }
  return { orgs, domains }
}
