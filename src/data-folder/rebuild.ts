import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Clock, type Instant, SECOND_MS } from '../core/clock.ts'
import type { SecretBox } from '../core/secret-box.ts'
import { recordSightings } from '../domains/sightings.ts'
import { recoverDomain } from '../domains/store.ts'
import { raiseUsage } from '../ingest/store.ts'
import { recoverOrg } from '../org/store.ts'
import { type Db, openDatabase } from '../store/database.ts'
import { inspectDatabase } from '../store/inspect.ts'
import type { Manifest } from '../warehouse/duckdb/manifest.ts'
import {
  addToListing,
  contentOfFiles,
  type Listing,
  type Owner,
  ownersOf,
  worthListing,
} from '../warehouse/duckdb/relist.ts'
import { filesOnDisk, findDifferences, spooledSegments } from '../warehouse/duckdb/unlisted.ts'
import { DuckdbWarehouse } from '../warehouse/duckdb/warehouse.ts'
import { manifestOf } from './open.ts'
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
    const manifest = manifestOf(paths, db)
    const spool = spooledSegments(paths.spool).map((name) => join(paths.spool, `${name}.ndjson`))
    const warehouse = await DuckdbWarehouse.open({ folder: paths.events, manifest, clock, spoolFiles: () => spool })
    try {
      const found = await findListing(paths, { warehouse, manifest, progress })
      const owners = await ownersOf(warehouse, paths.events, { ...found.listing, spool })
      const made = await store(paths, { db, box, clock, manifest, warehouse }, found, owners)
      return { setAside, listed: found.listed, unreadable: found.unreadable, gone: found.gone, ...made }
    } finally {
      warehouse.close()
    }
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

interface Engine {
  warehouse: DuckdbWarehouse
  manifest: Manifest
}

interface Found {
  listing: Listing
  listed: string[]
  unreadable: string[]
  gone: string[]
}

async function findListing(
  paths: FolderPaths,
  { warehouse, manifest, progress }: Engine & { progress: (done: number, of: number) => void },
): Promise<Found> {
  const parts = { warehouse, manifest, folder: paths.events, spoolFolder: paths.spool }
  const { missing, strays } = await findDifferences(parts)
  const worth = worthListing(strays, filesOnDisk(paths.events))
  const found: Found = { listing: { files: [], rollups: [], pages: [] }, listed: [], unreadable: [], gone: missing }
  for (const [index, path] of worth.entries()) {
    try {
      await addToListing(found.listing, warehouse, paths.events, path)
      found.listed.push(path)
    } catch {
      // Whatever is wrong with it: it is named, and left alone.
      found.unreadable.push(path)
    }
    progress(index + 1, worth.length)
  }
  return found
}

async function store(
  paths: FolderPaths,
  { db, box, clock, manifest, warehouse }: Engine & { db: Db; box: SecretBox; clock: Clock },
  { listing, gone }: Found,
  owners: readonly Owner[],
): Promise<{ orgs: string[]; domains: string[] }> {
  const isGone = new Set(gone)
  const present = <File extends { path: string }>(known: readonly File[], found: readonly File[]) => [
    ...known.filter(({ path }) => !isGone.has(path)),
    ...found,
  ]
  const { content, usage } = await contentOfFiles(warehouse, paths.events, {
    files: present(manifest.files(), listing.files),
    rollups: present(manifest.rollups(), listing.rollups),
    pages: [],
  })
  const at = clock.now()
  let made: { orgs: string[]; domains: string[] } = { orgs: [], domains: [] }
  manifest.relist(listing, { gone: isGone, segment: segmentAt(at), at }, () => {
    made = recoverOwners(db, box, owners)
    recordSightings(db, content)
    raiseUsage(db, usage)
  })
  return made
}

/**
 * A name later than any that a segment ever had: there is never more than one a second, and names of merged files are
 * made of those of segments, so none may come twice.
 */
function segmentAt(at: Instant): string {
  return String(Math.floor(at / SECOND_MS)).padStart(12, '0')
}

function recoverOwners(db: Db, box: SecretBox, owners: readonly Owner[]): { orgs: string[]; domains: string[] } {
  const [orgs, domains]: [string[], string[]] = [[], []]
  for (const { orgId, domainId, firstAt, host } of owners) {
    if (recoverOrg(db, box, { id: orgId, createdAt: firstAt })) orgs.push(orgId)
    if (recoverDomain(db, { id: domainId, orgId, name: host, createdAt: firstAt })) domains.push(domainId)
  }
  return { orgs, domains }
}
