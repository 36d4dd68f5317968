import { expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { receiver } from '../../src/transport/receiver.fixture.ts'
import { smallFileSystem } from '../disk-full/small-disk.ts'
import { ask, call, runProgram, startServer, until } from '../run-program.ts'

/** Canary events and heartbeats are sent once a minute. */
const MINUTES_MS = 3 * 60_000

const disk = smallFileSystem()

test.skipIf(disk === null)('a server monitors itself, and tells the operator when its disk is full', async () => {
  if (!disk) return
  using mounted = disk
  const { data } = mounted
  await using operator = receiver()
  await using heartbeat = receiver()
  const init = ['init', '--data', data, '--org', 'Acme', '--email', 'a@example.com', '--json']
  const { apiKey } = JSON.parse((await runProgram(init)).stdout)
  const env = {
    TAGWARDEN_OUTBOUND_ALLOW: '127.0.0.1',
    TAGWARDEN_OPERATOR_WEBHOOK_URL: operator.url,
    TAGWARDEN_HEARTBEAT_URL: heartbeat.url,
  }
  await using server = await startServer(data, { env })
  const { token } = await ask('POST', `${server.url}/v1/domains`, apiKey, { name: 'Shop' })
  const metric = async (name: string) => {
    const text = await (await fetch(`${server.url}/metrics`)).text()
    return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
  }
  const told = (subject: string) => () => operator.requests.some(({ body }) => JSON.parse(body).subject === subject)

  // The whole disk is smaller than 1 GiB.
  await until('the warning about the disk', told('the disk is almost full'))
  await until('a heartbeat', () => heartbeat.requests.length > 0, MINUTES_MS)
  const arrived = 'tagwarden_canary_latency_seconds_count'
  await until('a canary event', async () => (await metric(arrived)) > 0, MINUTES_MS)
  expect(await metric('tagwarden_canary_missed_total')).toBe(0)
  expect((await ask('GET', `${server.url}/v1/usage`, apiKey)).totalEvents).toBe(0)

  disk.fill(server.pid)
  const event = () => ({ vendor: 'Shop', params: { blob: randomBytes(1900).toString('hex') } })
  await until('the collector to reject events', async () => {
    const batch = { events: Array.from({ length: 100 }, event) }
    return (await call('POST', `${server.url}/api/v1/events`, { as: token, body: batch })).status === 503
  })
  const { status, body } = await call('GET', `${server.url}/readyz`)
  expect([status, body]).toEqual([503, { error: expect.stringMatching(/^disk: /) }])
  expect((await call('GET', `${server.url}/healthz`)).status).toBe(200)
  const calls = heartbeat.requests.length
  await until('the message about the check', told('the server is not ready: the check "disk" fails'), MINUTES_MS)
  await until(
    'the message about rejected events',
    () => operator.requests.some(({ body }) => JSON.parse(body).subject.startsWith('the collector has been rejecting')),
    MINUTES_MS,
  )
  expect(heartbeat.requests.length).toBe(calls)

  disk.makeRoom(server.pid)
  await until('/readyz', async () => (await call('GET', `${server.url}/readyz`)).status === 200)
  await until('the next heartbeat', () => heartbeat.requests.length > calls, MINUTES_MS)
  await until('the message about the end', told('the check "disk" succeeds again'), MINUTES_MS)
  await server.stop()
  expect(server.code()).toBe(0)
})
