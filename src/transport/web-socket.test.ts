import { describe, expect, test } from 'bun:test'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket, type Server as TcpServer } from 'node:net'
import fc from 'fast-check'
import { until } from '../../test/run-program.ts'
import { addressGuard } from './address-guard.ts'
import { rawServer } from './raw-server.fixture.ts'
import { type WebSocketOptions, webSockets } from './web-socket.ts'
import { clientFrame, FrameReader, MessageReader, OPCODES } from './web-socket-frames.ts'

const never = new AbortController().signal
const guard = addressGuard(['127.0.0.0/8', 'chat.example.com'])
const open = (url: string, options: Partial<WebSocketOptions> = {}, signal = never) =>
  webSockets({ guard, ...options })(url, signal)

/** A third-party server that echoes every message and closes the connection when it receives `bye`. */
function echo(options: { compress?: boolean } = {}) {
  let pings = 0
  const server: Bun.Server<undefined> = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: (request) => (server.upgrade(request) ? undefined : new Response('no', { status: 400 })),
    websocket: {
      perMessageDeflate: options.compress ?? false,
      ping: () => void pings++,
      message(socket, text) {
        if (text === 'bye') socket.close(1000, 'bye')
        else socket.send(text)
      },
    },
  })
  return {
    url: `ws://127.0.0.1:${server.port}/link?ticket=1`,
    port: Number(server.port),
    pings: () => pings,
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}

async function saidBy(line: AsyncIterable<string>): Promise<string[]> {
  const texts: string[] = []
  for await (const text of line) texts.push(text)
  return texts
}

test.each([0, 1, 125, 126, 65_535, 65_536, 200_000])(
  'a message of %i characters is sent and received unchanged',
  async (length) => {
    await using server = echo({ compress: true })
    const line = await open(server.url)
    const text = 'ä'.repeat(length)
    line.send(text)
    line.send('second')
    line.send('bye')
    expect(await saidBy(line)).toEqual([text, 'second'])
  },
)

test('connects to the address checked by the guard, with the host name of the URL', async () => {
  await using server = echo()
  const resolve = async () => ['127.0.0.1']
  const line = await open(`ws://chat.example.com:${server.port}/link`, { resolve })
  line.send('bye')
  expect(await saidBy(line)).toEqual([])
})

test.each([
  ['ws://10.0.0.1/link', 'host 10.0.0.1 is a private address'],
  ['ws://other.example.com/link', 'must be an https URL (http only for hosts'],
  ['wss://169.254.169.254/link', 'host 169.254.169.254 is'],
  ['wss://[::ffff:169.254.169.254]/link', 'is a cloud'],
  ['wss://me:secret@chat.example.com/', 'must not contain'],
  ['wss://chat.example.com:22/', 'port 22 is not allowed'],
  ['ftp://chat.example.com/', 'must be an https URL'],
])('%s is rejected before anything is sent', async (url, message) => {
  await expect(open(url)).rejects.toThrow(message)
})

test('a name that resolves to a private address is rejected', async () => {
  const resolve = async () => ['10.1.2.3']
  await expect(open('wss://other.example.com/link', { resolve })).rejects.toThrow('resolves to a private address')
})

async function listening(server: Server | TcpServer): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

test('connects through a proxy with CONNECT, even without TLS', async () => {
  await using server = echo()
  const seen: unknown[] = []
  const proxy = createServer()
  proxy.on('connect', ({ url, headers }, client: Socket) => {
    seen.push([url, headers['proxy-authorization']])
    const upstream = connect(server.port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n')
      client.pipe(upstream).pipe(client)
    })
    for (const socket of [client, upstream]) socket.on('error', () => undefined)
  })
  const port = await listening(proxy)
  const noResolve = () => Promise.reject(new Error('the proxy resolves'))
  const line = await open('ws://chat.example.com/link', {
    proxy: `http://me:p%40ss@127.0.0.1:${port}`,
    resolve: noResolve,
  })
  line.send('hello')
  line.send('bye')
  expect(await saidBy(line)).toEqual(['hello'])
  expect(seen).toEqual([['chat.example.com:80', `Basic ${btoa('me:p@ss')}`]])
  proxy.close()
})

/** A server that responds to each handshake with `answer`. */
async function answering(answer: (socket: Socket) => void) {
  const server = await rawServer(answer)
  return { url: `ws://127.0.0.1:${server.port}/`, [Symbol.dispose]: () => server[Symbol.dispose]() }
}

