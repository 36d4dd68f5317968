import { describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { seededRandom, startLoad } from '../crash/event-load.ts'
import { limitedFiles, smallFileSystem } from '../disk-full/small-disk.ts'
import { clickhouseProblem } from '../engine/clickhouse-server.ts'
import { call, until } from '../run-program.ts'
import { FaultyProxy } from './faulty-proxy.ts'
import { type CollectorProcess, ProcessCluster } from './process-cluster.ts'

const problem = clickhouseProblem()
const reason = problem === null ? '' : ` (ClickHouse can't be loaded here: ${problem})`

const LOST_SHARE = 0.05
/** Number of acknowledged events after each change of a fault. */
const EVENTS_BETWEEN = 80
/** With three collectors, one of them always works. */
const MAX_FAULTS = 2
const ROUNDS = 3

interface Fault {
  name: string
  /** What it affects. Two faults of one target never overlap. */
  target: string
  begin(): Promise<void> | void
  end(): Promise<void> | void
}

/** Returns the items in a random order. */
function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, key: random() }))
    .sort((one, other) => one.key - other.key)
    .map(({ item }) => item)
}

/** Lets the faults begin and end in this order. After each change, `work` must succeed. */
async function suffer(faults: readonly Fault[], random: () => number, work: () => Promise<void>): Promise<void> {
  const lasting: Fault[] = []
  for (const fault of faults) {
    while (lasting.some(({ target }) => target === fault.target)) await lasting.shift()?.end()
    await fault.begin()
    lasting.push(fault)
    await work()
    if (lasting.length === MAX_FAULTS || random() < 0.5) await lasting.shift()?.end()
    await work()
  }
  for (const fault of lasting) await fault.end()
}

/** Senders that send each batch again until it is acknowledged, through a random collector for each attempt. */
async function loadOf(cluster: ProcessCluster, random: () => number, lostShare: number) {
  const { id, token } = await cluster.v1('POST', '/domains', { name: 'Shop' })
  const stack = new AsyncDisposableStack()
  const fronts: FaultyProxy[] = []
  for (const collector of cluster.collectors) {
    await collector.synced()
    const front = stack.use(await FaultyProxy.open(() => collector.server.url, random))
    front.lostShare = lostShare
    fronts.push(front)
  }
  const load = stack.use(startLoad(token, random))
  load.to = () => fronts[Math.floor(random() * fronts.length)]?.url ?? null
  const more = async () => {
    const known = load.acknowledged.size
    await until('more acknowledged events', () => {
      if (load.failure !== null) throw load.failure
      return load.acknowledged.size >= known + EVENTS_BETWEEN
    })
  }
  return { id, token, load, more, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

/** Sends batches of about 200 kB until one is refused. Returns the ids of the events that were acknowledged. */
async function sendUntilRefused({ server }: CollectorProcess, token: string): Promise<string[]> {
  const acknowledged: string[] = []
  for (;;) {
    const id = `large-${randomBytes(8).toString('hex')}`
    const events = [{ id, vendor: 'Shop', params: { blob: randomBytes(2000).toString('hex') } }]
    for (let filler = 0; filler < 49; filler++)
      events.push({ ...events[0], id: `${id}-${filler}` } as (typeof events)[0])
    const { status } = await call('POST', `${server.url}/api/v1/events`, { as: token, body: { events } })
    if (status === 503) return acknowledged
    expect(status).toBe(202)
    for (const event of events) acknowledged.push(event.id)
  }
}

describe.skipIf(problem !== null)(`three collectors, a control node and ClickHouse${reason}`, () => {
  test('store each acknowledged event once, whatever fails', async () => {
    const seed = Number(process.env.FAULT_SEED ?? Math.floor(Math.random() * 1_000_000))
    console.log(`FAULT_SEED=${seed}`)
    const random = seededRandom(seed)
    using disk = smallFileSystem() ?? limitedFiles()
    await using cluster = await ProcessCluster.open({ random })
    const { clickhouse, control, collectors } = cluster
    const small = await cluster.addCollector('small', disk ? { data: disk.data } : {})
    const other = await cluster.addCollector('other')
    await cluster.addCollector('third')
    await using senders = await loadOf(cluster, random, LOST_SHARE)
    for (const one of collectors) one.control.lostShare = one.warehouse.lostShare = LOST_SHARE
    const { id: domainId, token, load } = senders
    const expected = new Set<string>()
    const filled = { pid: 0 }
    const faults: Fault[] = [
      ...collectors.map((one) => ({
        name: `kill of the collector ${one.name}`,
        target: one.name,
        begin: () => one.stop('SIGKILL'),
        end: () => one.start(),
      })),
      {
        name: 'kill of ClickHouse',
        target: 'ClickHouse',
        begin: () => clickhouse.kill(),
        end: () => clickhouse.start(),
      },
      {
        name: 'kill of the control node',
        target: 'control',
        begin: () => control.stop('SIGKILL'),
        end: () => control.start(),
      },
      {
        name: 'a collector that is cut off',
        target: other.name,
        begin() {
          other.control.isCut = other.warehouse.isCut = true
        },
        end() {
          other.control.isCut = other.warehouse.isCut = false
        },
      },
      ...(disk === null
        ? []
        : [
            {
              name: 'a full disk',
              target: small.name,
              async begin() {
                filled.pid = small.server.pid
                disk.fill(filled.pid)
                for (const id of await sendUntilRefused(small, token)) expected.add(id)
              },
              end: () => disk.makeRoom(filled.pid),
            },
          ]),
    ]
    const order = Array.from({ length: ROUNDS }, () => shuffled(faults, random)).flat()
    console.log(order.map(({ name }) => name).join(', '))
    await senders.more()
    await suffer(order, random, senders.more)
    await load.finish()
    for (const id of load.acknowledged.keys()) expected.add(id)
    for (const one of collectors)
      await until(`${one.name} to be done`, async () => (await one.metric('tagwarden_collect_lag_seconds')) === 0)
    const stored = await cluster.stored(domainId)
    expect([...stored].filter(([, times]) => times !== 1)).toEqual([])
    expect([...stored.keys()].sort()).toEqual([...expected].sort())
    expect((await cluster.v1('GET', '/usage')).totalEvents).toBe(expected.size)
    const [counted] = await clickhouse.client.select<{ n: number }>(
      `SELECT sum(events) AS n FROM counts WHERE domainId = '${domainId}'`,
    )
    expect(counted?.n).toBe(expected.size)
    expect(load.repeats).toBeGreaterThan(0)
    console.log(`${expected.size} events, ${load.repeats} repeated batches`)
    expect(collectors.reduce((sum, { control, warehouse }) => sum + control.lost + warehouse.lost, 0)).toBeGreaterThan(
      0,
    )
  })

  test.each(['claims', 'tokens'] as const)('store events twice without %s', async (without) => {
    const random = seededRandom(1)
    await using cluster = await ProcessCluster.open({ random, without })
    for (const name of ['one', 'two']) await cluster.addCollector(name)
    await using senders = await loadOf(cluster, random, without === 'claims' ? 0.3 : 0)
    if (without === 'tokens') for (const { warehouse } of cluster.collectors) warehouse.lostShare = 0.3
    await until('an event that is stored twice', async () => {
      if (senders.load.failure !== null) throw senders.load.failure
      return [...(await cluster.stored(senders.id)).values()].some((times) => times > 1)
    })
  })
})
