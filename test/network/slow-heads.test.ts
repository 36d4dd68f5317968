import { expect, test } from 'bun:test'
import { call, until } from '../run-program.ts'
import { startNetworkServer } from './network-server.ts'
import { connectTo } from './raw-http-connection.ts'

// The runtime's own limit (10 s, checked every 4 s) can't be configured.
test('a request head that is slow or incomplete is aborted, and other requests are served in the meantime', async () => {
  await using server = await startNetworkServer()
  const startedAt = performance.now()
  using dripped = await connectTo(server.url, 'GET /healthz HTTP/1.1\r\n')
  using silent = await connectTo(server.url)
  using half = await connectTo(server.url, 'GET /healthz HT')
  const drip = setInterval(() => dripped.socket.write('x-a: b\r\n'), 100)
  const slow = [dripped, silent, half]
  await until('slow request heads to be aborted', async () => {
    expect((await call('GET', `${server.url}/healthz`)).status).toBe(200)
    return slow.every((one) => !one.isOpen())
  })
  clearInterval(drip)
  expect(performance.now() - startedAt).toBeLessThan(16_000)
})