test.each([
  ['an error status', 'HTTP/1.1 404 Not Found\r\n\r\n', 'the WebSocket handshake was refused: HTTP 404'],
  [
    'a redirect',
    'HTTP/1.1 302 Found\r\nLocation: ws://127.0.0.1/\r\n\r\n',
    'the WebSocket handshake was refused: HTTP 302',
  ],
  [
    'a wrong Sec-WebSocket-Accept header',
    'HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: AAAA\r\n\r\n',
    'the WebSocket handshake was refused: HTTP 101',
  ],
  ['an invalid response', 'SSH-2.0-OpenSSH\r\n\r\n', 'the WebSocket handshake was refused: HTTP error'],
  ['an endless response', 'x'.repeat(20_000), 'the response head is too long'],
])('fails to connect: %s', async (_name, answer, message) => {
  using server = await answering((socket) => socket.write(answer))
  await expect(open(server.url)).rejects.toThrow(message)
})

test('connecting to a server that does not respond times out', async () => {
  using server = await answering(() => undefined)
  await expect(open(server.url, { timeoutMs: 30 })).rejects.toThrow('not connected within')
})

test('a connection without messages stays open while the server responds to pings', async () => {
  await using server = echo()
  const line = await open(server.url, { quietMs: 300 })
  // After three intervals without data, the connection would be considered broken.
  await until('more pings', () => server.pings() > 3)
  line.send('still here')
  line.send('bye')
  expect(await saidBy(line)).toEqual(['still here'])
})

test('a shutdown closes the connection', async () => {
  await using server = echo()
  const stopping = new AbortController()
  const line = await open(server.url, {}, stopping.signal)
  const said = saidBy(line)
  stopping.abort()
  await expect(said).rejects.toThrow('the connection was stopped')
  await expect(open(server.url, {}, stopping.signal)).rejects.toThrow()
})

describe('WebSocket frames', () => {
  /** A frame as a server sends it, without a mask. */
  const frame = (opcode: number, payload: Buffer, isLast = true) => {
    const short = payload.length < 126
    const extra = Buffer.alloc(short ? 0 : 2)
    if (!short) extra.writeUInt16BE(payload.length)
    return Buffer.concat([Buffer.from([(isLast ? 0x80 : 0) | opcode, short ? payload.length : 126]), extra, payload])
  }

  test('are read correctly in chunks of any size', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 300 })
    fc.assert(
      fc.property(fc.array(text, { maxLength: 8 }), fc.array(fc.nat(40), { minLength: 1 }), (texts, cuts) => {
        const whole = Buffer.concat(
          texts.flatMap((text) => {
            const bytes = Buffer.from(text)
            const half = bytes.length >> 1
            return [
              frame(OPCODES.text, bytes.subarray(0, half), false),
              frame(OPCODES.ping, Buffer.from('?')),
              frame(OPCODES.continuation, bytes.subarray(half)),
            ]
          }),
        )
        const frames = new FrameReader(10_000)
        const messages = new MessageReader(10_000)
        const read: string[] = []
        for (let at = 0, turn = 0; at < whole.length; turn++) {
          const size = 1 + (cuts[turn % cuts.length] ?? 0)
          for (const one of frames.read(whole.subarray(at, at + size))) {
            if (one.opcode === OPCODES.ping) continue
            const message = messages.read(one)
            if (message !== null) read.push(message)
          }
          at += size
        }
        expect(read).toEqual(texts)
      }),
    )
  })

  test.each<[string, Buffer, string]>([
    ['a masked frame', clientFrame(OPCODES.text, Buffer.from('a')), 'a masked frame'],
    ['reserved bits', Buffer.from([0xc1, 0]), 'unexpected reserved bits'],
    ['a long ping', Buffer.from([0x89, 126, 0, 200]), 'an invalid control frame'],
    ['a fragmented ping', Buffer.from([0x09, 0]), 'an invalid control frame'],
    ['an excessive frame length', Buffer.from([0x81, 127, 0, 0, 0, 1, 0, 0, 0, 0]), 'more than 1000 bytes'],
  ])('are rejected: %s', (_name, bytes, message) => {
    expect(() => new FrameReader(1000).read(bytes)).toThrow(message)
  })

  test.each<[string, { opcode: number; isLast: boolean; payload: Buffer }[], string]>([
    ['binary', [{ opcode: OPCODES.binary, isLast: true, payload: Buffer.from('a') }], 'a binary message'],
    ['not UTF-8', [{ opcode: OPCODES.text, isLast: true, payload: Buffer.from([0xff]) }], 'not valid UTF-8'],
    [
      'missing its first frame',
      [{ opcode: OPCODES.continuation, isLast: true, payload: Buffer.from('a') }],
      'interleaved',
    ],
    [
      'too long in total',
      Array.from({ length: 11 }, (_, index) => ({
        opcode: index === 0 ? OPCODES.text : OPCODES.continuation,
        isLast: false,
        payload: Buffer.alloc(100, 'a'),
      })),
      'more than 1000 bytes',
    ],
  ])('are rejected if the message is %s', (_name, frames, message) => {
    const messages = new MessageReader(1000)
    expect(() => frames.map((frame) => messages.read(frame))).toThrow(message)
  })
})
