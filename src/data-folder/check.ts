import { existsSync, readFileSync, statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { migrations } from '../../migrations/index.ts'
import { systemClock } from '../core/clock.ts'
import { messageOf } from '../core/error.ts'
import { readSegment } from '../ingest/segment-reader.ts'
import type { Db } from '../store/database.ts'
import { inspectDatabase, openToRead } from '../store/inspect.ts'
import { quoteText } from '../warehouse/duckdb/dialect.ts'
import { Manifest } from '../warehouse/duckdb/manifest.ts'
import { findDifferences, listedPaths, named, spooledSegments } from '../warehouse/duckdb/unlisted.ts'
import { DuckdbWarehouse } from '../warehouse/duckdb/warehouse.ts'
import type { FolderPaths } from './paths.ts'
import { cutDatabase, doctorCommand, FolderError } from './refusal.ts'
import { checkKey, keyModeWarning } from './sealed.ts'

/** One thing that was looked at. */
export interface Finding {
  check: 'folder' | 'database' | 'key' | 'files' | 'spool' | 'disk' | 'settings'
  /** `note`: nothing is wrong, but it is worth knowing. */
  state: 'good' | 'note' | 'wrong'
  says: string
}

/** With less, SQLite and the spool soon can't write. */
const LEAST_FREE_BYTES = 500 * 2 ** 20

/**
 * Looks at everything in a data folder and changes nothing. While a server is running on it, what that one is writing at
 * the moment is left out. `progress` hears after each file how many are done.
 */
export async function examine(
  paths: FolderPaths,
  { isRunning, progress }: { isRunning: boolean; progress(done: number, of: number): void },
): Promise<Finding[]> {
  const database = databaseFinding(paths, isRunning)
  const findings = [...folderFindings(paths), database]
  if (database.state !== 'wrong') {
    const db = openToRead(paths.database)
    try {
      findings.push(keyFinding(paths, db), ...(await fileFindings(paths, db, isRunning, progress)))
    } finally {
      db.close()
    }
  }
  return [...findings, spoolFinding(paths), diskFinding(paths)]
}

const good = (check: Finding['check'], says: string): Finding => ({ check, state: 'good', says })
const note = (check: Finding['check'], says: string): Finding => ({ check, state: 'note', says })
const wrong = (check: Finding['check'], says: string): Finding => ({ check, state: 'wrong', says })

function folderFindings({ folder }: FolderPaths): Finding[] {
  const mode = statSync(folder).mode & 0o777
  if ((mode & 0o077) === 0) return [good('folder', `${folder} is for its owner only`)]
  const says = `other users of this machine may enter ${folder} (mode ${mode.toString(8)}) and read its events; "chmod 700 ${folder}" mends it`
  return [wrong('folder', says)]
}

function databaseFinding(paths: FolderPaths, isRunning: boolean): Finding {
  const state = inspectDatabase(paths.database, { isLive: isRunning, isThorough: true })
  const goOn = `put back a copy, or make a new one by "${doctorCommand(paths, '--rebuild')}"`
  if (state.kind === 'damaged') return wrong('database', `${paths.database} is damaged (${state.reason}); ${goOn}`)
  if (state.kind === 'cut') return wrong('database', cutDatabase(paths, state.reason).message)
  if (state.kind === 'empty') return wrong('database', `${paths.database} is lost or empty; ${goOn}`)
  const { schema } = state
  if (schema > migrations.length) {
    return wrong('database', `a newer version wrote it (schema ${schema}, this one knows ${migrations.length})`)
  }
  if (schema < migrations.length) return note('database', 'it is sound; the next start brings it to this version')
  return good('database', `it is sound, schema ${schema}`)
}

function keyFinding(paths: FolderPaths, db: Db): Finding {
  try {
    checkKey(paths, db)
  } catch (error) {
    if (error instanceof FolderError) return wrong('key', error.message)
    throw error
  }
  const exposed = existsSync(paths.key) ? keyModeWarning(paths) : null
  return exposed ? wrong('key', exposed) : good('key', 'it opens everything that is sealed')
}

async function fileFindings(
  paths: FolderPaths,
  db: Db,
  isRunning: boolean,
  progress: (done: number, of: number) => void,
): Promise<Finding[]> {
  if (!existsSync(paths.events)) return [good('files', 'there are none yet')]
  let manifest: Manifest
  try {
    manifest = new Manifest(db)
  } catch (error) {
    return [wrong('files', `the list of files can't be read (${messageOf(error)})`)]
  }
  const warehouse = await DuckdbWarehouse.open({
    ...{ folder: paths.events, manifest, clock: systemClock, spoolFiles: () => [] },
  })
  try {
    const broken = await brokenFiles(paths, db, { manifest, warehouse }, progress)
    const differences = isRunning
      ? [note('files', 'files that no list has were not looked for, because a server is running and writes some')]
      : await differenceFindings(paths, { manifest, warehouse })
    if (broken.length + differences.length > 0) return [...broken, ...differences]
    return [good('files', `all ${listedPaths(manifest).length} are there and can be read to their ends`)]
  } finally {
    warehouse.close()
  }
}

/** Reads every listed file to its end. */
async function brokenFiles(
  { events }: FolderPaths,
  db: Db,
  { manifest, warehouse }: { manifest: Manifest; warehouse: DuckdbWarehouse },
  progress: (done: number, of: number) => void,
): Promise<Finding[]> {
  const files = [...manifest.files(), ...manifest.rollups(), ...manifest.pages()]
  const findings: Finding[] = []
  for (const [index, { path, rows, sizeBytes }] of files.entries()) {
    const fault = await faultOf(warehouse, join(events, path), { rows, sizeBytes })
    // A server that runs may have put another in its place meanwhile.
    if (fault !== null && listedPaths(new Manifest(db)).includes(path))
      findings.push(wrong('files', `${path} ${fault}`))
    progress(index + 1, files.length)
  }
  return findings
}

async function faultOf(
  warehouse: DuckdbWarehouse,
  file: string,
  { rows, sizeBytes }: { rows: number; sizeBytes: number },
): Promise<string | null> {
  if (!existsSync(file)) return 'is listed and not there'
  try {
    // Every cell has a part in it, so every page is unpacked.
    const [found] = await warehouse.run<{ rows: number }>(
      `SELECT count(*) AS rows, bit_xor(hash(cells)) AS cells FROM read_parquet(${quoteText(file)}) cells`,
    )
    if (found?.rows !== rows) return `has ${found?.rows} rows instead of ${rows}`
    const bytes = statSync(file).size
    return bytes === sizeBytes ? null : `has ${bytes} bytes instead of ${sizeBytes}`
  } catch (error) {
    return `can't be read (${messageOf(error).split('\n', 1)[0]})`
  }
}

async function differenceFindings(
  paths: FolderPaths,
  engine: { manifest: Manifest; warehouse: DuckdbWarehouse },
): Promise<Finding[]> {
  const { strays, leftovers } = await findDifferences({ ...engine, folder: paths.events, spoolFolder: paths.spool })
  const unlisted = strays.map(({ path }) => path)
  const says = `the list does not have ${unlisted.length} of the files (${named(unlisted)}); "${doctorCommand(paths, '--rebuild')}" takes them in`
  return [
    ...(unlisted.length > 0 ? [wrong('files', says)] : []),
    ...(leftovers.length > 0
      ? [note('files', `the next start removes ${leftovers.length} that a kill left behind`)]
      : []),
  ]
}

function spoolFinding({ spool }: FolderPaths): Finding {
  const names = spooledSegments(spool)
  const damaged = names.filter((name) => {
    const path = join(spool, `${name}.ndjson`)
    // A server that runs may have loaded it meanwhile.
    if (!existsSync(path)) return false
    const { broken, isTorn } = readSegment(readFileSync(path))
    // What a kill cut off was never acknowledged.
    return broken.some(({ batches }) => batches > 0) && !(isTorn && broken.length === 1)
  })
  if (damaged.length > 0) {
    return wrong(
      'spool',
      `${damaged.length} of ${names.length} segments have batches that can't be read; the next start keeps the others (${named(damaged)})`,
    )
  }
  return good('spool', names.length === 0 ? 'it is empty' : `${names.length} segments wait to be loaded`)
}

function diskFinding({ folder }: FolderPaths): Finding {
  const { bavail, bsize, blocks } = statfsSync(folder)
  const free = bavail * bsize
  const says = `${Math.floor(free / 2 ** 20)} MiB are free, ${Math.floor((100 * bavail) / blocks)} %`
  return free < LEAST_FREE_BYTES ? wrong('disk', `only ${says}`) : good('disk', says)
}
