import { readFileSync } from 'node:fs'
import { type RecordedHit, requestsOfHar } from '../browser/har-requests.ts'
import { messageOf } from '../core/error.ts'
import { UsageError } from './command.ts'

/** The system's error codes for unreadable files, in words. */
const FILE_FAULTS: Record<string, string> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EACCES: 'the file may not be read',
  EISDIR: 'is a folder, not a file',
}

const codeOf = (error: unknown) => String((error as { code?: unknown } | null)?.code ?? '')

/**
 * Returns the requests of a HAR file, to any URL (http://www.softwareishard.com/blog/har-12-spec/). Fails with
 * `UsageError` when it is none.
 */
export function readHar(path: string): RecordedHit[] {
  try {
    return parseHar(readFileSync(path, 'utf8'), path)
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(`${path}: ${FILE_FAULTS[codeOf(error)] ?? messageOf(error)}`)
  }
}

/** Returns the requests of a HAR's text; error messages use `name`. */
export function parseHar(text: string, name: string): RecordedHit[] {
  // Some recorders write a byte order mark.
  const requests = requestsOfHar(JSON.parse(text.replace(/^\uFEFF/, '')))
  if (!requests) throw new UsageError(`${name}: is not a HAR file, log.entries is missing`)
  return requests.map(({ hit }) => hit)
}
