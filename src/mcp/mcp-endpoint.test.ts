import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { anyJson, credentialsOf } from '../../test/fixtures.ts'
import { AppError } from '../core/error.ts'
import { MAX_BODY_BYTES } from '../http/json-body.ts'
import { everyRow, type McpServer, mcpOf, PUBLIC_URL, startMcp } from './mcp-endpoint.fixture.ts'

let server: McpServer
beforeEach(() => {
  server = startMcp()
})
afterEach(() => {
  server[Symbol.dispose]()
  expect(server.bugs).toEqual([])
})

const PING = { jsonrpc: '2.0', id: 1, method: 'ping' }
const call = (name: string, args: unknown = {}, id: unknown = 1) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: args },
})

interface Sent {
  method?: string
  key?: string | null
  headers?: Record<string, string | null>
  body?: unknown
}

/** Sends a request. Null headers are omitted, and a string body is sent unchanged. */
async function send({ method = 'POST', key = server.people.alice.key, headers = {}, body = PING }: Sent = {}) {
  const all: Record<string, string | null> = {
    authorization: key && `Bearer ${key}`,
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
    ...headers,
  }
  const response = await fetch(server.url, {
    method,
    headers: Object.entries(all).flatMap(([name, value]): [string, string][] =>
      value === null ? [] : [[name, value]],
    ),
    ...(method === 'GET' || method === 'HEAD' ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  // biome-ignore lint/suspicious/noExplicitAny: a test names the fields it expects
  const value: any = text === '' ? null : JSON.parse(text)
  if (!response.ok && text !== '') expect(value).toEqual({ error: expect.any(String) })
  return { status: response.status, headers: response.headers, body: value }
}

const refused = async (sent: Sent) => {
  const { status, body } = await send(sent)
  return [status, body?.error]
}

test('a message receives a JSON response that is not cached', async () => {
  const { status, headers, body } = await send()
  expect([status, body]).toEqual([200, { jsonrpc: '2.0', id: 1, result: {} }])
  expect(headers.get('content-type')).toBe('application/json')
  expect(headers.get('cache-control')).toBe('no-store')
  expect(headers.get('mcp-session-id')).toBeNull()
  expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
})

test('a notification is accepted without a response body', async () => {
  const { status, body } = await send({ body: { jsonrpc: '2.0', method: 'notifications/initialized' } })
  expect([status, body]).toEqual([202, null])
})

describe('credentials', () => {
  test.each(['nobody', 'stranger', 'revoked', 'expired'] as const)(
    'of the caller %s are rejected, regardless of the body',
    async (caller) => {
      const key = credentialsOf(server.people)[caller]
      for (const body of [PING, '{', 'x'.repeat(MAX_BODY_BYTES + 1)]) {
        const { status, headers } = await send({ key, body, headers: { 'content-type': 'text/plain' } })
        expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
      }
    },
  )

  test.each(['nobody', 'viewer'] as const)('of the caller %s are checked before the body is read', async (caller) => {
    let isRead = false
    const pull = (controller: ReadableStreamDefaultController) => {
      isRead = true
      controller.close()
    }
    // Without a queue, the stream is not pulled before the body is read.
    const body = new ReadableStream({ pull }, { highWaterMark: 0 })
    const answer = mcpOf({
      authenticate() {
        if (caller === 'nobody') throw new AppError('unauthorized', 'no')
        const { userId, orgId } = server.people.vera
        return { via: 'key', userId, orgId, role: 'viewer', readOnly: true, keyId: null, sessionId: null }
      },
    })
    const { status } = await answer(new Request('http://localhost/mcp', { method: 'POST', body }))
    expect([status === 401, isRead]).toEqual([caller === 'nobody', caller === 'viewer'])
  })

  test('that expire while the body is received are rejected', async () => {
    const { userId, orgId } = server.people.vera
    let ended = false
    const pull = (controller: ReadableStreamDefaultController) => {
      ended = true
      controller.enqueue(new TextEncoder().encode(JSON.stringify(PING)))
      controller.close()
    }
    const body = new ReadableStream({ pull }, { highWaterMark: 0 })
    const answer = mcpOf({
      authenticate() {
        if (ended) throw new AppError('unauthorized', 'no')
        return { via: 'key', userId, orgId, role: 'viewer', readOnly: true, keyId: null, sessionId: null }
      },
    })
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
    const { status } = await answer(new Request('http://localhost/mcp', { method: 'POST', headers, body }))
    expect(status).toBe(401)
  })

  test('that exceed the rate limit are rejected with `retry-after`', async () => {
    const answer = mcpOf({
      authenticate() {
        throw new AppError('rateLimited', 'too many requests; try again in 7 s', 7)
      },
    })
    const response = await answer(new Request('http://localhost/mcp', { method: 'POST' }))
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '7'])
  })
})

test('an unexpected error is reported, and the response omits its details', async () => {
  const bug = new TypeError('/home/someone/secret')
  const answer = mcpOf({
    authenticate() {
      throw bug
    },
  })
  const response = await answer(new Request('http://localhost/mcp', { method: 'POST' }))
  expect([response.status, await response.json()]).toEqual([500, { error: 'internal error; see the server log' }])
  expect(answer.bugs).toEqual([[bug, 'POST /mcp']])
})

test.each(['GET', 'DELETE', 'PUT', 'PATCH', 'HEAD', 'OPTIONS'])('the method %s is not supported', async (method) => {
  for (const key of [server.people.alice.key, null]) {
    const { status, headers } = await send({ method, key })
    expect([status, headers.get('allow')]).toEqual([405, 'POST'])
  }
})

describe('a request from a web page', () => {
  test.each([
    'https://evil.example',
    'http://tags.example',
    'https://tags.example:8443',
    'https://tags.example.evil.example',
    'null',
    '',
  ])('with origin %p is rejected', async (origin) => {
    const before = everyRow(server.db)
    expect(await refused({ headers: { origin } })).toEqual([403, `origin: must be ${PUBLIC_URL}`])
    expect(everyRow(server.db)).toEqual(before)
  })

  test('of the server itself is accepted', async () => {
    expect((await send({ headers: { origin: PUBLIC_URL } })).status).toBe(200)
  })
})

describe('request bodies', () => {
  const padded = (bytes: number) => JSON.stringify(PING).padEnd(bytes, ' ')
  test.each<[string, Sent, number, string]>([
    ['one byte too many', { body: padded(MAX_BODY_BYTES + 1) }, 413, `body: is larger than ${MAX_BODY_BYTES} bytes`],
    [
      'a different content type',
      { headers: { 'content-type': 'text/plain' } },
      415,
      'content-type: must be application/json',
    ],
    ['a missing content type', { headers: { 'content-type': null } }, 415, 'content-type: must be application/json'],
    ['not JSON', { body: '{"jsonrpc":' }, 400, 'body: is not valid JSON'],
    ['an empty body', { body: '' }, 400, 'Parse error: Invalid JSON-RPC message'],
    ['JSON that is not a message', { body: { hello: 1 } }, 400, 'Parse error: Invalid JSON-RPC message'],
    ['null', { body: 'null' }, 400, 'Parse error: Invalid JSON-RPC message'],
    ['a NUL', { body: call('get_alert', { id: '\0' }) }, 400, 'params.arguments.id: contains a NUL character'],
    [
      'half of a surrogate pair',
      { body: call('get_alert', { id: '\ud800' }) },
      400,
      'params.arguments.id: contains a NUL character',
    ],
    [
      'JSON nested too deeply',
      { body: `${'['.repeat(99)}${']'.repeat(99)}` },
      400,
      'body: is nested more than 50 levels deep',
    ],
    ['101 messages', { body: Array(101).fill(PING) }, 400, 'body: has more than 100 messages'],
    ['an Accept header without event streams', { headers: { accept: 'application/json' } }, 406, 'Not Acceptable: '],
  ])('that are invalid are rejected: %s', async (_, sent, status, sentence) => {
    const [code, error] = await refused(sent)
    expect([code, error?.slice(0, sentence.length)]).toEqual([status, sentence])
  })

  test('of the maximum size are accepted', async () => {
    expect((await send({ body: padded(MAX_BODY_BYTES) })).status).toBe(200)
  })
})

describe('a batch of messages', () => {
  test('receives a batch of responses, and each message is counted', async () => {
    const before = server.counted()
    const { body } = await send({ body: [PING, call('list_alerts', {}, 2), call('nothing', {}, 'three')] })
    expect(server.counted() - before).toBe(3)
    const byId = new Map((body as { id: unknown }[]).map((one) => [one.id, one]))
    expect(byId.get(1)).toMatchObject({ result: {} })
    expect(byId.get(2)).toMatchObject({ result: { structuredContent: { alerts: [] } } })
    expect(byId.get('three')).toMatchObject({ error: { code: -32602, message: 'unknown tool: nothing' } })
  })

  test('receives a response even when one message cancels another', async () => {
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }
    const { body } = await send({ body: [call('ask_slowly'), cancel] })
    expect([body].flat()).toMatchObject([{ id: 1, result: { structuredContent: { ok: true } } }])
  })

  test('with the same id receives one response', async () => {
    const { body } = await send({ body: [PING, PING] })
    expect([body].flat()).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }])
  })
})

