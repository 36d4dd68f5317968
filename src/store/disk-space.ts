import { rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A data folder with less free space than this is treated as full, because the next few batches would not fit. */
const FULL_BELOW_BYTES = 8 * 2 ** 20

/** Size of the test file, which is larger than the largest batch (1 MiB). */
const PROBE_BYTES = 2 * 2 ** 20

/**
 * Returns the number of bytes available to this process on the folder's file system, and the total size of the file
 * system.
 */
export function diskSpace(folder: string): { freeBytes: number; totalBytes: number } {
  const { bavail, blocks, bsize } = statfsSync(folder)
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize }
}

/**
 * Returns the reason why a data folder isn't writable, as a sentence without a path; null if it is writable.
 * @param isRefusing true if the last batch could not be written. A small file is then written and removed, because
 * quotas, file size limits and read-only file systems are not visible in the amount of free space.
 */
export function diskFault(folder: string, isRefusing: boolean): string | null {
  const { freeBytes } = diskSpace(folder)
  if (freeBytes < FULL_BELOW_BYTES) return `the disk is full: ${Math.floor(freeBytes / 2 ** 20)} MiB free`
  if (!isRefusing) return null
  const probe = join(folder, '.write-test')
  try {
    writeFileSync(probe, Buffer.alloc(PROBE_BYTES))
    return null
  } catch (error) {
    return `writing to the disk failed: ${(error as NodeJS.ErrnoException).code ?? error}`
  } finally {
    rmSync(probe, { force: true })
  }
}
