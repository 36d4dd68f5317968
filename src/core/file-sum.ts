import { open } from 'node:fs/promises'

const PART_BYTES = 256 * 1024

/** The CRC-32 of a file; null when it is gone. Read part by part, so that nothing else waits long. */
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

/** To be given the error of a call that opens a file: null when it says that there is none; any other is thrown. */
export function unlessGone(error: unknown): null {
  if ((error as { code?: string }).code === 'ENOENT') return null
  throw error
}
