import { describe, expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import { AppError, type ErrorCode } from '../core/error.ts'
import { Closed, Int, OneOf, Type } from '../core/schema.ts'
import { openDatabase } from '../store/database.ts'
import { answerErrors, errorResponse } from './errors.ts'
import { STATUS } from './status.ts'

interface Asked {
  status: number
  headers: Headers
  body: unknown
  /** What was reported, and where. */
  reports: [unknown, string][]
}

/** Routes that fail in every way. */
function setUp() {
  const reports: [unknown, string][] = []
  const full = openDatabase(':memory:')
  full.pragma('max_page_count = 200')
  full.exec('CREATE TABLE pile (text TEXT) STRICT')
  const fail = (error: unknown) => () => {
    throw error
  }
  const app = answerErrors(new Elysia({ normalize: false }), (error, route) => reports.push([error, route]))
    .get('/app/:code', ({ params: { code } }) => {
      throw new AppError(code as ErrorCode, `field: ${code}`, code === 'unavailable' ? 30 : undefined)
    })
    .get('/bug', fail(new Error('SELECT secret FROM /var/lib')))
    .get('/text', fail('thrown as text'))
    .get('/later', async () => {
      await Promise.resolve()
      throw new Error('later')
    })
    .get('/full', () => {
      for (;;) full.prepare('INSERT INTO pile VALUES (?)').run('x'.repeat(100_000))
    })
    .get('/half', fail(Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR_WRITE' })))
    .get('/busy', fail(Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY' })))
    .get('/mismatch', () => ({ name: 'secret value' }) as unknown as { name: number }, {
      response: { 200: Closed({ name: Int() }) },
    })
    .post('/body', ({ body }) => body, {
      body: Closed({
        name: Type.String({ minLength: 2 }),
        kind: Type.Optional(OneOf(['a', 'b'])),
        list: Type.Optional(Type.Array(Int())),
      }),
    })
    .get('/query/:id', ({ query }) => query, {
      params: Closed({ id: Type.String({ maxLength: 3 }) }),
      query: Closed({
        limit: Type.Optional(Int({ minimum: 1, maximum: 9 })),
        q: Type.Optional(Type.String({ maxLength: 5 })),
      }),
    })
  return async (method: string, path: string, init: RequestInit = {}): Promise<Asked> => {
    reports.length = 0
    const response = await app.handle(new Request(`http://localhost${path}`, { method, ...init }))
    const { status, headers } = response
    return { status, headers, body: await response.json(), reports: [...reports] }
  }
}

const ask = setUp()
const json = (body: string): RequestInit => ({ body, headers: { 'content-type': 'application/json' } })

describe('a refusal', () => {
  test.each(Object.entries(STATUS))('%s is answered with %d and its message', async (code, status) => {
    const answer = await ask('GET', `/app/${code}`)
    expect([answer.status, answer.body, answer.reports]).toEqual([status, { error: `field: ${code}` }, []])
    expect(answer.headers.get('content-type')).toBe('application/json')
    expect(answer.headers.get('retry-after')).toBe(code === 'unavailable' ? '30' : null)
    expect(answer.headers.get('www-authenticate')).toBe(code === 'unauthorized' ? 'Bearer' : null)
  })

  test.each(['', '"', 'line\nbreak', '\0', '\ud800', '😀', '</script>'])(
    'keeps its message %j as it is',
    async (message) => {
      const response = errorResponse(new AppError('conflict', message))
      expect([response.status, await response.json()]).toEqual([409, { error: message }])
    },
  )
})

describe('what does not fit', () => {
  test.each<[string, string, RequestInit, string]>([
    ['POST', '/body', json('{'), 'body: is not valid JSON'],
    ['POST', '/body', json('{"name": "a"}'), 'name: Expected string length greater or equal to 2'],
    ['POST', '/body', json('{"name": "ab", "kind": "c"}'), 'kind: Expected one of a, b'],
    ['POST', '/body', json('{"name": "ab", "list": [1, "x"]}'), 'list[1]: Expected number'],
    ['POST', '/body', json('{"name": "ab", "more": 1}'), 'more: Unexpected property'],
    ['POST', '/body', json('[]'), 'body: Expected object'],
    ['GET', '/query/abc?limit=0', {}, 'query.limit: Expected number to be greater or equal to 1'],
    ['GET', '/query/abc?limit=10', {}, 'query.limit: Expected number to be less or equal to 9'],
    ['GET', '/query/abc?limit=x', {}, 'query.limit: '],
    ['GET', '/query/abc?q=123456', {}, 'query.q: Expected string length less or equal to 5'],
    ['GET', '/query/abc?other=1', {}, 'query.other: Unexpected property'],
    ['GET', '/query/abcd', {}, 'path.id: Expected string length less or equal to 3'],
  ])('%s %s is refused with 400, which names where: %#', async (method, path, init, error) => {
    const { status, body, reports } = await ask(method, path, init)
    expect([status, body, reports]).toEqual([400, { error: expect.stringContaining(error) }, []])
    expect((body as { error: string }).error).toStartWith(error)
  })

  test('and what does is taken', async () => {
    expect((await ask('POST', '/body', json('{"name": "ab"}'))).body).toEqual({ name: 'ab' })
    expect((await ask('GET', '/query/abc?limit=9&q=12345')).body).toEqual({ limit: 9, q: '12345' })
  })

  test('as a route is not found', async () => {
    for (const [method, path] of [
      ['GET', '/nowhere'],
      ['POST', '/bug'],
      ['GET', '/body'],
      ['DELETE', '/'],
    ] as const) {
      const { status, body, reports } = await ask(method, path)
      expect([status, body, reports]).toEqual([404, { error: 'no such route' }, []])
    }
  })
})

describe('a full disk', () => {
  test.each(['/full', '/half'])('is answered with 503 and when to come back: %s', async (path) => {
    const { status, headers, body } = await ask('GET', path)
    expect([status, body, headers.get('retry-after')]).toEqual([503, { error: 'the disk is full' }, '30'])
  })
})

describe('a bug', () => {
  const nothing = { error: 'internal error; the log of the server says more' }

  test.each<[string, unknown]>([
    ['/bug', new Error('SELECT secret FROM /var/lib')],
    ['/later', new Error('later')],
    ['/busy', new Error('database is locked')],
    ['/mismatch', new Error('the answer does not fit its schema at /name: Expected number')],
  ])('is answered with 500 that says nothing, and reported with its route: %s', async (path, error) => {
    const { status, body, reports } = await ask('GET', path)
    expect([status, body]).toEqual([500, nothing])
    expect(reports.map(([reported, route]) => [(reported as Error).message, route])).toEqual([
      [(error as Error).message, `GET ${path}`],
    ])
  })

  test('is one also when it throws no error', async () => {
    const { status, body, reports } = await ask('GET', '/text')
    expect([status, body, reports.length]).toEqual([500, nothing, 1])
  })

  test('in an answer is reported without what it held', async () => {
    const { reports } = await ask('GET', '/mismatch')
    const [error] = reports[0] ?? []
    expect(`${(error as Error).stack} ${JSON.stringify(error)}`).not.toContain('secret value')
  })
})
