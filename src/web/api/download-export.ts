import type { QueryKey } from '@tanstack/react-query'
import { messages } from '../messages.ts'
import { notices } from '../state/notices.ts'
import { ApiError, errorMessage } from './api-error.ts'
import { type RequestOptions, send } from './request.ts'

/** The file formats in which every list and insight can be exported. */
const EXPORTS = {
  csv: { accept: 'text/csv', type: 'text/csv;charset=utf-8' },
  json: { accept: 'application/x-ndjson', type: 'application/json' },
} as const
export type ExportFormat = keyof typeof EXPORTS

/** The part of an operation that an export requires. */
export interface ExportedOperation {
  method: string
  path: string
}

/** Bytes after which received chunks are moved to a blob, which browsers store on disk. */
const BLOB_BYTES = 8_000_000

/**
 * Downloads all rows of a list or an insight as a file, with the filters in `queryKey`. `name` is the start of the file
 * name. Errors are shown with a button to retry.
 */
export async function downloadExport(
  operation: ExportedOperation,
  queryKey: QueryKey,
  format: ExportFormat,
  name: string,
): Promise<void> {
  const { path, query } = queryKey[0] as RequestOptions
  const { accept, type } = EXPORTS[format]
  try {
    const response = await send(operation, { ...(path && { path }), ...(query && { query }), headers: { accept } })
    const file = await fileOf(response, format)
    save(new Blob(file, { type }), `tagwarden-${name}-${today()}.${format}`)
    notices.say(messages.components.exported)
  } catch (error) {
    notices.refuse(errorMessage(error), () => void downloadExport(operation, queryKey, format, name))
  }
}

/** Excel reads a CSV file as UTF-8 only if it begins with a byte order mark. */
const BYTE_ORDER_MARK = '\uFEFF'

/** Returns the parts of the file. JSON is one list, with one row per line. Throws an `ApiError` if the export fails. */
async function fileOf(response: Response, format: ExportFormat): Promise<BlobPart[]> {
  const parts: BlobPart[] = [format === 'csv' ? BYTE_ORDER_MARK : '[\n']
  let recent: BlobPart[] = []
  let size = 0
  const flush = () => {
    parts.push(new Blob(recent))
    recent = []
    size = 0
  }
  const lines = new NdjsonToList()
  const reader = (response.body ?? new Blob().stream()).getReader()
  for (;;) {
    const { done, value } = await reader.read().catch(() => {
      throw new ApiError(messages.components.exportCutOff, 0, null)
    })
    if (done) break
    recent.push(format === 'csv' ? value : lines.next(value))
    size += value.length
    if (size > BLOB_BYTES) flush()
  }
  if (format === 'json') recent.push(lines.end())
  flush()
  return parts
}

/** Converts NDJSON to a JSON list while it is received. */
class NdjsonToList {
  private readonly decoder = new TextDecoder()
  private line = ''
  private isFirst = true

  next(chunk: Uint8Array): string {
    const lines = (this.line + this.decoder.decode(chunk, { stream: true })).split('\n')
    this.line = lines.pop() ?? ''
    // The last line may be an error, so it is held back.
    if (lines.length > 0) this.line = `${lines.pop()}\n${this.line}`
    return this.joined(lines)
  }

  /** Returns the end of the list. Throws if the last line is an error. */
  end(): string {
    const lines = this.line.split('\n').filter(Boolean)
    const last = lines.at(-1)
    const row: Record<string, unknown> = last === undefined ? {} : JSON.parse(last)
    if (typeof row.error === 'string' && Object.keys(row).length === 1) throw new ApiError(row.error, 0, null)
    return `${this.joined(lines)}\n]\n`
  }

  private joined(lines: readonly string[]): string {
    if (lines.length === 0) return ''
    const text = `${this.isFirst ? '' : ',\n'}${lines.join(',\n')}`
    this.isFirst = false
    return text
  }
}

/** The date in the browser's time zone, as in ISO 8601. */
const today = () => new Date().toLocaleDateString('sv')

/** Downloads a file. */
export function save(file: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(file)
  link.download = name
  link.click()
  // Large files are read after the click.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
