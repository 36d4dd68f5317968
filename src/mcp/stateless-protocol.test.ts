import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv'
import fc from 'fast-check'
import { anyJson } from '../../test/fixtures.ts'
import { connect, type McpServer, startMcp, VERSION } from './mcp-endpoint.fixture.ts'

let server: McpServer
beforeEach(() => {
  server = startMcp()
})
afterEach(() => {
  server[Symbol.dispose]()
  expect(server.bugs).toEqual([])
})

const REVISION = '2026-07-28'
const META = {
  'io.modelcontextprotocol/protocolVersion': REVISION,
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}
const SUPPORTED = [REVISION, '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07']

interface Sent {
  key?: string
  method?: unknown
  params?: unknown
  /** Merged with the headers that the method requires. A null value omits the header. */
  headers?: Record<string, string | null>
  /** Merged with the message. */
  message?: Record<string, unknown>
  /** Sent instead of the message. A string is sent unchanged. */
  body?: unknown
}

async function send(sent: Sent = {}) {
  const { key = server.people.alice.key, method = 'tools/list', params = {}, headers = {}, message = {} } = sent
  const { name, uri } = params as { name?: unknown; uri?: unknown }
  const named = method === 'tools/call' ? name : method === 'resources/read' ? uri : undefined
  const all: Record<string, string | null> = {
    authorization: `Bearer ${key}`,
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
    'mcp-protocol-version': REVISION,
    'mcp-method': typeof method === 'string' ? method : null,
    'mcp-name': typeof named === 'string' ? named : null,
    ...headers,
  }
  const whole = { jsonrpc: '2.0', id: 7, method, params: { _meta: META, ...(params as object) }, ...message }
  const { body = whole } = sent
  const response = await fetch(server.url, {
    method: 'POST',
    headers: Object.entries(all).flatMap(([header, value]): [string, string][] =>
      value === null ? [] : [[header, value]],
    ),
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  const text = await response.text()
  // biome-ignore lint/suspicious/noExplicitAny: a test names the fields it expects
  const value: any = text === '' ? null : JSON.parse(text)
  return { status: response.status, headers: response.headers, body: value }
}

const callTool = (name: string, args: object = {}, more: Sent = {}) =>
  send({ method: 'tools/call', params: { name, arguments: args }, ...more })

test('server/discover returns revisions, capabilities, instructions and a cache lifetime', async () => {
  const { status, headers, body } = await send({ method: 'server/discover' })
  expect([status, headers.get('content-type'), headers.get('cache-control')]).toEqual([
    200,
    'application/json',
    'no-store',
  ])
  expect(headers.get('mcp-session-id')).toBeNull()
  expect(body).toEqual({
    jsonrpc: '2.0',
    id: 7,
    result: {
      resultType: 'complete',
      supportedVersions: SUPPORTED,
      capabilities: { tools: {}, resources: {} },
      instructions: expect.stringContaining('list_issues'),
      ttlMs: 300_000,
      cacheScope: 'private',
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'tagwarden', title: 'Tagwarden', version: VERSION } },
    },
  })
})

test('the tools and their order are the same as after a handshake', async () => {
  await using older = await connect(server.url, server.people.alice.key)
  const { tools } = await older.listTools()
  const [first, second] = [await send(), await send()]
  expect(first.body.result).toMatchObject({ resultType: 'complete', ttlMs: 300_000, cacheScope: 'private', tools })
  expect(second.body.result.tools).toEqual(first.body.result.tools)
  for (const { inputSchema } of first.body.result.tools) new AjvJsonSchemaValidator().getValidator(inputSchema)
  const { body } = await send({ key: server.people.vera.key })
  expect(body.result.tools.length).toBeLessThan(tools.length)
})

