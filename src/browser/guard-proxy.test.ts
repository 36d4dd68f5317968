import { expect, test } from 'bun:test'
import { connect } from 'node:net'
import { addressGuard } from '../transport/address-guard.ts'
import { type GuardProxyOptions, openGuardProxy } from './guard-proxy.ts'

const guard = addressGuard(['127.0.0.1'], { plainHttp: true })

/** Starts a site that echoes requests. */
function site() {
  return Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: async (request) => new Response(`${request.method} ${request.url} ${await request.text()}`),
  })
}

/**
 * Sends the strings to the proxy over one connection, each after the response to the previous one, and returns the
 * responses.
 */
async function talk(port: number, texts: readonly string[], ends: readonly string[]): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port })
  let received = ''
  const closed = new Promise<void>((done) => socket.once('close', () => done()))
  for (const [index, text] of texts.entries()) {
    const came = new Promise<void>((done) => {
      const look = (chunk: Buffer) => {
        received += chunk.toString('latin1')
        if (received.includes(ends[index] ?? '\0')) {
          socket.removeListener('data', look)
          done()
        }
      }
      socket.on('data', look)
    })
    for (const part of text.match(/[\s\S]{1,7}/g) ?? []) socket.write(part)
    await Promise.race([came, closed])
  }
  socket.destroy()
  return received
}

const open = (options: Partial<GuardProxyOptions> = {}) => openGuardProxy({ guard, ...options })

test('sequential plain requests with bodies reach two hosts over one connection', async () => {
  using first = site()
  using second = site()
  await using proxy = await open()
  const at = (port: number | undefined) => `http://127.0.0.1:${port}`
  const received = await talk(
    proxy.port,
    [
      `GET ${at(first.port)}/a?b HTTP/1.1\r\nHost: x\r\nProxy-Connection: keep-alive\r\n\r\n`,
      `POST ${at(second.port)} HTTP/1.1\r\nHost: y\r\nContent-Length: 4\r\n\r\nbody`,
      `GET ${at(second.port)}/last HTTP/1.1\r\nHost: z\r\n\r\n`,
    ],
    ['GET http://x/a?b', 'POST http://y/ body', 'GET http://z/last'],
  )
  for (const answer of ['GET http://x/a?b', 'POST http://y/ body', 'GET http://z/last'])
    expect(received).toContain(answer)
})

test('a tunnel forwards data to an allowed host', async () => {
  using inside = site()
  await using proxy = await open({ resolve: async () => ['127.0.0.1'] })
  const received = await talk(
    proxy.port,
    [
      `CONNECT shop.test:${inside.port} HTTP/1.1\r\nHost: shop.test\r\n\r\n`,
      'GET /in HTTP/1.1\r\nHost: shop.test\r\n\r\n',
    ],
    ['Established\r\n\r\n', 'GET http://shop.test/in'],
  )
  expect(received).toContain('GET http://shop.test/in')
  expect(proxy.faultOf(`https://shop.test:${inside.port}/`)).toBeNull()
})

test.each([
  ['127.0.0.2:8080', 'host 127.0.0.2 is a loopback address'],
  ['inner.test:443', 'host inner.test resolves to a private address'],
  ['127.0.0.1:22', 'port 22 is not allowed'],
  ['127.0.0.1:1', 'port 1 is not allowed'],
])('a tunnel to %s is refused', async (place, why) => {
  await using proxy = await open({ resolve: async () => ['10.0.0.1'] })
  const received = await talk(proxy.port, [`CONNECT ${place} HTTP/1.1\r\n\r\n`], ['502 Bad Gateway'])
  expect(received).toStartWith('HTTP/1.1 502 ')
  expect(proxy.faultOf(`http://${place}/x`)).toContain(why)
})

test("tunnels and plain requests use the operator's proxy and its password", async () => {
  const heads: string[] = []
  using outer = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      data(socket, chunk) {
        heads.push(chunk.toString())
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nouter')
      },
    },
  })
  await using proxy = await open({ outboundProxy: `http://us:secret@127.0.0.1:${outer.port}` })
  const plain = await talk(proxy.port, ['GET http://shop.example/a HTTP/1.1\r\nHost: shop.example\r\n\r\n'], ['outer'])
  expect(plain).toContain('outer')
  await talk(proxy.port, ['CONNECT shop.example:443 HTTP/1.1\r\n\r\n'], ['\r\n\r\n'])
  const login = `Proxy-Authorization: Basic ${btoa('us:secret')}`
  expect(heads[0]).toStartWith('GET http://shop.example/a HTTP/1.1\r\n')
  expect(heads[0]).toContain(login)
  expect(heads[1]).toStartWith('CONNECT shop.example:443 HTTP/1.1\r\n')
  expect(heads[1]).toContain(login)
  await talk(proxy.port, ['CONNECT 127.0.0.2:443 HTTP/1.1\r\n\r\n'], ['502'])
  expect(heads).toHaveLength(2)
})

test('anything other than a proxy request closes the connection', async () => {
  await using proxy = await open()
  expect(await talk(proxy.port, ['GET / HTTP/1.1\r\nHost: x\r\n\r\n'], ['HTTP'])).toBe('')
})
