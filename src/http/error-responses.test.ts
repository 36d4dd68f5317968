import { describe, expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import { AppError, type ErrorCode } from '../core/error.ts'
import { openDatabase } from '../store/database.ts'
import { answerErrors, errorResponse } from './error-responses.ts'
import { STATUS } from './status-codes.ts'

interface Result {
  status: number
  headers: Headers
  body: unknown
  /** Errors that were reported, with their routes. */
  reports: [unknown, string][]
}

/** Routes that cover every kind of failure. */
function setUp() {
  const reports: [unknown, string][] = []
  const full = openDatabase(':memory:')
  full.exec('CREATE TABLE pile (text TEXT) STRICT')
  full.pragma(`max_page_count = ${full.pragma('page_count', { simple: true })}`)
  const fail = (error: unknown) => () => {
    throw error
  }
  const app = answerErrors(new Elysia({ normalize: false }), (error, route) => reports.push([error, route]))
    .get('/app/:code', ({ params: { code } }) => {
      throw new AppError(code as ErrorCode, `field: ${code}`, code === 'unavailable' ? 30 : undefined)
    })
    .get('/bug', fail(new Error('SELECT secret FROM /var/lib')))
    .get('/text', fail('thrown as a string'))
    .get('/later', async () => {
      await Promise.resolve()
      throw new Error('later')
    })
    .get('/full', () => {
      for (;;) full.prepare('INSERT INTO pile VALUES (?)').run('x'.repeat(100_000))
    })
    .get('/half', fail(Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR_WRITE' })))
    .get('/busy', fail(Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY' })))
  return async (method: string, path: string, init: RequestInit = {}): Promise<Result> => {
    reports.length = 0
    const response = await app.handle(new Request(`http://localhost${path}`, { method, ...init }))
    const { status, headers } = response
    return { status, headers, body: await response.json(), reports: [...reports] }
  }
}

const ask = setUp()

describe('an error response', () => {
  test.each(Object.entries(STATUS))("for %s has status %d and the error's message", async (code, status) => {
    const answer = await ask('GET', `/app/${code}`)
    expect([answer.status, answer.body, answer.reports]).toEqual([status, { error: `field: ${code}` }, []])
    expect(answer.headers.get('content-type')).toBe('application/json')
    expect(answer.headers.get('retry-after')).toBe(code === 'unavailable' ? '30' : null)
    expect(answer.headers.get('www-authenticate')).toBe(code === 'unauthorized' ? 'Bearer' : null)
  })

  test.each(['', '"', 'line\nbreak', '\0', '\ud800', '😀', '</script>'])(
    'preserves the message %j',
    async (message) => {
      const response = errorResponse(new AppError('conflict', message))
      expect([response.status, await response.json()]).toEqual([409, { error: message }])
    },
  )
})

test('an unknown route is not found', async () => {
  for (const [method, path] of [
    ['GET', '/nowhere'],
    ['POST', '/bug'],
    ['DELETE', '/'],
  ] as const) {
    const { status, body, reports } = await ask(method, path)
    expect([status, body, reports]).toEqual([404, { error: 'no such route' }, []])
  }
})

describe('a full disk', () => {
  test.each(['/full', '/half'])('returns 503 and `retry-after`: %s', async (path) => {
    const { status, headers, body } = await ask('GET', path)
    expect([status, body, headers.get('retry-after')]).toEqual([503, { error: 'the disk is full' }, '30'])
  })
})

describe('an unexpected error', () => {
  const nothing = { error: 'internal error; see the server log' }

  test.each<[string, unknown]>([
    ['/bug', new Error('SELECT secret FROM /var/lib')],
    ['/later', new Error('later')],
    ['/busy', new Error('database is locked')],
  ])('returns 500 without details, and is reported with its route: %s', async (path, error) => {
    const { status, body, reports } = await ask('GET', path)
    expect([status, body]).toEqual([500, nothing])
    expect(reports.map(([reported, route]) => [(reported as Error).message, route])).toEqual([
      [(error as Error).message, `GET ${path}`],
    ])
  })

  test('may be caused by a thrown value that is not an Error', async () => {
    const { status, body, reports } = await ask('GET', '/text')
    expect([status, body, reports.length]).toEqual([500, nothing, 1])
  })
})