test('a tool can be called by its tool name or its operation name, and a failed call also returns a result', async () => {
  const id = server.addAlert('One')
  for (const name of ['get_alert', 'getAlert']) {
    const { status, body } = await callTool(name, { id })
    expect([status, body.id, body.result.resultType]).toEqual([200, 7, 'complete'])
    expect(body.result.structuredContent).toMatchObject({ id, name: 'One' })
    expect(body.result._meta['io.modelcontextprotocol/serverInfo'].name).toBe('tagwarden')
  }
  const refused = await callTool('get_alert', { id: 'alr_none' })
  expect([refused.status, refused.body.result.isError]).toEqual([200, true])
  const foreign = await callTool('get_alert', { id }, { key: server.people.mallory.key })
  expect(foreign.body.result).toMatchObject({ isError: true })
})

test('resources are listed and read', async () => {
  const id = server.addAlert('One')
  const { body: list } = await send({ method: 'resources/list' })
  expect(list.result).toMatchObject({ resultType: 'complete', ttlMs: 0, cacheScope: 'private' })
  expect(list.result.resources.map(({ uri }: { uri: string }) => uri)).toEqual([`tagwarden://alerts/${id}`])
  const { body: templates } = await send({ method: 'resources/templates/list' })
  expect(templates.result).toMatchObject({ ttlMs: 300_000, resourceTemplates: [{}, {}] })
  const { body } = await send({ method: 'resources/read', params: { uri: `tagwarden://alerts/${id}` } })
  expect(body.result).toMatchObject({ resultType: 'complete', ttlMs: 0, contents: [{ mimeType: 'application/json' }] })
  expect(JSON.parse(body.result.contents[0].text)).toMatchObject({ id })
})

const meta = (more: object) => ({ _meta: { ...META, ...more } })
const without = (key: string) => ({ _meta: Object.fromEntries(Object.entries(META).filter(([name]) => name !== key)) })
const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion'
const CAPABILITIES_KEY = 'io.modelcontextprotocol/clientCapabilities'
const INFO_KEY = 'io.modelcontextprotocol/clientInfo'

