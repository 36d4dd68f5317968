import { createReadStream } from 'node:fs'
import { createGunzip } from 'node:zlib'

/** A line in a file. */
export interface FileLine {
  /** Line number, starting at 1. */
  row: number
  /** Text without the line ending; null if the line is longer than `MAX_LINE_BYTES`. */
  text: string | null
}

/** Same as the collector's limit for a batch. */
export const MAX_LINE_BYTES = 1024 * 1024
const CHUNK_BYTES = 1024 * 1024
const LINE_END = 10
const BYTE_ORDER_MARK = '\uFEFF'

/**
 * Reads a file, and decompresses it if its name ends in `.gz`. Calls `read` with the number of bytes read from the
 * file.
 */
export function bytesOf(path: string, read: (bytes: number) => void = () => {}): AsyncIterable<Buffer> {
  const file = createReadStream(path, { highWaterMark: CHUNK_BYTES })
  file.on('data', (part) => read(part.length))
  if (!path.endsWith('.gz')) return file
  const unpacked = createGunzip({ chunkSize: CHUNK_BYTES })
  file.on('error', (error) => unpacked.destroy(error))
  // Closes the file when the caller stops reading before its end.
  unpacked.on('close', () => file.destroy())
  return file.pipe(unpacked)
}

/** Yields all lines that are not blank. Lines that are too long are not kept in memory. */
export async function* linesIn(bytes: AsyncIterable<Buffer>): AsyncGenerator<FileLine> {
  let row = 1
  let rest: Buffer[] = []
  let length = 0
  const take = (): FileLine | null => {
    const isLong = length > MAX_LINE_BYTES
    const [first] = rest
    const whole = first && rest.length === 1 ? first : Buffer.concat(rest)
    const text = isLong ? null : whole.toString('utf8')
    const line = { row, text: row === 1 && text?.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text }
    row++
    rest = []
    length = 0
    return line.text?.trim() === '' ? null : line
  }
  for await (const part of bytes) {
    let start = 0
    for (let end = part.indexOf(LINE_END); end >= 0; end = part.indexOf(LINE_END, start)) {
      length += end - start
      if (length <= MAX_LINE_BYTES) rest.push(part.subarray(start, end))
      start = end + 1
      const line = take()
      if (line) yield line
    }
    length += part.length - start
    if (length <= MAX_LINE_BYTES) rest.push(part.subarray(start))
    else rest = []
  }
  if (length > 0) {
    const line = take()
    if (line) yield line
  }
}
