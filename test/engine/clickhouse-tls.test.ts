import { describe, expect, test } from 'bun:test'
import { type AddressInfo, connect } from 'node:net'
import { createServer } from 'node:tls'
import { describeClickhouse } from '../../src/warehouse/open-warehouse.ts'
import { canCertify, type PrivateAuthority, privateAuthority } from '../integrations/certificates.fixture.ts'
import { call, startServer, until } from '../run-program.ts'
import { ClickhouseServer, clickhouseProblem } from './clickhouse-server.ts'
import { openServedByClickhouse } from './served-by-clickhouse.ts'

const problem = clickhouseProblem() ?? (canCertify ? null : 'openssl is missing')
const reason = problem === null ? '' : ` (not possible here: ${problem})`

/** Listens with TLS in front of a ClickHouse server. */
async function tlsProxy({ client }: ClickhouseServer, { key, cert }: PrivateAuthority) {
  const { hostname, port } = new URL(client.address.url)
  const proxy = createServer({ key, cert }, (socket) => {
    const plain = connect(Number(port), hostname)
    const end = () => {
      socket.destroy()
      plain.destroy()
    }
    socket.on('error', end).on('close', end)
    plain.on('error', end).on('close', end)
    socket.pipe(plain).pipe(socket)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const own = (proxy.address() as AddressInfo).port
  return { port: own, [Symbol.dispose]: () => void proxy.close() }
}

describe.skipIf(problem !== null)(`ClickHouse behind TLS with a private authority${reason}`, () => {
  test('stores events if the authority is trusted, and otherwise states what is wrong', async () => {
    using authority = privateAuthority()
    await using world = await openServedByClickhouse()
    using proxy = await tlsProxy(world.clickhouse, authority)
    const { port } = new URL(world.clickhouse.client.address.url)
    const url = world.env.TAGWARDEN_WAREHOUSE.replace('clickhouse:', 'clickhouses:').replace(
      `:${port}/`,
      `:${proxy.port}/`,
    )
    const env = { ...world.env, TAGWARDEN_WAREHOUSE: url }
    await using untrusting = await startServer(world.data, { env })
    await until('the readiness check to fail', async () => {
      const { status, body } = await call('GET', `${untrusting.url}/readyz`)
      const fault = `engine: ClickHouse: the certificate of 127.0.0.1:${proxy.port} is not trusted (UNABLE_TO_VERIFY_LEAF_SIGNATURE); check TAGWARDEN_OUTBOUND_CA`
      return status === 503 && body.error.includes(fault)
    })
    await untrusting.stop()
    await using server = await startServer(world.data, {
      env: { ...env, TAGWARDEN_OUTBOUND_CA: authority.file('ca.pem') },
    })
    const v1 = world.v1Of(server)
    const { token } = await v1('POST', '/domains', { name: 'Shop' })
    const batch = { events: [{ vendor: 'Shop', event: 'view' }] }
    expect(await call('POST', `${server.url}/api/v1/events`, { as: token, body: batch })).toMatchObject({ status: 202 })
    await until('the event', async () => (await v1('GET', '/events')).events.length === 1)
  })

  test('distinguishes a certificate for another name from one that is not trusted', async () => {
    using authority = privateAuthority('DNS:other.test')
    using other = privateAuthority()
    const [server] = await ClickhouseServer.open()
    if (!server) throw new Error('no server')
    await using _server = server
    using proxy = await tlsProxy(server, authority)
    const address = { ...server.client.address, url: `https://127.0.0.1:${proxy.port}` }
    await expect(describeClickhouse({ ...address, ca: authority.ca })).rejects.toThrow(
      `the certificate of 127.0.0.1:${proxy.port} is for another name (ERR_TLS_CERT_ALTNAME_INVALID)`,
    )
    await expect(describeClickhouse({ ...address, ca: other.ca })).rejects.toThrow('is not trusted')
  })
})
