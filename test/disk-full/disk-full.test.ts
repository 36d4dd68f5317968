import { afterAll, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { receiver } from '../../src/integrations/receiver.fixture.ts'
import {
  ask,
  askAll,
  call,
  runProgram,
  startServer,
  temporaryFolder,
  until,
  WEBHOOK_SECRET,
  watch,
} from '../process.ts'
import { limitedFiles, type SmallDisk, smallFileSystem } from './small-disk.ts'

const TEST_MS = 120_000
const BATCH_EVENTS = 50
/** More than any of the disks takes. */
const MOST_BATCHES = 500
const REFUSALS = 30

const disks: Record<string, SmallDisk | null> = {
  'a file system without room': smallFileSystem(),
  'a limit to the size of files': limitedFiles(),
}
afterAll(() => {
  for (const disk of Object.values(disks)) disk?.[Symbol.dispose]()
})

/** About 200 kB that no compression makes small. */
function batchOf(number: number) {
  const events = Array.from({ length: BATCH_EVENTS }, (_, index) => ({
    id: `${number}.${index}`,
    vendor: 'Shop',
    event: 'purchase',
    params: { blob: randomBytes(2000).toString('hex') },
  }))
  return { batchId: `batch-${number}-of-the-test`, events }
}

describe.each(Object.entries(disks))('%s', (_, disk) => {
  test.skipIf(disk === null)(
    'is answered with 503 until there is room again, and costs nothing that was acknowledged',
    async () => {
      if (!disk) return
      await using hooks = receiver()
      const { data } = disk
      const init = ['init', '--data', data, '--org', 'Acme', '--email', 'a@example.com', '--json']
      const { apiKey } = JSON.parse((await runProgram(init)).stdout)
      const env = { TAGWARDEN_OUTBOUND_ALLOW: '127.0.0.1', TAGWARDEN_RATE_KEY_PER_MINUTE: '1000000' }
      await using server = await startServer(data, { env })
      const property = { name: 'shop.example', hookUrl: hooks.url, secret: WEBHOOK_SECRET }
      const { token } = await watch(server.url, apiKey, property)
      const send = (body: object) => call('POST', `${server.url}/api/v1/events`, { as: token, body })

      const acknowledged = new Set<string>()
      const refused = new Map<string, ReturnType<typeof batchOf>>()
      disk.fill(server.pid)
      for (let number = 0; refused.size < REFUSALS && number < MOST_BATCHES; number++) {
        const batch = batchOf(number)
        const { status, headers, body } = await send(batch)
        if (status === 202) {
          for (const { id } of batch.events) acknowledged.add(id)
          continue
        }
        expect({ status, body }).toEqual({ status: 503, body: { error: expect.stringContaining('the disk is full') } })
        expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
        refused.set(batch.batchId, batch)
        // Time for what happens by itself to meet the full disk too.
        await Bun.sleep(100)
      }
      expect(refused.size).toBe(REFUSALS)
      expect(acknowledged.size).toBeGreaterThan(0)
      expect((await call('GET', `${server.url}/healthz`)).status).toBe(200)
      expect(server.code()).toBeNull()

      disk.makeRoom(server.pid)
      for (const batch of refused.values()) {
        await until('the collector to take in again', async () => (await send(batch)).status === 202)
        for (const { id } of batch.events) acknowledged.add(id)
      }
      const letter = { id: 'letter', vendor: 'Shop', event: 'contact', params: { from: 'jane@example.com' } }
      expect((await send({ batchId: 'the-letter', events: [letter] })).status).toBe(202)
      acknowledged.add(letter.id)
      await until('the webhook', () => hooks.requests.length > 0)
      await until('all events to be in the history', async () => {
        const { totalEvents } = await ask('GET', `${server.url}/v1/usage`, apiKey)
        return totalEvents === acknowledged.size
      })
      const events = await askAll<{ id: string }>(server.url, '/v1/events', apiKey, 'events')
      expect(events.map(({ id }) => id).sort()).toEqual([...acknowledged].sort())
      await server.stop()
      expect(server.code()).toBe(0)
    },
    TEST_MS,
  )
})
