import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { addressGuard, type Resolve } from './address-guard.ts'
import { type HttpTransportOptions, httpTransport, MAX_REPLY_BYTES } from './http-transport.ts'
import { rawServer } from './raw-server.fixture.ts'
import { receiver } from './receiver.fixture.ts'
import type { HttpOutbound, Reply } from './transport.ts'

const never = new AbortController().signal
const local = addressGuard(['127.0.0.0/8', 'hooks.example.com'])

function post(url: string, options: Partial<HttpTransportOptions> = {}, signal = never): Promise<Reply> {
  const outbound: HttpOutbound = { kind: 'http', method: 'POST', url, headers: { 'x-test': 'yes' }, body: 'höhe' }
  return httpTransport({ guard: local, ...options })(outbound, signal)
}

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

/** A server whose responses are written to the socket by `answer`. */
async function raw(answer: (socket: Socket) => void) {
  const server = await rawServer(answer)
  return { url: `http://127.0.0.1:${server.port}`, [Symbol.dispose]: () => server[Symbol.dispose]() }
}

test('sends method, path, headers and body, and returns status, headers and body', async () => {
  await using server = receiver(() => new Response('thanks', { status: 201, headers: { 'x-answer': 'a' } }))
  const reply = await post(`${server.url}/in/box?a=1#part`)
  expect(reply).toMatchObject({ kind: 'status', status: 201, body: 'thanks' })
  expect(reply.kind === 'status' && reply.headers['x-answer']).toBe('a')
  expect(server.requests).toEqual([
    {
      method: 'POST',
      path: '/in/box?a=1',
      headers: expect.objectContaining({ 'x-test': 'yes', 'content-length': '5', host: `127.0.0.1:${server.port}` }),
      body: 'höhe',
    },
  ])
})

test('redirects are returned without being followed', async () => {
  await using server = receiver(({ path }) =>
    path === '/secret' ? new Response('inner') : new Response(null, { status: 302, headers: { location: '/secret' } }),
  )
  expect(await post(server.url)).toMatchObject({ kind: 'status', status: 302 })
  expect(server.requests).toHaveLength(1)
})

describe('the address guard', () => {
  test.each([
    'http://127.0.0.1:1/',
    'https://127.0.0.1:8443/',
    'https://localhost:8443/',
    'https://me:pass@example.com/',
    'https://example.com:22/',
  ])('permanently rejects %s before connecting', async (url) => {
    const reply = await post(url, { guard: addressGuard([]) })
    expect(reply).toMatchObject({ kind: 'error', permanent: true })
  })

  test('checks resolved addresses on every attempt', async () => {
    const resolve: Resolve = async () => ['10.0.0.1']
    const reply = await post('https://hooks.elsewhere.example/', { resolve })
    expect(reply).toEqual({
      kind: 'error',
      message:
        'host hooks.elsewhere.example resolves to a private address: allow it in TAGWARDEN_OUTBOUND_ALLOW if intended',
      permanent: true,
    })
  })

  test('reports an unresolvable name as a temporary error', async () => {
    const resolve: Resolve = () => Promise.reject(new Error('ENOTFOUND'))
    expect(await post('https://hooks.elsewhere.example/', { resolve })).toEqual({
      kind: 'error',
      message: 'host hooks.elsewhere.example does not resolve',
      permanent: false,
    })
  })

  test('connects to the checked address even if the name then resolves differently', async () => {
    await using vetted = receiver(() => new Response('vetted'))
    await using other = receiver(() => new Response('other'), '127.0.0.2', vetted.port)
    const answers = [['127.0.0.1'], ['127.0.0.2']]
    let asked = 0
    const resolve: Resolve = async () => answers[asked++] ?? []
    const reply = await post(`http://hooks.example.com:${vetted.port}/`, { resolve })
    expect(reply).toMatchObject({ kind: 'status', body: 'vetted' })
    expect([asked, other.requests.length]).toEqual([1, 0])
    expect(vetted.requests[0]?.headers.host).toBe(`hooks.example.com:${vetted.port}`)
  })

  test('checks every request, because connections are not reused', async () => {
    await using one = receiver(() => new Response('one'))
    await using two = receiver(() => new Response('two'), '127.0.0.2', one.port)
    const url = `http://hooks.example.com:${one.port}/`
    const send = (address: string) => post(url, { resolve: async () => [address] })
    expect([await send('127.0.0.1'), await send('127.0.0.2')]).toMatchObject([{ body: 'one' }, { body: 'two' }])
    expect(two.requests).toHaveLength(1)
  })
})

