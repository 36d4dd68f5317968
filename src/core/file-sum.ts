import { open } from 'node:fs/promises'

const PART_BYTES = 256 * 1024

/**
 * Returns the CRC-32 of a file; null when there is no such file. Reads in parts, so that the event loop is not blocked.
 */
export async function sumOf(path: string): Promise<number | null> {
  const file = await open(path, 'r').catch(unlessGone)
  if (!file) return null
  try {
    const part = Buffer.allocUnsafe(PART_BYTES)
    for (let sum = 0; ; ) {
      const { bytesRead } = await file.read(part, 0, part.length)
      if (bytesRead === 0) return sum
      sum = Bun.hash.crc32(part.subarray(0, bytesRead), sum)
    }
  } finally {
    await file.close()
  }
}

/**
 * A `catch` handler for opening a file: returns null when there is no such file, and throws every other error again.
 */
export function unlessGone(error: unknown): null {
  if ((error as { code?: string }).code === 'ENOENT') return null
  throw error
}
