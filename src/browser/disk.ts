import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'

const BLOCK_BYTES = 512

/** Returns what the files below a folder take of the disk, in bytes. What goes away meanwhile does not count; 0 without the folder. */
export async function diskUseOf(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true }).catch(() => [])
  let bytes = 0
  for (const name of names) {
    const found = await lstat(join(folder, name)).catch(() => null)
    bytes += (found?.blocks ?? 0) * BLOCK_BYTES
  }
  return bytes
}
