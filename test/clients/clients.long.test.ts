import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ask, initialize, runProgram, type Server, startServer, temporaryFolder, until } from '../run-program.ts'
import { DRIVERS, startDriver } from './drivers.ts'
import { startFlakyProxy } from './flaky-proxy.ts'

/* Tests the clients of the setup guide, as returned by the API, against a real server that fails in many ways. */
const folder = temporaryFolder()
const data = join(folder.path, 'data')
let server: Server
let apiKey: string
const proxy = startFlakyProxy(() => server.url)

beforeAll(async () => {
  apiKey = await initialize(data)
  await start()
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await proxy[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

async function start(): Promise<void> {
  server = await startServer(data, { env: { TAGWARDEN_COLLECT_URL: proxy.url } })
}

/** Creates a domain, and a folder with the code from its guide. */
async function install(
  name: string,
  system: string,
  { change = (code: string) => code, sampleRate = {} }: { change?: (code: string) => string; sampleRate?: object } = {},
) {
  const domain = await ask('POST', `${server.url}/v1/domains`, apiKey, { name, system })
  await ask('PUT', `${server.url}/v1/domains/${domain.id}/capture`, apiKey, { sampleRate })
  const { guide } = await ask('GET', `${server.url}/v1/domains/${domain.id}/snippet`, apiKey)
  const code = join(folder.path, name)
  mkdirSync(code)
  for (const file of guide.files) writeFileSync(join(code, file.name), change(file.code))
  return { domain, code, queue: join(code, 'queue') }
}

/** Returns how many times each order of the domain was stored. */
async function storedOrders(domainId: string): Promise<Map<number, number>> {
  const counts = new Map<number, number>()
  let cursor = ''
  do {
    const page = await ask('GET', `${server.url}/v1/events?domainId=${domainId}&limit=200${cursor}`, apiKey)
    for (const { params } of page.events) {
      const order = Number(params.order)
      counts.set(order, (counts.get(order) ?? 0) + 1)
    }
    cursor = page.nextCursor ? `&cursor=${encodeURIComponent(page.nextCursor)}` : ''
  } while (cursor)
  return counts
}

const orders = (from: number, to: number) => new Map(Array.from({ length: to - from }, (_, index) => [from + index, 1]))
const sorted = (counts: Map<number, number>) => [...counts].sort(([a], [b]) => a - b)
const isEmpty = (queue: string) => readdirSync(queue).every((name) => !/\.(open|batch)$/.test(name))

for (const { client, system, missing, build } of DRIVERS) {
  const isApp = system !== 'server'
  describe.skipIf(missing !== null)(missing === null ? client : `${client} (without ${missing})`, () => {
    test('loses and duplicates no events when the client or the server is killed', async () => {
      const { domain, code, queue } = await install(`kill-${client}`, system)
      const command = await build(code)
      proxy.setMode('pass')
      proxy.seen.length = 0
      let driver = startDriver(command, queue)
      await driver.command('track 0 1200')
      await until('the first events to be sent', () => isEmpty(queue))

      // The batch is stored, but the client receives an error. The repeated batch must not be counted again.
      proxy.setMode('swallow')
      await driver.command('track 1200 1250')
      await until('a lost response', () => proxy.seen.some(({ status }) => status === 500))
      proxy.setMode('pass')
      await until('the retried batch', () => isEmpty(queue))

      proxy.setMode(new Response('slower', { status: 429, headers: { 'retry-after': '1' } }))
      await driver.command('track 1250 1300')
      await until('a 429 response', () => proxy.seen.some(({ status }) => status === 429))
      proxy.setMode('pass')
      await until('the batch delayed by Retry-After', () => isEmpty(queue))
      const waited = proxy.seen.findIndex(({ status }) => status === 429)
      expect((proxy.seen[waited + 1]?.at ?? 0) - (proxy.seen[waited]?.at ?? 0)).toBeGreaterThanOrEqual(990)

      await server.stop('SIGKILL')
      await driver.command('track 1300 1400')
      await until('two failed attempts', () => proxy.seen.filter(({ status }) => status === 502).length >= 2)
      await driver.command('track 1400 1450')
      await driver.kill()
      driver = startDriver(command, queue)
      await driver.command('track 1450 1500')
      await start()
      await until('all queued events', () => isEmpty(queue))

      proxy.setMode(new Response('down', { status: 503 }))
      await driver.command('track 1500 1550')
      await driver.command('close')
      expect((await driver.ended()).code).toBe(0)
      proxy.setMode('pass')
      driver = startDriver(command, queue)
      await until('the events left in the queue at exit', () => isEmpty(queue))
      await driver.command('close')

      expect(sorted(await storedOrders(domain.id))).toEqual(sorted(orders(0, 1550)))
      const first = proxy.seen[0]
      expect(first?.envelope).toMatchObject({
        env: 'prod',
        version: 418,
        sentAt: expect.any(Number),
        ...(isApp && {
          sampleRate: 1,
          sessionId: expect.stringMatching(/^[\da-f-]{36}$/i),
          page: { url: 'app://shop.example/cart', title: 'Cart' },
        }),
      })
      expect(Math.max(...proxy.seen.map(({ events }) => events))).toBeLessThanOrEqual(1000)
      expect(Math.max(...proxy.seen.map(({ bytes }) => bytes))).toBeLessThanOrEqual(1024 * 1024)
      // 1,550 events are sent in a few batches, not individually.
      expect(new Set(proxy.seen.map(({ batchId }) => batchId)).size).toBeLessThan(100)
    })

    test('drops a rejected batch and the oldest batch of a full queue, and sends the other batches', async () => {
      const { domain, code, queue } = await install(`full-${client}`, system, {
        change: (text) =>
          text
            .replace(/(max_?queue_?bytes(: Int)? = )[\d* _]+/i, (_, start) => `${start}60000`)
            .replace(/(max_?batch_?events(: Int)? = )\d+/i, (_, start) => `${start}20`),
      })
      const command = await build(code)
      proxy.setMode(new Response('{"error":"wrong"}', { status: 400 }))
      proxy.seen.length = 0
      const driver = startDriver(command, queue)
      await driver.command('track 0 20')
      await until('the rejected batch to be dropped', () => isEmpty(queue))
      proxy.setMode(new Response('down', { status: 503, headers: { 'retry-after': '1' } }))
      await driver.command('track 20 1000')
      await until('a failed attempt', () => proxy.seen.some(({ status }) => status === 503))
      await driver.command('flush')
      const size = readdirSync(queue).reduce((sum, name) => sum + statSync(join(queue, name)).size, 0)
      expect(size).toBeGreaterThan(30_000)
      expect(size).toBeLessThan(70_000)
      proxy.setMode('pass')
      await until('the remaining batches', () => isEmpty(queue))
      await driver.command('close')
      await driver.ended()
      const stored = sorted(await storedOrders(domain.id))
      const [oldest = 0] = stored[0] ?? []
      expect(oldest).toBeGreaterThan(20)
      expect(stored).toEqual(sorted(orders(oldest, 1000)))
    })

    if (!isApp) return
    test('sends events from a fixed percentage of devices', async () => {
      const sampleRate = { prod: 0.25 }
      const { domain, code } = await install(`share-${client}`, system, { sampleRate })
      const command = await build(code)
      proxy.setMode('pass')
      const { seen } = proxy
      seen.length = 0
      // The first 32 bits of the installation's id decide whether the device sends events.
      const devices = { out: '40000000', in: '3fffffff', IN: '0000ABCD' }
      for (const [index, [name, bits]] of Object.entries(devices).entries()) {
        const queue = join(code, name)
        mkdirSync(queue)
        writeFileSync(join(queue, 'install-id'), `${bits}-0000-4000-8000-000000000000`)
        const driver = startDriver(command, queue)
        await driver.command(`track ${index} ${index + 1}`)
        await until('an empty queue', () => isEmpty(queue))
        await driver.command('close')
        await driver.ended()
      }
      expect(seen.map(({ envelope }) => envelope.sampleRate)).toEqual([0.25, 0.25])
      expect(sorted(await storedOrders(domain.id))).toEqual([
        [1, 1],
        [2, 1],
      ])
    })
  })
}

describe('tagwarden.sh', () => {
  const run = (script: string, queue: string) =>
    runProgram([script, queue], {
      program: ['/bin/sh'],
      env: { TAGWARDEN_SPREAD_S: '0', TAGWARDEN_RETRIES: '1', TMPDIR: folder.path },
    })
  const write = (queue: string, number: number) =>
    writeFileSync(
      join(queue, `00${number}.json`),
      JSON.stringify({
        batchId: `orders-${number}`,
        events: [{ vendor: 'Shop', event: 'purchase', params: { order: number } }],
      }),
    )

  test('sends each batch once, and keeps batches that were not stored', async () => {
    const { domain, code, queue } = await install('shell', 'server')
    mkdirSync(queue)
    const script = join(code, 'tagwarden.sh')
    expect(await run(script, queue)).toEqual({ code: 0, stdout: '', stderr: '' })
    write(queue, 1)
    proxy.setMode('swallow')
    const lost = await run(script, queue)
    expect([lost.code, readdirSync(queue)]).toEqual([1, ['001.json']])
    expect(lost.stderr).toContain('001.json waits for the next run: 500')
    proxy.setMode('pass')
    write(queue, 2)
    writeFileSync(join(queue, '003.json'), '{"batchId":"orders-3","events":"none"}')
    write(queue, 4)
    await server.stop('SIGKILL')
    expect((await run(script, queue)).code).toBe(1)
    expect(readdirSync(queue)).toHaveLength(4)
    await start()
    const last = await run(script, queue)
    expect([last.code, readdirSync(queue)]).toEqual([0, ['refused']])
    expect(last.stderr).toContain('003.json was rejected: {"error"')
    expect(readFileSync(join(queue, 'refused'), 'utf8')).toContain('orders-3')
    expect(sorted(await storedOrders(domain.id))).toEqual([
      [1, 1],
      [2, 1],
      [4, 1],
    ])
  })

  test('deletes the oldest files above the limit', async () => {
    const { code, queue } = await install('shell-full', 'server', {
      change: (text) => text.replace('max_batches=1000', 'max_batches=2'),
    })
    mkdirSync(queue)
    for (const number of [1, 2, 3, 4]) write(queue, number)
    proxy.setMode(new Response('down', { status: 401 }))
    const { stderr } = await run(join(code, 'tagwarden.sh'), queue)
    expect(stderr).toContain('001.json was deleted')
    expect(readdirSync(queue).sort()).toEqual(['003.json', '004.json'])
  })
})
