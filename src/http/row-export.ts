import Negotiator from 'negotiator'
import type { TObject, TSchema } from '../core/schema.ts'
import { Yielder } from '../core/yield-to-event-loop.ts'

/** The content types of exports, besides JSON. */
export const CSV = 'text/csv'
export const NDJSON = 'application/x-ndjson'
export type ExportType = typeof CSV | typeof NDJSON

/** How the response of a route is exported as rows. */
export interface RowExport<Answer = unknown> {
  /** Schema of a row. Its fields are the columns of a CSV file, in this order. */
  row: TObject
  /** Returns the rows of a response, or of one page of it. */
  rowsOf(answer: Answer): readonly object[]
}

/** Exports the list `name` of a response. Throws when the items of this list are not objects. */
export function itemsOf(answer: TSchema, name: string): RowExport {
  const row = answer.properties?.[name]?.items
  if (row?.type !== 'object') throw new Error(`${name} of ${answer.$id} is not a list of objects`)
  return { row, rowsOf: (value) => (value as Record<string, object[]>)[name] ?? [] }
}

/** Offered content types by what is sent. Parameters that a caller adds to `text/csv` must match one of these. */
const OFFERS: Readonly<Record<string, ExportType | null>> = {
  'application/json; charset=utf-8': null,
  'text/csv; charset=utf-8; header=present': CSV,
  'application/x-ndjson; charset=utf-8': NDJSON,
}

/** Returns the content type that an `Accept` header prefers; null for JSON, which is also sent if nothing matches. */
export function exportTypeOf(accept: string | null): ExportType | null {
  if (accept === null) return null
  const chosen = new Negotiator({ headers: { accept } }).mediaType(Object.keys(OFFERS))
  return chosen === undefined ? null : (OFFERS[chosen] ?? null)
}

/** Returns the value of the `Content-Type` header of an export. */
export const contentTypeOf = (type: ExportType): string =>
  type === CSV ? 'text/csv; charset=utf-8; header=present' : NDJSON

/** Spreadsheets evaluate texts with these first characters: https://owasp.org/www-community/attacks/CSV_Injection */
const FORMULA = /^[=+\-@\t\r]/

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const safe = FORMULA.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

interface Format {
  head: string
  lineOf(row: object): string
}

const csvLine = (cells: readonly unknown[]) => `${cells.map(cellOf).join(',')}\r\n`

/** Returns the format of a file with rows of this schema: CSV as in RFC 4180, or one JSON object per line. */
export function formatOf(type: ExportType, row: TObject): Format {
  if (type === NDJSON) return { head: '', lineOf: (value) => `${JSON.stringify(value)}\n` }
  const names = Object.keys(row.properties)
  return {
    head: csvLine(names),
    lineOf: (value) => csvLine(names.map((name) => (value as Record<string, unknown>)[name])),
  }
}

/** Size in characters from which a chunk is sent. */
const CHUNK_LENGTH = 65_536

/** Yields the text of an export in chunks. Reads a page only when the chunks before it have been taken. */
async function* chunksOf(
  { row, rowsOf }: RowExport,
  type: ExportType,
  readPage: (cursor: string | null) => Promise<unknown>,
): AsyncGenerator<string> {
  const { head, lineOf } = formatOf(type, row)
  let text = head
  let cursor: string | null = null
  do {
    const answer = await readPage(cursor)
    const yielder = new Yielder()
    for (const value of rowsOf(answer)) {
      text += lineOf(value)
      if (text.length >= CHUNK_LENGTH) {
        yield text
        text = ''
      }
      if (yielder.isDue) await yielder.yieldNow()
    }
    yield text
    text = ''
    cursor = (answer as { nextCursor?: string | null }).nextCursor ?? null
  } while (cursor !== null)
}

/**
 * Returns the stream of an export, after its first page has been read. `readPage` returns the page after a cursor, and
 * the first one for null. It is called only when the caller has received the rows before. If it fails after the first
 * page, the error is passed to `onError`. NDJSON then ends with a line that contains the returned message, and CSV,
 * which has no place for it, breaks off without its end.
 */
export async function exportStream(
  exported: RowExport,
  type: ExportType,
  readPage: (cursor: string | null) => Promise<unknown>,
  onError: (error: unknown) => string,
): Promise<ReadableStream<Uint8Array>> {
  const chunks = chunksOf(exported, type, readPage)
  const encoder = new TextEncoder()
  let first: IteratorResult<string> | null = await chunks.next()
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const { done, value } = first ?? (await chunks.next())
          first = null
          if (done) controller.close()
          else controller.enqueue(encoder.encode(value))
        } catch (error) {
          const message = onError(error)
          // Bun resets the connection, and logs every error but undefined.
          if (type === CSV) return controller.error(undefined)
          controller.enqueue(encoder.encode(`${JSON.stringify({ error: message })}\n`))
          controller.close()
        }
      },
      cancel: async () => void (await chunks.return(undefined)),
    },
    { highWaterMark: 0 },
  )
}
