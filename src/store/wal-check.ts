import { existsSync, readFileSync } from 'node:fs'

const HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
/** If the last bit is set, checksums are computed from big-endian words. */
const MAGIC = 0x377f0682

/**
 * Returns a description of the damage to a database's write-ahead log. Required because SQLite silently treats damage
 * as the end of the log. Null if there is no damage, or if the unreadable part may be a single change left unfinished
 * by a power failure. See https://www.sqlite.org/fileformat2.html#the_write_ahead_log
 */
export function walFault(database: string): string | null {
  const path = `${database}-wal`
  // Both files are removed on a clean shutdown.
  if (!existsSync(path)) return existsSync(`${database}-shm`) ? 'is missing' : null
  const log = readFileSync(path)
  if (log.length < HEADER_BYTES) return null
  const magic = log.readUInt32BE(0)
  const pageBytes = log.readUInt32BE(8)
  const isHead = (magic & ~1) === MAGIC && isPageSize(pageBytes)
  if (!isHead) return NOTHING_READABLE
  const addTo = checksumOver(log, (magic & 1) === 1)
  const head = addTo([0, 0], 0, HEADER_BYTES - 8)
  if (!isSum(log, HEADER_BYTES - 8, head)) return NOTHING_READABLE
  const frameBytes = FRAME_HEADER_BYTES + pageBytes
  const salt = log.subarray(16, 24)
  let sum = head
  let [readable, lost, isBroken] = [0, 0, false]
  for (let at = HEADER_BYTES; at + frameBytes <= log.length; at += frameBytes) {
    // After a checkpoint, SQLite overwrites the log from the start. Any frames that follow are from the previous
    // generation and have another salt.
    const isCurrent = log.subarray(at + 8, at + 16).equals(salt)
    if (!isBroken) {
      const next = addTo(addTo(sum, at, 8), at + FRAME_HEADER_BYTES, pageBytes)
      if (isCurrent && isSum(log, at + 16, next)) {
        sum = next
        readable++
        continue
      }
      isBroken = true
    }
    const commits = log.readUInt32BE(at + 4) !== 0
    if (isCurrent && commits) lost++
  }
  return lost >= 2 ? `is readable for ${readable} pages, followed by ${lost} unreadable changes` : null
}

const NOTHING_READABLE = 'is unreadable'

function isPageSize(bytes: number): boolean {
  return bytes >= 512 && bytes <= 65_536 && (bytes & (bytes - 1)) === 0
}

type Sum = readonly [number, number]

const isSum = (log: Buffer, at: number, [one, two]: Sum) =>
  log.readUInt32BE(at) === one && log.readUInt32BE(at + 4) === two

/** Returns a function that adds bytes of the log to a running checksum, eight bytes at a time. */
function checksumOver(log: Buffer, isBigEndian: boolean): (sum: Sum, from: number, bytes: number) => Sum {
  const words = new DataView(log.buffer, log.byteOffset, log.length)
  return ([one, two], from, bytes) => {
    let [first, second] = [one, two]
    for (let at = from; at < from + bytes; at += 8) {
      first = (first + words.getUint32(at, !isBigEndian) + second) >>> 0
      second = (second + words.getUint32(at + 4, !isBigEndian) + first) >>> 0
    }
    return [first, second]
  }
}
