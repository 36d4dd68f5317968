import { readFileSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { ArchiveError, type ArchiveLimits, isZip, readHarArchive } from '../browser/har-archive.ts'
import { type Attachment, type AttachmentReader, MAX_ATTACHMENT_BYTES, quoted } from '../browser/har-body.ts'
import { type HarRequest, type RecordedHit, requestsOfHar } from '../browser/har-requests.ts'
import { messageOf } from '../core/error.ts'
import { UsageError } from './command.ts'

/** Descriptions of the system's error codes for files that can't be read. */
const FILE_FAULTS: Record<string, string> = {
  ENOENT: 'file not found',
  ENOTDIR: 'file not found',
  EACCES: 'permission denied',
  EISDIR: 'is a folder, not a file',
}

const ARCHIVE: ArchiveLimits = { harBytes: 256 * 1024 * 1024, attachmentBytes: 256 * 1024 * 1024, entries: 50_000 }

const codeOf = (error: unknown) => String((error as { code?: unknown } | null)?.code ?? '')

/**
 * Returns all requests in a HAR file (http://www.softwareishard.com/blog/har-12-spec/) or in a ZIP archive that
 * contains a HAR. Bodies in attachments (`_file`) are read from the archive, or from the folder of the HAR. Rejects
 * with `UsageError` when the file is neither.
 */
export async function readHar(path: string): Promise<RecordedHit[]> {
  return hitsIn(await readHarRequests(path))
}

/** Like `readHar`, with the position of each request in the file. */
export async function readHarRequests(path: string): Promise<HarRequest[]> {
  try {
    const bytes = readFileSync(path)
    if (!isZip(bytes)) return requestsOf(jsonOf(bytes.toString()), path, attachmentsNextTo(path))
    const { value, attachmentOf } = await readHarArchive(bytes, ARCHIVE)
    return requestsOf(value, path, attachmentOf)
  } catch (error) {
    if (error instanceof UsageError) throw error
    if (error instanceof ArchiveError) throw new UsageError(`${path}: ${error.message}`)
    throw new UsageError(`${path}: ${FILE_FAULTS[codeOf(error)] ?? messageOf(error)}`)
  }
}

/** Returns the requests in a HAR given as a string. Error messages refer to the HAR as `name`. */
export function parseHar(text: string, name: string, attachmentOf?: AttachmentReader): RecordedHit[] {
  return hitsIn(requestsOf(jsonOf(text), name, attachmentOf))
}

const hitsIn = (requests: readonly HarRequest[]) => requests.map(({ hit }) => hit)

// Some recorders write a byte order mark, which `JSON.parse` rejects.
const jsonOf = (text: string): unknown => JSON.parse(text.replace(/^\uFEFF/, ''))

function requestsOf(value: unknown, name: string, attachmentOf?: AttachmentReader): HarRequest[] {
  const requests = requestsOfHar(value, attachmentOf)
  if (!requests) throw new UsageError(`${name}: is not a HAR file because log.entries is missing`)
  return requests
}

/**
 * Returns a reader for attachments in the folder of a HAR. It never reads other folders, links out of the folder or
 * hidden files. Otherwise, a HAR from a third party could name any file, whose content would be sent to the collector.
 */
function attachmentsNextTo(path: string): AttachmentReader {
  return (name) => {
    try {
      return attachmentIn(realpathSync(dirname(path)), name)
    } catch {
      return { fault: `stored in the attachment ${quoted(name)}, which is not next to the HAR file` }
    }
  }
}

function attachmentIn(folder: string, name: string): Attachment {
  const isPlain = name === basename(name) && !name.startsWith('.')
  const file = isPlain ? realpathSync(join(folder, name)) : ''
  if (dirname(file) !== folder) return { fault: `the attachment ${quoted(name)} is not a file next to the HAR file` }
  const stats = statSync(file)
  if (!stats.isFile()) return { fault: `the attachment ${quoted(name)} is not a file` }
  if (stats.size > MAX_ATTACHMENT_BYTES) return { fault: `the attachment ${quoted(name)} is larger than 1 MiB` }
  return { bytes: readFileSync(file) }
}
