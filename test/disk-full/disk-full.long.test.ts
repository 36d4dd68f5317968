import { afterAll, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { receiver } from '../../src/transport/receiver.fixture.ts'
import { ask, askAll, call, runProgram, startServer, until, WEBHOOK_SECRET, watch } from '../run-program.ts'
import { limitedFiles, type SmallDisk, smallFileSystem } from './small-disk.ts'

const BATCH_EVENTS = 50
/** More batches than fit on any of the disks. */
const MOST_BATCHES = 500

const disks: Record<string, SmallDisk | null> = {
  'a server with a full file system': smallFileSystem(),
  'a server with limited file sizes': limitedFiles(),
}
afterAll(() => {
  for (const disk of Object.values(disks)) disk?.[Symbol.dispose]()
})

/** A client that records the acknowledged events. */
class Sender {
  /** URL of the server, which changes with each restart. */
  url = ''
  readonly acknowledged = new Set<string>()
  private sent = 0

  constructor(private readonly token: string) {}

  /** Returns a batch of about 200 kB of incompressible data. */
  batch() {
    const number = this.sent++
    const events = Array.from({ length: BATCH_EVENTS }, (_, index) => ({
      id: `${number}.${index}`,
      vendor: 'Shop',
      event: 'purchase',
      params: { blob: randomBytes(2000).toString('hex') },
    }))
    return { batchId: `batch-${number}-of-the-test`, events }
  }

  async send(batch: { batchId: string; events: { id: string }[] }) {
    const answer = await call('POST', `${this.url}/api/v1/events`, { as: this.token, body: batch })
    if (answer.status === 202) for (const { id } of batch.events) this.acknowledged.add(id)
    return answer
  }

  /** Sends batches until this many have been rejected because the disk is full. Returns the rejected batches. */
  async sendUntilRefused(times: number): Promise<ReturnType<Sender['batch']>[]> {
    const refused: ReturnType<Sender['batch']>[] = []
    for (let sent = 0; refused.length < times && sent < MOST_BATCHES; sent++) {
      const batch = this.batch()
      const { status, headers, body } = await this.send(batch)
      if (status === 202) continue
      expect({ status, body }).toEqual({ status: 503, body: { error: expect.stringContaining('the disk is full') } })
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
      refused.push(batch)
      // Gives background jobs time to run while the disk is full.
      await Bun.sleep(100)
    }
    expect(refused).toHaveLength(times)
    return refused
  }
}

/** Waits until the history contains all acknowledged events, and checks that it contains each of them once. */
async function expectAllOnce(apiKey: string, { url, acknowledged }: Sender): Promise<void> {
  await until('all events to be in the history', async () => {
    const { totalEvents } = await ask('GET', `${url}/v1/usage`, apiKey)
    return totalEvents >= acknowledged.size
  })
  const events = await askAll<{ id: string }>(url, '/v1/events', apiKey, 'events')
  expect(events.map(({ id }) => id).sort()).toEqual([...acknowledged].sort())
}

describe.each(Object.entries(disks))('%s', (_, disk) => {
  test.skipIf(disk === null)(
    'returns 503 until space is available again, and loses no acknowledged events',
    async () => {
      if (!disk) return
      await using hooks = receiver()
      const { data } = disk
      const init = ['init', '--data', data, '--org', 'Acme', '--email', 'a@example.com', '--json']
      const { apiKey } = JSON.parse((await runProgram(init)).stdout)
      const env = { TAGWARDEN_OUTBOUND_ALLOW: '127.0.0.1', TAGWARDEN_RATE_KEY_PER_MINUTE: '1000000' }
      await using server = await startServer(data, { env })
      const property = { name: 'shop.example', hookUrl: hooks.url, secret: WEBHOOK_SECRET }
      const sender = new Sender((await watch(server.url, apiKey, property)).token)
      sender.url = server.url

      disk.fill(server.pid)
      const refused = await sender.sendUntilRefused(30)
      expect((await call('GET', `${server.url}/healthz`)).status).toBe(200)
      const { status, body } = await call('GET', `${server.url}/readyz`)
      expect({ status, body }).toEqual({
        status: 503,
        body: { error: expect.stringMatching(/^disk: (the disk is full|writing to the disk failed): /) },
      })

      // Once there is space again, the server recovers automatically: it accepts, stores and evaluates events, and
      // sends notifications.
      disk.makeRoom(server.pid)
      await until('/readyz', async () => (await call('GET', `${server.url}/readyz`)).status === 200)
      for (const batch of refused) {
        await until('the collector to accept batches again', async () => (await sender.send(batch)).status === 202)
      }
      const letter = { id: 'letter', vendor: 'Shop', event: 'contact', params: { from: 'jane@example.com' } }
      expect((await sender.send({ batchId: 'the-letter', events: [letter] })).status).toBe(202)
      await until('the webhook', () => hooks.requests.length > 0)
      await expectAllOnce(apiKey, sender)

      // Nothing is lost when the server is killed while the disk is full.
      disk.fill(server.pid)
      await sender.sendUntilRefused(5)
      await server.stop('SIGKILL')
      disk.makeRoom(server.pid)
      await using next = await startServer(data, { env })
      sender.url = next.url
      await expectAllOnce(apiKey, sender)
      await next.stop()
      expect(next.code()).toBe(0)
    },
  )
})
