import { expect, test } from 'bun:test'
import { connect, createServer } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { type DetectedProtocol, detectProtocol } from './detect-protocol.ts'

/** Returns the first message that a TLS client sends. */
async function helloOf(protocols: string[]): Promise<Buffer> {
  const { promise, resolve } = Promise.withResolvers<Buffer>()
  const server = createServer((socket) => socket.once('data', resolve))
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as { port: number }
  const raw = connect({ host: '127.0.0.1', port })
  const client = connectTls({ socket: raw, ALPNProtocols: protocols, servername: 'shop.example' })
  client.on('error', () => undefined)
  const hello = await promise
  raw.destroy()
  server.close()
  return hello
}

test.each<[string, string[]]>([
  ['a page', ['h2', 'http/1.1']],
  ['a web socket', ['http/1.1']],
  ['neither', []],
])('the protocols offered by a client are recognised in fragmented data: %s', async (_, protocols) => {
  const hello = await helloOf(protocols)
  expect(detectProtocol(hello)).toEqual({ kind: 'tls', protocols })
  expect(detectProtocol(Buffer.concat([hello, Buffer.from('more')]))).toEqual({ kind: 'tls', protocols })
  for (let end = 0; end < hello.length; end++) expect(detectProtocol(hello.subarray(0, end))).toBeNull()
  const middle = 100
  const record = (part: Buffer) => Buffer.concat([Buffer.from([22, 3, 1, part.length >> 8, part.length & 255]), part])
  const cut = Buffer.concat([record(hello.subarray(5, middle)), record(hello.subarray(middle))])
  expect(detectProtocol(cut)).toEqual({ kind: 'tls', protocols })
})

test.each<[string, DetectedProtocol | null]>([
  ['GET /chat?a=b HTTP/1.1\r\nHost: x\r\n\r\n', { kind: 'http', target: '/chat?a=b' }],
  ['GET /chat HTTP/1.1', null],
  ['', null],
  ['SSH-2.0-client\r\n', { kind: 'other' }],
  ['\x16\x03\x01\x00\x04\x02\x00\x00\x00', { kind: 'other' }],
  ['\x16\x03\x01\x00\x08\x01\x00\x00\x04\x03\x03\x00\x00', { kind: 'other' }],
])('the first bytes are classified correctly: %j', (text, spoken) =>
  expect(detectProtocol(Buffer.from(text, 'latin1'))).toEqual(spoken),
)

test('a first message that is too long is passed through', () => {
  expect(detectProtocol(Buffer.alloc(70_000, 'x'))).toEqual({ kind: 'other' })
})
