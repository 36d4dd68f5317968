import { basename, dirname, resolve } from 'node:path'
import { AppError } from '../core/error.ts'
import type { BackupFile, BackupManifest } from './backup-manifest.ts'
import { folderPlace, isBackupFolder } from './folder-place.ts'
import { s3Place } from './s3-place.ts'
import type { SnapshotFile } from './take-snapshot.ts'

/** Where backups are stored: a folder, or a bucket of an S3-compatible service. */
export interface BackupPlace {
  /** The folder or address, without credentials. */
  readonly title: string
  /** Names of the complete backups, oldest first. */
  names(): Promise<string[]>
  /** Reads the list of a backup's files. Throws `BackupDamage`. */
  manifest(name: string): Promise<BackupManifest>
  /** Reads a file of a backup. Throws `BackupDamage` if it is missing. */
  read(name: string, file: BackupFile): AsyncIterable<Uint8Array>
  /** Identifies the stored bytes of a file, which several backups may share. */
  identityOf(name: string, file: BackupFile): string
  /** Starts a backup. It becomes visible only when it is complete. */
  begin(name: string, serverId: string | null): Promise<BackupDraft>
  /** Deletes a backup, except the files that other backups use. */
  remove(name: string): Promise<void>
}

/** A backup that is being written. */
export interface BackupDraft {
  /**
   * Stores a file and returns its checksum and the number of bytes written.
   * @param earlier the same file in an earlier backup, if it has not changed since
   */
  add(
    file: SnapshotFile,
    earlier: { name: string; file: BackupFile } | null,
  ): Promise<{ sha256: string; added: number }>
  /** Completes the backup. */
  finish(manifest: BackupManifest): Promise<void>
  /** Deletes what was written. */
  discard(): Promise<void>
}

/** Opens a place: `s3://bucket/prefix` or the path of a folder. Throws `invalid` for an invalid address. */
export function openPlace(address: string, env: NodeJS.ProcessEnv): BackupPlace {
  return address.startsWith('s3://') ? s3Place(address, env) : folderPlace(address)
}

/** A backup in its place. */
export interface LocatedBackup {
  place: BackupPlace
  name: string
}

/**
 * Finds backups, oldest first: all in a place, or one if `address` is the folder of a backup. `name` selects one. Throws
 * `notFound` if there are none.
 */
export async function locateBackups(
  address: string,
  env: NodeJS.ProcessEnv,
  name: string | null = null,
): Promise<LocatedBackup[]> {
  if (!address.startsWith('s3://') && isBackupFolder(address)) {
    const path = resolve(address)
    return [{ place: folderPlace(dirname(path)), name: basename(path) }]
  }
  const place = openPlace(address, env)
  const found = (await place.names()).filter((one) => name === null || one === name)
  if (found.length === 0)
    throw new AppError('notFound', `there is no ${name === null ? '' : `such `}backup in ${place.title}`)
  return found.map((one) => ({ place, name: one }))
}
