import { rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Free space below which a data folder counts as full: the next few batches and their commit would not fit. */
export const FULL_BELOW_BYTES = 8 * 2 ** 20

/** Size of the file that proves a folder writable; more than the largest batch (1 MiB). */
const PROBE_BYTES = 2 * 2 ** 20

/** Bytes that this process may still write to the folder's file system, and the size of that file system. */
export function diskSpace(folder: string): { freeBytes: number; totalBytes: number } {
  const { bavail, blocks, bsize } = statfsSync(folder)
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize }
}

/**
 * Returns why nothing can be stored in a data folder, as a sentence without a path; null when writing works.
 *
 * `isRefusing`: the last batch could not be written. A quota, a file size limit or a read-only file system does not show
 * in the free space, so a small file is then written and removed.
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
