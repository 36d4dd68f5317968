import { existsSync, mkdirSync, renameSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Db } from '../../store/database.ts'
import { syncFolder } from '../../store/private-file.ts'
import { COUNTS } from '../duckdb/counts-rollup.ts'
import { readManifest } from '../duckdb/manifest.ts'
import { pagesIn } from '../duckdb/pages-relation.ts'
import { listedPaths } from '../duckdb/unlisted-files.ts'
import { storedEngine } from '../stored-engine.ts'
import { allOf, MigrationProgress, type WrittenDay } from './migration-progress.ts'

/*
 * Subfolders of the events folder, which the server never reads. When a migration ends, files are renamed first, and one
 * transaction then changes the manifest. If the process is killed in between, the next start renames the files back.
 */

/** Files that were used before a migration. */
export const MOVED = 'moved'
/** Files that a migration writes. */
export const ARRIVING = 'arriving'

/** Creates the folders for files that a migration writes. */
export function makeArriving(folder: string): void {
  for (const part of ['', COUNTS, pagesIn('')]) mkdirSync(join(folder, ARRIVING, part), { recursive: true })
}

/** Moves files of the manifest aside. Missing ones are skipped, because they are damaged or were moved before. */
export function moveAside(folder: string, paths: readonly string[]): void {
  renameAll(paths, folder, join(folder, MOVED))
}

/** Moves the files that a migration wrote to where the server reads them. */
export function moveIn(folder: string, written: WrittenDay): void {
  renameAll(pathsOf(written), join(folder, ARRIVING), folder)
}

/** Undoes the moves of a migration that was killed before it changed the manifest. Throws `ListError`. */
export function undoMoves(db: Db, folder: string): void {
  if (existsSync(join(folder, MOVED))) {
    const gone = listedPaths(readManifest(db)).filter((path) => !existsSync(join(folder, path)))
    renameAll(gone, join(folder, MOVED), folder)
  }
  if (existsSync(join(folder, ARRIVING)) && storedEngine(db) === 'clickhouse') {
    const progress = new MigrationProgress(db)
    const days = progress.days().flatMap((day) => progress.written(day) ?? [])
    renameAll(pathsOf(allOf(days)), folder, join(folder, ARRIVING))
  }
}

/** Paths relative to the events folder. */
export const pathsOf = ({ files, rollups, pages }: WrittenDay) =>
  [...files, ...rollups, ...pages].map(({ path }) => path)

function renameAll(paths: readonly string[], from: string, to: string): void {
  const changed = new Set<string>()
  for (const path of paths) {
    const [source, target] = [join(from, path), join(to, path)]
    if (!existsSync(source)) continue
    mkdirSync(dirname(target), { recursive: true })
    renameSync(source, target)
    changed.add(dirname(source)).add(dirname(target))
  }
  for (const folder of changed) syncFolder(folder)
}
