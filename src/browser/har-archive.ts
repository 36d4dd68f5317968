import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl'
import { messageOf } from '../core/error.ts'
import { type Attachment, type AttachmentReader, MAX_ATTACHMENT_BYTES, quoted } from './har-body.ts'
import { attachmentsOfHar } from './har-requests.ts'

/** Limits for an archive. They apply to both declared and actual sizes. */
export interface ArchiveLimits {
  /** Maximum unpacked size of the HAR, in bytes. */
  harBytes: number
  /** Maximum unpacked size of all attachments together, in bytes. */
  attachmentBytes: number
  entries: number
}

/** Maximum compression ratio of entries whose unpacked size exceeds 1 MiB. */
const MAX_RATIO = 200
const RATIO_FROM_BYTES = 1024 * 1024

/**
 * Supported compression methods, which are stored (0) and deflated (8):
 * https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT, 4.4.5
 */
const METHODS = [0, 8]

/** Thrown when an archive can't be read. The message continues a sentence that begins with the archive's name. */
export class ArchiveError extends Error {}

/**
 * Returns whether the bytes begin like a ZIP archive: with an entry or, in an empty archive, with the end of the
 * directory.
 */
export function isZip([a, b, c, d]: Uint8Array): boolean {
  return a === 0x50 && b === 0x4b && ((c === 3 && d === 4) || (c === 5 && d === 6))
}

/** A HAR read from an archive. */
export interface ArchivedHar {
  /** The parsed HAR. */
  value: unknown
  attachmentOf: AttachmentReader
}

/**
 * Reads the HAR in a ZIP archive and the attachments named by its requests, as written by Playwright (`.har.zip`).
 * Nothing is written to disk, and other entries are not unpacked. An unreadable attachment affects only its own
 * request. Throws `ArchiveError` when the bytes are not an archive, when the archive does not contain exactly one HAR,
 * or when it exceeds the limits.
 */
export async function readHarArchive(bytes: Uint8Array, limits: ArchiveLimits): Promise<ArchivedHar> {
  const { zip, entries } = await directoryOf(bytes, limits)
  const hars = [...entries.keys()].filter((name) => /\.har$/i.test(name) && !isHidden(name))
  const [name] = hars
  if (name === undefined) throw new ArchiveError('contains no .har file')
  if (hars.length > 1) throw new ArchiveError(`contains ${hars.length} .har files; only one is allowed`)
  const value = await parsedHar(zip, entries.get(name) as Entry, limits.harBytes)
  const folder = name.slice(0, name.lastIndexOf('/') + 1)
  const attachments = new Map<string, Attachment>()
  let left = limits.attachmentBytes
  for (const file of attachmentsOfHar(value)) {
    const attachment = await attachmentIn(zip, entries.get(folder + file), { file, left })
    if ('bytes' in attachment) left -= attachment.bytes.length
    attachments.set(file, attachment)
  }
  return { value, attachmentOf: (file) => attachments.get(file) ?? absent(file) }
}

/** Returns the files of an archive by name. If several files have the same name, the first one is used. */
async function directoryOf(bytes: Uint8Array, limits: ArchiveLimits) {
  const entries = new Map<string, Entry>()
  try {
    const zip = await fromBufferPromise(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
    if (zip.entryCount > limits.entries) throw new ArchiveError(`contains more than ${limits.entries} files`)
    for await (const entry of zip.eachEntry()) {
      if (!entry.fileName.endsWith('/') && !entries.has(entry.fileName)) entries.set(entry.fileName, entry)
    }
    return { zip, entries }
  } catch (error) {
    if (error instanceof ArchiveError) throw error
    throw new ArchiveError(`is not a readable ZIP archive: ${messageOf(error)}`)
  }
}

/** Returns whether a file is metadata added by macOS. */
function isHidden(name: string): boolean {
  return /(?:^|\/)(?:__MACOSX\/|\.[^/]*$)/.test(name)
}

async function parsedHar(zip: ZipFile, entry: Entry, limit: number): Promise<unknown> {
  const name = quoted(entry.fileName)
  let text: string
  try {
    text = (await unpacked(zip, entry, limit)).toString()
  } catch (error) {
    throw new ArchiveError(`${name} ${messageOf(error)}`)
  }
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new ArchiveError(`${name} is not valid JSON`)
  }
}

async function attachmentIn(
  zip: ZipFile,
  entry: Entry | undefined,
  { file, left }: { file: string; left: number },
): Promise<Attachment> {
  if (!entry) return absent(file)
  try {
    // The declared size can be checked before unpacking, because an entry never unpacks to more than that size.
    if (Math.min(entry.uncompressedSize, MAX_ATTACHMENT_BYTES) > left) {
      throw new Error('exceeds the limit for all attachments')
    }
    return { bytes: await unpacked(zip, entry, MAX_ATTACHMENT_BYTES) }
  } catch (error) {
    return { fault: `the attachment ${quoted(file)} ${messageOf(error)}` }
  }
}

const absent = (file: string): Attachment => ({
  fault: `stored in the attachment ${quoted(file)}, which is not in the archive`,
})

/** Returns the content of an entry. Error messages continue a sentence that begins with the name of the entry. */
async function unpacked(zip: ZipFile, entry: Entry, limit: number): Promise<Buffer> {
  const { uncompressedSize, compressedSize } = entry
  if (entry.isEncrypted()) throw new Error('is encrypted')
  if (!METHODS.includes(entry.compressionMethod)) throw new Error('uses a compression method other than deflate')
  if (uncompressedSize > limit) throw new Error(`is larger than ${limit} bytes`)
  if (uncompressedSize > RATIO_FROM_BYTES && uncompressedSize > MAX_RATIO * compressedSize) {
    throw new Error(`unpacks to more than ${MAX_RATIO} times its size`)
  }
  const parts: Buffer[] = []
  try {
    // The stream fails as soon as it exceeds the declared size of the entry.
    for await (const part of await zip.openReadStreamPromise(entry)) parts.push(part as Buffer)
  } catch {
    throw new Error('is damaged')
  }
  return Buffer.concat(parts)
}
