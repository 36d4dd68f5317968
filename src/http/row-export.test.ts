import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect, type Socket } from 'node:net'
import { Elysia } from 'elysia'
import fc from 'fast-check'
import { memoryDb } from '../../test/fixtures.ts'
import { until } from '../../test/run-program.ts'
import { AppError } from '../core/error.ts'
import { Closed, Int, Nullable, Type } from '../core/schema.ts'
import { answerErrors } from './error-responses.ts'
import { encodeCursor, NextCursorSchema, page, pagingFields } from './paging.ts'
import { performer } from './perform-call.ts'
import { route } from './route.ts'
import { router } from './router.ts'
import { CSV, type ExportType, exportTypeOf, formatOf, itemsOf, NDJSON } from './row-export.ts'

describe('an Accept header', () => {
  test.each<[string, ExportType | null]>([
    ['text/csv', CSV],
    ['application/x-ndjson', NDJSON],
    ['TEXT/CSV', CSV],
    ['text/csv; charset=utf-8', CSV],
    ['text/csv;header=present', CSV],
    ['text/csv;header=absent', null],
    ['text/*', CSV],
    ['*/*', null],
    ['application/*', null],
    ['application/json', null],
    ['', null],
    ['image/png', null],
    ['text/csv;q=0', null],
    ['text/csv, */*', CSV],
    ['text/csv;q=0.5, */*;q=0.1', CSV],
    ['text/csv;q=0.5, application/json', null],
    ['text/csv;q=0.2, application/x-ndjson;q=0.8', NDJSON],
    ['*/*;q=0.1, application/x-ndjson;q=0.2, text/csv;q=0.3', CSV],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', null],
  ])('%s selects %s', (accept, type) => {
    expect(exportTypeOf(accept)).toBe(type)
  })

  test('that is missing selects JSON', () => expect(exportTypeOf(null)).toBeNull())

  test('never causes an error', () => {
    const part = fc.constantFrom('text/csv', ';', 'q=', '0.5', ',', '"', '*', '/', ' ', '=', 'é')
    const header = fc.array(part, { maxLength: 12 }).map((parts) => parts.join(''))
    fc.assert(fc.property(header, (accept) => [CSV, NDJSON, null].includes(exportTypeOf(accept))))
  })
})

const Row = Closed({
  text: Nullable(Type.String()),
  number: Type.Optional(Int()),
  on: Type.Boolean(),
  list: Type.Unknown(),
})

describe('a CSV file', () => {
  const { head, lineOf } = formatOf(CSV, Row)

  test.each<[Record<string, unknown>, string]>([
    [{ text: 'a', number: 1, on: true, list: [] }, 'a,1,true,[]'],
    [{ text: null, on: false, list: null }, ',,false,'],
    [{ text: 'a,"b"\nc', number: -2, on: true, list: { a: 'b' } }, '"a,""b""\nc",-2,true,"{""a"":""b""}"'],
    [{ text: '=1+1', number: 0, on: true, list: '@x' }, "'=1+1,0,true,'@x"],
    [{ text: '-1,5', on: true, list: '+1' }, `"'-1,5",,true,'+1`],
    [{ text: 'Zürich 東京 🛒', on: true, list: 'a=b' }, 'Zürich 東京 🛒,,true,a=b'],
  ])('has a line for %j', (row, line) => expect(lineOf(row)).toBe(`${line}\r\n`))

  test('begins with the names of the columns', () => expect(head).toBe('text,number,on,list\r\n'))

  test('can be read again, and no text begins like a formula', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' }), { minLength: 4, maxLength: 4 }), (texts) => {
        const [text, , , list] = texts
        const cells = cellsOf(lineOf({ text, number: 1, on: true, list }))
        for (const cell of cells) expect(cell).not.toMatch(/^[=+\-@]/)
        const restored = [cells[0], cells[3]].map((cell) => cell?.replace(/^'(?=[=+\-@\t\r])/, ''))
        expect(restored).toEqual([text, list] as string[])
      }),
    )
  })
})

