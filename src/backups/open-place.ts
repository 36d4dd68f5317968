import { basename, dirname, resolve } from 'node:path'
import { AppError } from '../core/error.ts'
import type { BackupPlace } from './backup-place.ts'
import { folderPlace, isBackupFolder } from './folder-place.ts'
import { s3Place } from './s3-place.ts'

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
