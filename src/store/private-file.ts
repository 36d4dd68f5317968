import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** Creates an empty file that only its owner can read, unless the file already exists. */
export function makePrivateFile(path: string): void {
  closeSync(openSync(path, 'a', 0o600))
}

/** Writes a new file and syncs it to disk. Throws if the file already exists. */
export function writeWhole(path: string, content: Uint8Array, mode = 0o600): void {
  closeSynced(openSync(path, 'wx', mode), content)
}

/** Writes the content to an open file, syncs it to disk, and closes the file. */
export function closeSynced(fd: number, content: Uint8Array | string): void {
  try {
    writeFileSync(fd, content)
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

/**
 * Atomically creates a file that only its owner can read. After a power failure, the file is either complete or absent.
 * Leaves an existing file unchanged.
 */
export function makeWholeFile(path: string, content: Uint8Array): void {
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  try {
    writeWhole(draft, content)
    linkSync(draft, path)
  } catch (error) {
    if ((error as { code?: string }).code !== 'EEXIST') throw error
  } finally {
    rmSync(draft, { force: true })
  }
  syncFolder(dirname(path))
}

/** Makes the names of the files in a folder durable, for example after a file was created or renamed. */
export function syncFolder(path: string): void {
  const fd = openSync(path, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}
