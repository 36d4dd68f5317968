import { messageOf } from '../core/error.ts'
import { BackupDamage, type BackupFile, type BackupManifest } from './backup-manifest.ts'
import type { BackupPlace } from './backup-place.ts'

/** A damaged or missing file of a backup. */
interface BackupFault {
  path: string
  fault: string
}

/** Result of checking one backup. */
export interface CheckedBackup {
  name: string
  /** Null if the list of files is damaged. */
  manifest: BackupManifest | null
  faults: BackupFault[]
}

/**
 * Reads a file of a backup, passes its bytes to `write`, and compares their number and checksum with the list. Throws
 * `BackupDamage` with the path.
 */
export async function readChecked(
  place: BackupPlace,
  name: string,
  file: BackupFile,
  write: (chunk: Uint8Array) => Promise<void> = async () => {},
): Promise<void> {
  const hash = new Bun.CryptoHasher('sha256')
  let bytes = 0
  for await (const chunk of place.read(name, file)) {
    hash.update(chunk)
    bytes += chunk.length
    await write(chunk)
  }
  if (bytes !== file.bytes) throw new BackupDamage(`${file.path} has ${bytes} bytes instead of ${file.bytes}`)
  if (hash.digest('hex') !== file.sha256) throw new BackupDamage(`${file.path} does not match its checksum`)
}

/** Compares every file of a backup with its checksum. `checked`: stored bytes that were already found intact. */
export async function checkBackup(
  place: BackupPlace,
  name: string,
  checked: Set<string> = new Set(),
): Promise<CheckedBackup> {
  const faults: BackupFault[] = []
  let manifest: BackupManifest | null = null
  try {
    manifest = await place.manifest(name)
  } catch (error) {
    if (!(error instanceof BackupDamage)) throw error
    return { name, manifest, faults: [{ path: 'backup.json', fault: error.message }] }
  }
  for (const file of manifest.files) {
    const identity = `${place.identityOf(name, file)} ${file.sha256}`
    if (checked.has(identity)) continue
    try {
      await readChecked(place, name, file)
      checked.add(identity)
    } catch (error) {
      if (error instanceof BackupDamage) faults.push({ path: file.path, fault: error.message })
      else if (isReadFault(error))
        faults.push({ path: file.path, fault: `${file.path} can't be read: ${messageOf(error)}` })
      else throw error
    }
  }
  return { name, manifest, faults }
}

/** True for errors of the disk or the file; false for errors of the connection. */
function isReadFault(error: unknown): boolean {
  return /^(?:EIO|EACCES|EPERM|EISDIR|EUCLEAN)$/.test(String((error as { code?: unknown } | null)?.code))
}
