import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { open, rm, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AppError } from '../core/error.ts'
import { sizeText } from '../core/text.ts'
import { folderPaths } from '../data-folder/folder-paths.ts'
import { diskSpace } from '../store/disk-space.ts'
import { markRestored } from '../store/folder-mark.ts'
import { syncFolder } from '../store/private-file.ts'
import { BackupDamage, type BackupFile, type BackupManifest } from './backup-manifest.ts'
import type { BackupPlace } from './backup-place.ts'
import { readChecked } from './check-backup.ts'

/** Called after each file with the number of files written. */
export type Progress = (done: number, of: number) => void

/**
 * Writes a backup into an absent or empty folder, and compares every checksum. The server that opens the folder is
 * quiet. If a file is damaged, the folder is emptied again and all damaged files are named in a `BackupDamage`. Throws
 * `conflict` if the folder is not empty.
 */
export async function restoreBackup(
  place: BackupPlace,
  name: string,
  folder: string,
  progress: Progress = () => {},
): Promise<BackupManifest> {
  const manifest = await place.manifest(name)
  if (existsSync(folder) && readdirSync(folder).length > 0)
    throw new AppError('conflict', `${folder} is not empty; restore into an empty or absent folder`)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  checkSpace(manifest, folder)
  try {
    // The database comes last: without it, the server does not start on a folder that is only partly restored.
    markRestored(folder, name)
    await writeFiles(place, manifest, folder, progress)
  } catch (error) {
    for (const entry of readdirSync(folder)) await rm(join(folder, entry), { recursive: true, force: true })
    throw error
  }
  return manifest
}

function checkSpace({ files }: BackupManifest, folder: string): void {
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
  const { freeBytes } = diskSpace(folder)
  if (bytes > freeBytes)
    throw new AppError(
      'conflict',
      `the backup has ${sizeText(bytes)}, but only ${sizeText(freeBytes)} are free in ${folder}`,
    )
}

async function writeFiles(
  place: BackupPlace,
  manifest: BackupManifest,
  folder: string,
  progress: Progress,
): Promise<void> {
  const faults: string[] = []
  const database = folderPaths('').database
  const files = manifest.files.toSorted((a, b) => Number(a.path === database) - Number(b.path === database))
  const folders = new Set([folder])
  for (const [index, file] of files.entries()) {
    // After the first damaged file, the others are only checked.
    const target = join(folder, file.path)
    try {
      if (faults.length > 0) await readChecked(place, manifest.name, file)
      else await writeFile(place, manifest.name, file, target)
    } catch (error) {
      if (!(error instanceof BackupDamage)) throw error
      faults.push(error.message)
    }
    for (let at = dirname(target); at !== folder; at = dirname(at)) folders.add(at)
    progress(index + 1, files.length)
  }
  if (faults.length > 0) throw new BackupDamage(faults.join('\n'))
  for (const path of folders) syncFolder(path)
}

async function writeFile(place: BackupPlace, name: string, file: BackupFile, target: string): Promise<void> {
  mkdirSync(dirname(target), { recursive: true, mode: 0o700 })
  const written = await open(target, 'wx', 0o600)
  try {
    await readChecked(place, name, file, async (chunk) => {
      for (let at = 0; at < chunk.length; ) at += (await written.write(chunk, at)).bytesWritten
    })
    await written.sync()
  } finally {
    await written.close()
  }
  await utimes(target, file.modifiedAt / 1000, file.modifiedAt / 1000)
}