test('an unknown method is a JSON-RPC error', async () => {
  const { status, body } = await send({ body: { ...PING, method: 'prompts/list' } })
  expect([status, body.error.code]).toEqual([200, -32601])
})

test('a malformed call is a JSON-RPC error', async () => {
  for (const params of [{}, { name: 5 }, { name: 'list_alerts', arguments: 'all' }]) {
    const { status, body } = await send({ body: { ...PING, method: 'tools/call', params } })
    expect([status, typeof body.error.message]).toEqual([200, 'string'])
  }
})

describe('any arguments', () => {
  const tools = ['list_alerts', 'get_alert', 'create_alert', 'rename_thing', 'change_issue']
  test('lead to a result or a rejection, but never to an unexpected error', async () => {
    const known = fc.record(
      Object.fromEntries(
        [
          'id',
          'name',
          'limit',
          'cursor',
          'alerts',
          'alertType',
          'volume',
          'period',
          'channels',
          'dryRun',
          'status',
        ].map((name) => [name, anyJson]),
      ),
      { requiredKeys: [] },
    )
    const args = fc.oneof(known, fc.dictionary(fc.string(), anyJson), anyJson)
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...tools), args, async (name, value) => {
        const { status, body } = await send({ body: call(name, value) })
        if (status === 400) return
        expect(status).toBe(200)
        const { isError, content } = body.result ?? {}
        const sentence = body.error?.message ?? (isError ? content[0].text : '')
        expect(sentence).not.toContain('internal error')
        if (isError) expect(sentence).not.toBe('')
        expect(server.bugs).toEqual([])
      }),
      { numRuns: 300 },
    )
  })
})
