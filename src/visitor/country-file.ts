import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { AppError } from '../core/error.ts'
import { readAddress } from '../core/ip-address.ts'
import { bytesOf, linesIn } from '../core/line-reader.ts'
import { countText } from '../core/text.ts'
import { AddressRanges, type AddressTable, addressTable, Pauses } from './address-ranges.ts'
import { countryNumber, countryOfNumber, fieldsOf, isPlace, type Row, rowReader } from './country-rows.ts'

/** The countries of addresses. */
export interface CountryLookup {
  /**
   * Returns the ISO 3166-1 alpha-2 code of the address's country. Null for addresses that are private, not in the file
   * or malformed. Never throws.
   */
  countryOf(address: string): string | null
  /** Number of ranges in the files. */
  ranges: number
  /** Size in memory. */
  bytes: number
}

/** City databases have about 6 million ranges. While it is being read, a range takes 36 bytes. */
const MAX_RANGES = 12_000_000

/**
 * Reads the countries of addresses from a file, or from all files in a folder, whose names may end in `.gz`. The format
 * is recognised by the content:
 *
 * - MaxMind's GeoLite2 and GeoIP2 in CSV format, Country or City: a folder with blocks and locations
 * - IP2Location in CSV format, IPv4 or IPv6
 * - DB-IP's country database in CSV format
 *
 * Rejects with `invalid` if a file is missing, damaged or not recognised; the message names the file, the line and the
 * problem. Rejects with the reason of `stopping` when that is aborted.
 */
export async function openCountryFile(
  path: string,
  stopping: AbortSignal = new AbortController().signal,
): Promise<CountryLookup> {
  const contents = new Contents(stopping)
  const { isFolder, files } = countryFiles(path)
  for (const file of files) await contents.read(file, isFolder && !/\.csv(?:\.gz)?$/i.test(file))
  return lookup(await contents.table(path), contents.ranges.length)
}

/**
 * Returns a text that changes when a file is replaced, edited, added or removed. Throws `invalid` if the path can't be
 * read.
 */
export function countryFileVersion(path: string): string {
  const versionOf = (file: string) => {
    const { ino, size, mtimeMs } = statSync(file)
    return `${file} ${ino} ${size} ${mtimeMs}`
  }
  return reading(path, () => countryFiles(path).files.map(versionOf).join('\n'))
}

/** Returns the regular files at a path, sorted by name. Throws `invalid` if there are none. */
function countryFiles(path: string): { isFolder: boolean; files: string[] } {
  return reading(path, () => {
    const isFolder = statSync(path).isDirectory()
    const candidates = isFolder ? readdirSync(path).map((name) => join(path, name)) : [path]
    const files = candidates.filter((file) => statSync(file, { throwIfNoEntry: false })?.isFile()).sort()
    if (files.length === 0) throw new AppError('invalid', `${path}: ${isFolder ? 'contains no file' : 'is not a file'}`)
    return { isFolder, files }
  })
}

/** Everything read so far. */
class Contents {
  readonly ranges = new AddressRanges()
  private readonly places = new Map<number, number>()
  private readonly pauses: Pauses
  private hasPlaces = false
  /** The first of MaxMind's files of blocks. */
  private blocks: string | null = null

  constructor(private readonly stopping: AbortSignal) {
    this.pauses = new Pauses(stopping)
  }