/** Reads one record as in RFC 4180. */
function cellsOf(line: string): string[] {
  const cells: string[] = []
  let rest = line
  while (true) {
    const quoted = /^"((?:[^"]|"")*)"(,|\r\n$)/.exec(rest)
    const [whole = '', cell = '', end = ''] = quoted ?? /^([^",\r\n]*)(,|\r\n$)/.exec(rest) ?? []
    if (whole === '') throw new Error(`not CSV: ${rest}`)
    cells.push(quoted ? cell.replaceAll('""', '"') : cell)
    if (end !== ',') return cells
    rest = rest.slice(whole.length)
  }
}

test('items that are not objects cannot be exported', () => {
  expect(() => itemsOf(Closed({ names: Type.Array(Type.String()) }, { $id: 'Names' }), 'names')).toThrow(
    'names of Names',
  )
})

/** Bytes of a row, so that a page is larger than the buffers of a connection allow for all pages. */
const PAD = 'x'.repeat(10_000)

describe('an export over HTTP', () => {
  const state = { total: 0, pages: 0, failAt: Number.POSITIVE_INFINITY, error: null as unknown, role: 'viewer' }
  const reported: unknown[] = []
  let server: ReturnType<typeof Bun.serve>
  const List = Closed({ rows: Type.Array(Closed({ n: Int(), pad: Type.String() })), nextCursor: NextCursorSchema })
  const rows = route({
    id: 'listRows',
    method: 'GET',
    path: '/v1/rows',
    access: 'read',
    tag: 'Test',
    summary: 'Test',
    query: Closed({ from: Type.Optional(Int()), ...pagingFields }),
    answer: List,
    exports: 'rows',
    async handle({ query: { from = 0, limit = 50, cursor } }) {
      state.pages++
      const first = cursor === undefined ? from : Number(JSON.parse(Buffer.from(cursor, 'base64url').toString())[0]) + 1
      if (first >= state.failAt) throw state.error
      const count = Math.max(0, Math.min(limit + 1, state.total - first))
      const found = Array.from({ length: count }, (_, index) => ({ n: first + index, pad: PAD }))
      const { items, nextCursor } = page(found, limit, ({ n }) => [n])
      return { rows: items, nextCursor }
    },
  })
  const reset = (total: number, more: Partial<typeof state> = {}) =>
    Object.assign(state, { total, pages: 0, failAt: Number.POSITIVE_INFINITY, error: null, role: 'viewer' }, more)

  beforeAll(() => {
    const authenticate = () => {
      if (state.role === '') throw new AppError('unauthorized', 'unknown, expired or revoked credential')
      const role = 'viewer' as const
      return { via: 'key', userId: 'u', orgId: 'o', role, readOnly: false, keyId: 'k', sessionId: null } as const
    }
    const perform = performer({ db: memoryDb(), audit: () => {} })
    const app = answerErrors(new Elysia({ normalize: false }), (error) => reported.push(error))
    app.use(router([rows], { authenticate, perform, report: (error) => reported.push(error) }))
    server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (request) => app.handle(request) })
  })
  afterAll(() => server.stop(true))
  const get = (accept: string, query = '') => fetch(new URL(`/v1/rows${query}`, server.url), { headers: { accept } })

  test('contains the rows of all pages, whatever the limit', async () => {
    reset(1001)
    const response = await get(NDJSON, '?limit=2&from=1')
    expect([response.status, response.headers.get('content-type'), response.headers.get('vary')]).toEqual([
      200,
      NDJSON,
      'Accept',
    ])
    const lines = (await response.text()).trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line).n)).toEqual(Array.from({ length: 1000 }, (_, index) => index + 1))
    expect(state.pages).toBe(5)
  })

  test('begins after a cursor', async () => {
    reset(5)
    const text = await (await get(CSV, `?cursor=${encodeCursor([2])}`)).text()
    expect(text).toBe(`n,pad\r\n3,${PAD}\r\n4,${PAD}\r\n`)
  })

  test('of an empty list has only the names of the columns', async () => {
    reset(0)
    const response = await get(CSV)
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present')
    expect(await response.text()).toBe('n,pad\r\n')
    expect(await (await get(NDJSON)).text()).toBe('')
  })

  test('is JSON by default, with one page', async () => {
    reset(60)
    const response = await get('*/*')
    expect([response.headers.get('content-type'), response.headers.get('vary')]).toEqual(['application/json', 'Accept'])
    expect(((await response.json()) as { rows: unknown[] }).rows.length).toBe(50)
  })

  test.each([CSV, NDJSON])('as %s is refused with the usual error before the first row', async (type) => {
    reset(5, { failAt: 0, error: new AppError('notFound', 'no such thing') })
    const response = await get(type)
    expect([response.status, await response.json()]).toEqual([404, { error: 'no such thing' }])
    const invalid = await get(type, '?from=x')
    expect([invalid.status, await invalid.json()]).toEqual([400, { error: 'query.from: must be a whole number' }])
  })

  test.each([
    ['the message', new AppError('unavailable', 'the disk is full'), 'the disk is full', 0],
    ['no details of a bug', new Error('secret'), 'internal error; see the server log', 1],
  ])('as NDJSON that fails midway ends with a line with %s', async (_, error, message, reports) => {
    reset(1000, { failAt: 400, error })
    reported.length = 0
    const lines = (await (await get(NDJSON)).text()).trimEnd().split('\n')
    expect(lines.length).toBe(401)
    expect(JSON.parse(lines.at(-1) ?? '')).toEqual({ error: message })
    expect(reported).toEqual(reports ? [error] : [])
  })

  test('as CSV that fails midway breaks off', async () => {
    reset(1000, { failAt: 400, error: new AppError('unavailable', 'the disk is full') })
    const response = await get(CSV)
    expect(response.status).toBe(200)
    expect(response.text()).rejects.toThrow()
  })

  test('ends when the credential is revoked', async () => {
    reset(1000, { failAt: 200 })
    state.failAt = Number.POSITIVE_INFINITY
    const socket = await slowReader()
    await until('the first page', () => state.pages >= 1)
    state.role = ''
    const text = await restOf(socket)
    expect(text).toContain('{"error":"unknown, expired or revoked credential"}')
    expect(text).not.toContain('"n":999')
  })

  test('is read only as fast as the caller receives it, and not after the caller has gone', async () => {
    reset(1_000_000)
    const socket = await slowReader()
    await until('the second page', () => state.pages >= 2)
    let seen = -1
    // The number of pages stops growing although 10 GB remain.
    await until('the export to pause', async () => {
      const before = seen
      seen = state.pages
      await Bun.sleep(200)
      return before === seen && state.pages === seen
    })
    const paused = state.pages
    expect(paused).toBeLessThan(20)
    socket.resume()
    await until('the export to continue', () => state.pages > paused + 5)
    socket.destroy()
    await until('the export to end', async () => {
      const before = state.pages
      await Bun.sleep(200)
      return before === state.pages
    })
    expect(state.pages).toBeLessThan(5000)
  })

  /** Requests an export without reading the response. */
  async function slowReader(): Promise<Socket> {
    const socket = connect(server.port ?? 0, '127.0.0.1')
    socket.pause()
    socket.write(`GET /v1/rows HTTP/1.1\r\nhost: localhost\r\naccept: ${NDJSON}\r\nconnection: close\r\n\r\n`)
    return socket
  }

  async function restOf(socket: Socket): Promise<string> {
    let text = ''
    socket.setEncoding('utf8')
    socket.on('data', (part) => {
      text += part
    })
    socket.resume()
    await new Promise((resolve) => socket.once('close', resolve))
    return text
  }
})
