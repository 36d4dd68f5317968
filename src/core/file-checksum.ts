import { open } from 'node:fs/promises'

const CHUNK_BYTES = 256 * 1024

/** Returns the CRC-32 of a file; null if it doesn't exist. Reads in chunks to keep the event loop responsive. */
export async function fileChecksum(path: string): Promise<number | null> {
  const file = await open(path, 'r').catch(nullIfMissing)
  if (!file) return null
  try {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
    for (let sum = 0; ; ) {
      const { bytesRead } = await file.read(chunk, 0, chunk.length)
      if (bytesRead === 0) return sum
      sum = Bun.hash.crc32(chunk.subarray(0, bytesRead), sum)
    }
  } finally {
    await file.close()
  }
}

/** Use in `catch` when opening a file. Returns null if the file doesn't exist; rethrows any other error. */
export function nullIfMissing(error: unknown): null {
  if ((error as { code?: string }).code === 'ENOENT') return null
  throw error
}
