import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import type { Clock, Instant } from '../core/clock.ts'
import type { SecretBox } from '../core/secret-box.ts'
import { recordSightings } from '../domains/sightings.ts'
import { recoverDomain } from '../domains/store.ts'
import { raiseUsage } from '../ingest/store.ts'
import { recoverOrg } from '../org/store.ts'
import { type Db, openDatabase } from '../store/database.ts'
import { inspectDatabase } from '../store/inspect.ts'
import { type Owner, type Relisted, relistFolder } from '../warehouse/folder.ts'
import { readList } from './open.ts'
import type { FolderPaths } from './paths.ts'
import { openBox } from './sealed.ts'

/** What a rebuild did. Files are named by their paths below `events/`, organizations and domains by their ids. */
export interface Rebuilt {
  /** Where a damaged database, or its log, lies now; null when there was none. */
  setAside: string | null
  /** Files that are listed now. */
  listed: string[]
  /** Files that can't be read; they stay where they are, and are not listed. */
  unreadable: string[]
  /** Files that were listed and are not there; they are not listed any more. */
  gone: string[]
  /** Made anew. */
  orgs: string[]
  domains: string[]
}

/**
 * Lists the files of events that the database does not know, and makes anew the organizations and domains that only their
 * events tell of. Deletes no file. For a process that holds the folder; `progress` hears after each file how many are
 * done. Doing it again changes nothing. Fails with `FolderError` when the key does not open what is sealed.
 */
export async function rebuild(
  paths: FolderPaths,
  clock: Clock,
  progress: (done: number, of: number) => void = () => {},
): Promise<Rebuilt> {
  for (const path of [paths.events, paths.spool]) mkdirSync(path, { recursive: true, mode: 0o700 })
  const setAside = setDamagedAside(paths, clock.now())
  const db = openDatabase(paths.database)
  try {
    const box = openBox(paths, db)
    const parts = { db, folder: paths.events, spoolFolder: paths.spool }
    let made: Made = { orgs: [], domains: [] }
    const account = ({ owners, content, usage }: Relisted) => {
      made = recoverOwners(db, box, owners)
      recordSightings(db, content)
      raiseUsage(db, usage)
    }
    const relisted = await readList(paths, () => relistFolder(parts, clock, { account, progress }))
    const { listed, unreadable, gone } = relisted
    return { setAside, listed, unreadable, gone, ...made }
  } finally {
    db.close()
  }
}

/**
 * Moves a damaged database out of the way, with what belongs to it. Of one whose log alone is damaged the log is copied
 * there: what of it can be read stays in force.
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