test('tries the next address if one does not respond', async () => {
  await using server = receiver()
  const url = `http://hooks.example.com:${server.port}/`
  const reply = await post(url, { resolve: async () => ['127.0.0.3', '127.0.0.1'] })
  expect(reply).toMatchObject({ kind: 'status', status: 200 })
})

describe('temporary failures', () => {
  test('include a closed port', async () => {
    const server = receiver()
    await server[Symbol.asyncDispose]()
    const failed = { kind: 'error', message: 'the connection failed: ECONNREFUSED', permanent: false }
    expect(await post(server.url)).toEqual(failed as Reply)
  })

  test.each([
    ['empty', ''],
    ['not HTTP', 'SSH-2.0-OpenSSH_9.6\r\n'],
    ['cut off in the header', 'HTTP/1.1 200 OK\r\ncontent-'],
    ['cut off in the body', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf'],
  ])('include a response that is %s', async (_name, bytes) => {
    using server = await raw((socket) => socket.end(bytes))
    expect(await post(server.url, { timeoutMs: 500 })).toMatchObject({ kind: 'error', permanent: false })
  })

  test.each([
    ['no response', ''],
    ['an incomplete header', 'HTTP/1.1 200 OK\r\nx-'],
    ['an incomplete body', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf'],
  ])('include a timeout: %s', async (_name, bytes) => {
    using server = await raw((socket) => socket.write(bytes))
    expect(await post(server.url, { timeoutMs: 60 })).toEqual({
      kind: 'error',
      message: 'no response within 0.06 s',
      permanent: false,
      hung: true,
    })
  })

  test('include a resolver that never responds', async () => {
    const resolve: Resolve = () => new Promise(() => undefined)
    const reply = await post('https://hooks.example.com/', { resolve, timeoutMs: 30 })
    expect(reply).toMatchObject({ kind: 'error', message: 'no response within 0.03 s' })
  })

  test('include a shutdown during the request', async () => {
    const stop = new AbortController()
    using server = await raw(() => stop.abort())
    const stopped = { kind: 'error', message: 'stopped before a response was received', permanent: false }
    expect(await post(server.url, {}, stop.signal)).toEqual(stopped as Reply)
    expect(await post(server.url, {}, stop.signal)).toEqual(stopped as Reply)
  })
})

test('reads at most 64 kB of a response without waiting for the rest', async () => {
  let closed = () => {}
  const gone = new Promise<void>((resolve) => {
    closed = resolve
  })
  using server = await raw((socket) => {
    socket.on('close', closed)
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
    const chunk = `4100\r\n${'x'.repeat(0x4100)}\r\n`
    for (let sent = 0; sent < 8; sent++) socket.write(chunk)
  })
  const reply = await post(server.url)
  expect(reply).toMatchObject({ kind: 'status', status: 200 })
  expect(reply.kind === 'status' && reply.body).toHaveLength(MAX_REPLY_BYTES)
  await gone
})

describe('a response with a size limit', () => {
  const ask = async (size: number, maxAnswerBytes: number) => {
    await using server = receiver(() => new Response('x'.repeat(size)))
    const send = httpTransport({ guard: local })
    return await send({ kind: 'http', method: 'GET', url: server.url, headers: {}, body: '', maxAnswerBytes }, never)
  }

  test.each([0, 1, MAX_REPLY_BYTES, 1024 * 1024])('of %i bytes is returned in full', async (size) => {
    expect(await ask(size, size)).toMatchObject({ kind: 'status', status: 200, body: 'x'.repeat(size) })
  })

  test.each([1, MAX_REPLY_BYTES + 1, 1024 * 1024])(
    'of %i bytes is an error if it exceeds the limit by one',
    async (size) => {
      expect(await ask(size, size - 1)).toEqual({
        kind: 'error',
        message: `the response is larger than ${size - 1} bytes`,
        permanent: true,
      })
    },
  )
})

test.each(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const)(
  'the method %s is sent unchanged',
  async (method) => {
    await using server = receiver()
    const send = httpTransport({ guard: local })
    const body = method === 'GET' || method === 'HEAD' ? '' : 'höhe'
    expect(await send({ kind: 'http', method, url: server.url, headers: {}, body }, never)).toMatchObject({
      status: 200,
    })
    expect(server.requests).toMatchObject([{ method, body }])
  },
)

test('a header that contains a line break is not sent', async () => {
  await using server = receiver()
  const send = httpTransport({ guard: local })
  const headers = { 'x-test': 'a\r\nx-other: b' }
  const reply = await send({ kind: 'http', method: 'POST', url: server.url, headers, body: '' }, never)
  expect(reply.kind).toBe('error')
  expect(server.requests).toEqual([])
})

const openssl = Bun.which('openssl')

describe.skipIf(!openssl)('https requests', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tagwarden-tls-'))
  const file = (name: string) => join(folder, name)
  let ca = ''
  let server: ReturnType<typeof Bun.serve>

  beforeAll(() => {
    const subject = ['-subj', '/CN=hooks.example.com', '-addext', 'subjectAltName=DNS:hooks.example.com,IP:127.0.0.4']
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', file('key.pem')]
    Bun.spawnSync([openssl ?? '', 'req', '-x509', '-days', '2', ...key, '-out', file('cert.pem'), ...subject])
    ca = readFileSync(file('cert.pem'), 'utf8')
    server = Bun.serve({
      hostname: '0.0.0.0',
      port: 0,
      tls: { cert: ca, key: readFileSync(file('key.pem'), 'utf8') },
      fetch: (request) => new Response(`secure ${new URL(request.url).pathname}`),
    })
  })
  afterAll(async () => {
    await server.stop(true)
    rmSync(folder, { recursive: true })
  })

  const resolve: Resolve = async () => ['127.0.0.1']

  test('check the certificate against the host name, not the IP address', async () => {
    const url = `https://hooks.example.com:${server.port}/in`
    expect(await post(url, { resolve, ca })).toMatchObject({ kind: 'status', status: 200, body: 'secure /in' })
  })

  test('check the certificate against the IP address if the URL contains one', async () => {
    expect(await post(`https://127.0.0.4:${server.port}/`, { ca })).toMatchObject({ kind: 'status', status: 200 })
    expect(await post(`https://127.0.0.5:${server.port}/`, { ca })).toEqual({
      kind: 'error',
      message: 'the connection failed: ERR_TLS_CERT_ALTNAME_INVALID',
      permanent: false,
    })
  })

  test.each([
    ['for another host name', 'other.example.com', () => ca, 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['from an untrusted authority', 'hooks.example.com', () => undefined, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  ])('reject a certificate %s', async (_name, host, trusted, code) => {
    const pem = trusted()
    const options = { resolve, ...(pem === undefined ? {} : { ca: pem }) }
    const reply = await post(`https://${host}:${server.port}/`, options)
    expect(reply).toEqual({ kind: 'error', message: `the connection failed: ${code}`, permanent: false })
  })

  test('use CONNECT through a proxy, which resolves the name', async () => {
    await using proxy = await forwardProxy(Number(server.port))
    const noResolve: Resolve = () => Promise.reject(new Error('the proxy resolves'))
    const reply = await post(`https://hooks.example.com/in`, { proxy: proxy.url, ca, resolve: noResolve })
    expect(reply).toMatchObject({ kind: 'status', status: 200, body: 'secure /in' })
    expect(proxy.seen).toEqual([['CONNECT', 'hooks.example.com:443', `Basic ${btoa('me:p@ss')}`]])
    expect(await post(`https://other.example.com/in`, { proxy: proxy.url, ca })).toMatchObject({ kind: 'error' })
  })
})

/** A proxy that forwards every connection to one port. */
async function forwardProxy(port: number) {
  const seen: (string | undefined)[][] = []
  const note = ({ method, url, headers }: IncomingMessage) => seen.push([method, url, headers['proxy-authorization']])
  const server = createServer((request, response) => {
    note(request)
    response.end('forwarded')
  })
  server.on('connect', (request: IncomingMessage, socket: Socket) => {
    note(request)
    const onward = connect(port, '127.0.0.1', () => socket.write('HTTP/1.1 200 Connection established\r\n\r\n'))
    for (const end of [socket, onward]) end.on('error', () => undefined)
    onward.pipe(socket)
    socket.pipe(onward)
  })
  const proxyPort = await listening(server)
  return {
    seen,
    url: `http://me:p%40ss@127.0.0.1:${proxyPort}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}

describe('a proxy', () => {
  test('receives http requests in absolute form', async () => {
    await using proxy = await forwardProxy(0)
    const reply = await post('http://hooks.example.com/in?a=1', { proxy: proxy.url })
    expect(reply).toMatchObject({ kind: 'status', status: 200, body: 'forwarded' })
    expect(proxy.seen).toEqual([['POST', 'http://hooks.example.com/in?a=1', `Basic ${btoa('me:p@ss')}`]])
  })

  test.each(['https://10.0.0.1/', 'https://localhost/', 'https://169.254.169.254/', 'http://other.example.com/'])(
    'is not used for %s',
    async (url) => {
      await using proxy = await forwardProxy(0)
      expect(await post(url, { proxy: proxy.url })).toMatchObject({ kind: 'error', permanent: true })
      expect(proxy.seen).toEqual([])
    },
  )

  test.each([
    ['a refusal', 'HTTP/1.1 403 Forbidden\r\n\r\n', 'the proxy refused the connection: HTTP 403'],
    [
      'an authentication request',
      'HTTP/1.1 407 Proxy Authentication Required\r\n\r\n',
      'the proxy refused the connection: HTTP 407',
    ],
    ['nonsense', 'nonsense\r\n\r\n', 'the proxy refused the connection: HTTP error'],
    ['unexpected data', 'HTTP/1.1 200 OK\r\n\r\nsmuggled', 'the proxy refused the connection: HTTP 200'],
    ['an endless header', 'x'.repeat(9000), 'the proxy refused the connection: HTTP error'],
    ['a truncated header', 'HTTP/1.1 200 OK\r\n', 'the proxy closed the connection'],
  ])('that responds with %s causes an error', async (_name, answer, message) => {
    using proxy = await raw((socket) => socket.end(answer))
    const reply = await post('https://hooks.example.com/', { proxy: proxy.url })
    expect(reply).toEqual({ kind: 'error', message, permanent: false })
  })

  test.each(['proxy.example:3128', 'socks5://proxy.example', 'https://proxy.example'])(
    'is rejected in configuration: %s',
    (proxy) => {
      expect(() => httpTransport({ guard: local, proxy })).toThrow('TAGWARDEN_OUTBOUND_PROXY')
    },
  )
})

test('no error contains the path, query or headers', async () => {
  const url = 'https://hooks.example.com:1/s3cret?token=s3cret'
  const outbound: HttpOutbound = { kind: 'http', method: 'POST', url, headers: { a: 's3cret' }, body: 's3cret' }
  for (const resolve of [async () => ['127.0.0.1'], async () => ['10.0.0.1'], async () => []]) {
    const guards = [local, addressGuard([])]
    for (const guard of guards) {
      const reply = await httpTransport({ guard, resolve })(outbound, never)
      expect(reply.kind).toBe('error')
      expect(JSON.stringify(reply)).not.toContain('s3cret')
    }
  }
})