  /** @param isOptional true for a file that is skipped if its format is not recognised, such as a licence */
  async read(file: string, isOptional: boolean): Promise<void> {
    let take: ReturnType<typeof rowReader> = null
    let width = 0
    const lines = linesIn(bytesOf(file))
    try {
      for await (const { row, text } of lines) {
        const fault = (what: string) => new AppError('invalid', `${file}:${row}: ${what}`)
        const fields = text === null ? null : fieldsOf(text)
        if (!take) {
          take = fields && rowReader(fields)
          if (!take && isOptional) return
          if (!take) throw fault('is not the beginning of a country file of MaxMind, IP2Location or DB-IP')
          width = fields?.length ?? 0
          if (take.kind === 'blocks') this.blocks ??= file
          if (take.kind === 'locations') this.hasPlaces = true
          if (take.hasHeader) continue
        }
        if (!fields) throw fault('is too long or has an unclosed quotation mark')
        if (fields.length !== width) throw fault(`must have ${width} fields, but has ${fields.length}`)
        const read = take.read(fields)
        if (typeof read === 'string') throw fault(read)
        this.add(read)
        if (this.ranges.length > MAX_RANGES) throw fault(`a maximum of ${countText(MAX_RANGES)} ranges is supported`)
        if (this.pauses.isDue) await this.pauses.pause()
      }
    } catch (error) {
      throw asFault(file, error)
    }
    if (!take && !isOptional) throw new AppError('invalid', `${file}: is empty`)
  }

  private add(row: Row): void {
    if (row.kind === 'place') this.places.set(row.id, row.country)
    else this.ranges.add(row.first, row.last, row.value)
  }

  async table(path: string): Promise<AddressTable> {
    if (this.blocks !== null && !this.hasPlaces) {
      const needed =
        'a file with the columns geoname_id and country_iso_code, such as GeoLite2-Country-Locations-en.csv'
      throw new AppError('invalid', `${this.blocks}: requires ${needed}, in the same folder; specify the folder`)
    }
    const codeOf = (value: number) => (isPlace(value) ? (this.places.get(value) ?? 0) : countryNumber(value))
    const table = await addressTable(this.ranges, codeOf, this.stopping)
    if (table.bytes === 0) throw new AppError('invalid', `${path}: contains no range of addresses with a country`)
    return table
  }
}

function lookup(table: AddressTable, ranges: number): CountryLookup {
  const words = new Uint32Array(4)
  return {
    countryOf(address) {
      if (typeof address !== 'string' || readAddress(address, words) === null || isPrivate(words)) return null
      return countryOfNumber(table.codeOf(words))
    },
    ranges,
    bytes: table.bytes,
  }
}

/** Blocks of private networks, of shared carrier addresses, and of addresses valid only on one link or host. */
const PRIVATE_V4 = [
  [0x0a00_0000, 8],
  [0x6440_0000, 10],
  [0x7f00_0000, 8],
  [0xa9fe_0000, 16],
  [0xac10_0000, 12],
  [0xc0a8_0000, 16],
] as const
const PRIVATE_V6 = [
  [0xfc00_0000, 7],
  [0xfe80_0000, 10],
] as const

function isPrivate([first = 0, second = 0, third = 0, last = 0]: Uint32Array): boolean {
  const isIn = (word: number, blocks: readonly (readonly [number, number])[]) =>
    blocks.some(([prefix, bits]) => (word ^ prefix) >>> (32 - bits) === 0)
  const isMapped = first === 0 && second === 0 && third === 0xffff
  // `::` and `::1`.
  const isLocal = first === 0 && second === 0 && third === 0 && last <= 1
  return isMapped ? isIn(last, PRIVATE_V4) : isLocal || isIn(first, PRIVATE_V6)
}

/** Returns the result of `read`. Throws `invalid` if the system can't read the file. */
function reading<T>(path: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw asFault(path, error)
  }
}

/** Names for the system's error codes. */
const SYSTEM_FAULTS: Record<string, string> = {
  ENOENT: 'does not exist',
  EACCES: 'is not readable for the user that runs the server',
  Z_BUF_ERROR: 'is cut off',
  Z_DATA_ERROR: 'is damaged or not compressed with gzip',
}

/** Converts an error of the system or of the decompression to `invalid`. Returns any other error unchanged. */
function asFault(path: string, error: unknown): unknown {
  const code = (error as { code?: unknown } | null)?.code
  if (error instanceof AppError || !(error instanceof Error) || typeof code !== 'string') return error
  return new AppError('invalid', `${path}: ${SYSTEM_FAULTS[code] ?? error.message}`)
}