describe('an error response with the HTTP status and code of the specification', () => {
  test.each<[string, Sent, number, number, string | RegExp]>([
    ['a missing version header', { headers: { 'mcp-protocol-version': null } }, 400, -32020, /^MCP-Protocol-Version: /],
    [
      'a different version in the headers',
      { headers: { 'mcp-protocol-version': '2025-11-25' } },
      400,
      -32020,
      /2025-11-25/,
    ],
    ['a missing method header', { headers: { 'mcp-method': null } }, 400, -32020, 'Mcp-Method: is missing'],
    ['a different method in the headers', { headers: { 'mcp-method': 'tools/call' } }, 400, -32020, /^Mcp-Method: /],
    ['a method in capitals', { headers: { 'mcp-method': 'Tools/List' } }, 400, -32020, /^Mcp-Method: /],
    [
      'a missing name header',
      { method: 'tools/call', params: { name: 'list_alerts' }, headers: { 'mcp-name': null } },
      400,
      -32020,
      'Mcp-Name: is missing',
    ],
    [
      'a different name in the headers',
      { method: 'tools/call', params: { name: 'list_alerts' }, headers: { 'mcp-name': 'get_alert' } },
      400,
      -32020,
      /^Mcp-Name: /,
    ],
    [
      'a name that is not Base64',
      { method: 'tools/call', params: { name: 'list_alerts' }, headers: { 'mcp-name': '=?base64?%%%?=' } },
      400,
      -32020,
      /^Mcp-Name: /,
    ],
    [
      'a different URI in the headers',
      { method: 'resources/read', params: { uri: 'tagwarden://alerts/a' }, headers: { 'mcp-name': 'tagwarden://' } },
      400,
      -32020,
      /^Mcp-Name: .*params\.uri/,
    ],
    ['no _meta', { message: { params: {} } }, 400, -32602, 'params._meta'],
    ['missing parameters', { message: { params: undefined } }, 400, -32602, 'params._meta'],
    ['a version only in the headers', { params: without(VERSION_KEY) }, 400, -32602, /params\._meta.*protocolVersion/],
    ['a version that is a number', { params: meta({ [VERSION_KEY]: 5 }) }, 400, -32602, /protocolVersion/],
    ['missing capabilities', { params: without(CAPABILITIES_KEY) }, 400, -32602, /params\._meta.*clientCapabilities/],
    ['capabilities that are a list', { params: meta({ [CAPABILITIES_KEY]: [] }) }, 400, -32602, /clientCapabilities/],
    ['a client without a version', { params: meta({ [INFO_KEY]: { name: 'c' } }) }, 400, -32602, /clientInfo.version/],
    ['a tool without a name', { method: 'tools/call' }, 400, -32602, 'params.name: is missing'],
    [
      'a name that is a number',
      { method: 'tools/call', params: { name: 5 } },
      400,
      -32602,
      'params.name: must be a string',
    ],
    [
      'arguments that are a string',
      { method: 'tools/call', params: { name: 'list_alerts', arguments: 'all' } },
      400,
      -32602,
      'params.arguments: must be an object',
    ],
    ['an unknown tool', { method: 'tools/call', params: { name: 'drop_all' } }, 200, -32602, 'unknown tool: drop_all'],
    [
      'an unknown resource',
      { method: 'resources/read', params: { uri: 'file:///etc/passwd' } },
      200,
      -32602,
      'no such resource',
    ],
    ['an invalid cursor', { params: { cursor: 'x' } }, 400, -32602, 'params.cursor: is not valid for this list'],
    ['an unknown method', { method: 'tools/drop' }, 404, -32601, 'Method not found: tools/drop'],
    ['a method of older revisions', { method: 'ping' }, 404, -32601, 'Method not found: ping'],
    ['prompts', { method: 'prompts/list' }, 404, -32601, 'Method not found: prompts/list'],
    ['subscriptions', { method: 'subscriptions/listen' }, 404, -32601, /^Method not found/],
    ['initialize', { method: 'initialize' }, 404, -32601, 'Method not found: initialize'],
  ])('is returned for %s', async (_, sent, status, code, message) => {
    const { status: answered, body } = await send(sent)
    expect(body).toEqual({ jsonrpc: '2.0', id: 7, error: { code, message: expect.anything() } })
    expect([answered, body.error.message]).toEqual([status, expect.stringMatching(message)])
  })

  test.each<[string, Sent, number]>([
    ['a batch', { body: [{ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: META } }] }, -32600],
    ['an id that is null', { message: { id: null } }, -32600],
    ['an id that is an object', { message: { id: {} } }, -32600],
    ['a different version of JSON-RPC', { message: { jsonrpc: '1.0' } }, -32600],
    ['a missing method', { message: { method: undefined } }, -32600],
    ['parameters in a list', { message: { params: [] } }, -32600],
    ['a response', { body: { jsonrpc: '2.0', id: 1, result: {} } }, -32600],
    ['a body that is not JSON', { body: '{"jsonrpc":' }, -32700],
    ['a NUL character', { body: '{"jsonrpc":"2.0","id":1,"method":"\\u0000"}' }, -32700],
  ])('is returned for %s', async (_, sent, code) => {
    const { status, body } = await send(sent)
    expect([status, body.jsonrpc, body.error.code]).toEqual([400, '2.0', code])
    expect(body.error.message).toMatch(/^[a-z]+: /)
  })

  test('invalid credentials are rejected as in the REST API', async () => {
    const { status, headers, body } = await send({ key: 'nonsense' })
    expect([status, headers.get('www-authenticate'), typeof body.error]).toEqual([401, 'Bearer', 'string'])
  })
})

describe('an unknown protocol revision', () => {
  const error = (requested: string) => ({
    code: -32022,
    message: 'Unsupported protocol version',
    data: { supported: SUPPORTED, requested },
  })

  test.each<[string, Sent]>([
    [
      'in header and _meta',
      { headers: { 'mcp-protocol-version': '2099-01-01' }, params: meta({ [VERSION_KEY]: '2099-01-01' }) },
    ],
    ['in the header', { headers: { 'mcp-protocol-version': '2099-01-01' }, message: { params: {} } }],
    ['in _meta', { headers: { 'mcp-protocol-version': null }, params: meta({ [VERSION_KEY]: '2099-01-01' }) }],
  ])('%s is rejected with the list of supported revisions', async (_, sent) => {
    for (const method of ['tools/list', 'server/discover', 'ping']) {
      const { status, body } = await send({ ...sent, method })
      expect([status, body]).toEqual([400, { jsonrpc: '2.0', id: 7, error: error('2099-01-01') }])
    }
  })

  test('does not prevent the client from continuing with a supported revision', async () => {
    const { body } = await send({ headers: { 'mcp-protocol-version': '2099-01-01' }, message: { params: {} } })
    const [newest] = body.error.data.supported
    expect((await send({ headers: { 'mcp-protocol-version': newest } })).status).toBe(200)
  })
})

describe('clients that support both stateless requests and handshakes', () => {
  const initialize = (protocolVersion: string) => ({
    method: 'initialize',
    message: { params: { protocolVersion, capabilities: {}, clientInfo: { name: 'c', version: '0' } } },
  })

  test.each([REVISION, '2025-11-25', null])('initialize with the header %p starts a handshake', async (header) => {
    const { status, body } = await send({ ...initialize(REVISION), headers: { 'mcp-protocol-version': header } })
    expect([status, body.result.protocolVersion]).toEqual([200, '2025-11-25'])
  })

  test.each(SUPPORTED.slice(1))('receive responses without new fields in revision %s', async (revision) => {
    const headers = { 'mcp-protocol-version': revision }
    expect((await send({ ...initialize(revision), headers })).body.result.protocolVersion).toBe(revision)
    const { status, body } = await send({ headers, message: { params: {} } })
    expect([status, body.result.tools.length > 0, 'resultType' in body.result]).toEqual([200, true, false])
    const named = await send({ headers, params: meta({ [VERSION_KEY]: revision }) })
    expect([named.status, 'resultType' in named.body.result]).toEqual([200, false])
  })

  test('receive "method not found" for server/discover without a revision, as from older servers', async () => {
    const headers = { 'mcp-protocol-version': null }
    const { body } = await send({ method: 'server/discover', message: { params: {} }, headers })
    expect(body.error.code).toBe(-32601)
  })
})

test('a notification is accepted without a response body', async () => {
  const { status, body } = await send({ body: { jsonrpc: '2.0', method: 'notifications/cancelled', params: {} } })
  expect([status, body]).toEqual([202, null])
})

test('a Base64-encoded tool name is decoded', async () => {
  const name = 'größer'
  const headers = { 'mcp-name': `=?base64?${Buffer.from(name).toString('base64')}?=` }
  expect((await callTool(name, {}, { headers })).body.error.message).toBe(`unknown tool: ${name}`)
})

test('any input receives a JSON-RPC response, never an internal error', async () => {
  const params = fc.oneof(
    anyJson,
    fc.record({ _meta: fc.oneof(fc.constant(META), anyJson), name: anyJson, uri: anyJson }),
  )
  const method = fc.oneof(fc.constantFrom('tools/call', 'tools/list', 'resources/read', 'server/discover'), anyJson)
  await fc.assert(
    fc.asyncProperty(method, params, anyJson, async (what, given, id) => {
      const { status, body } = await send({
        headers: { 'mcp-method': 'tools/list', 'mcp-name': null },
        body: { jsonrpc: '2.0', id, method: what, params: given },
      })
      expect([200, 400, 404]).toContain(status)
      expect(body.jsonrpc).toBe('2.0')
      expect(server.bugs).toEqual([])
    }),
    { numRuns: 200 },
  )
})
