import { expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import type { Delivery } from '../../src/integrations/delivery/delivery.ts'
import type { Issue, IssueDetail } from '../../src/issues/issue.ts'
import type { Received } from '../../src/transport/receiver.fixture.ts'
import {
  ask,
  askAll,
  PROGRAM,
  runProgram,
  startServer,
  temporaryFolder,
  until,
  WEBHOOK_SECRET,
  watch,
} from '../run-program.ts'
import { churnIssues } from './churn-issues.ts'
import { seededRandom, startLoad } from './event-load.ts'
import { flakyReceiver, receivedMessageOf } from './flaky-receiver.ts'

const SEED = Number(process.env.CRASH_SEED ?? 1)
const KILLS = 20
/**
 * Maximum run time of a server. Most runs are short; some are long enough for segments to be sealed, loaded and merged
 * under load.
 */
const LONGEST_LIFE_MS = 6000
/** Share of starts that are killed during recovery, before the server listens. */
const STILLBORN_SHARE = 0.3
const LONGEST_START_MS = 500

const env = { TAGWARDEN_OUTBOUND_ALLOW: '127.0.0.1', TAGWARDEN_RATE_KEY_PER_MINUTE: '1000000' }

test(`after ${KILLS} kills under load, each acknowledged event is stored once and each notification has one ID`, async () => {
  console.log(`seed ${SEED} (CRASH_SEED)`)
  const random = seededRandom(SEED)
  using folder = temporaryFolder()
  await using hooks = flakyReceiver(random)
  const data = join(folder.path, 'data')
  const made = await runProgram(['init', '--data', data, '--org', 'Acme', '--email', 'a@example.com', '--json'])
  const { apiKey } = JSON.parse(made.stdout)

  await using servers = new AsyncDisposableStack()
  const start = async () => servers.use(await startServer(data, { env }))
  let server = await start()
  const property = { name: 'shop.example', hookUrl: hooks.url, secret: WEBHOOK_SECRET }
  const { token, domainId, alert } = await watch(server.url, apiKey, property)
  using load = startLoad(token, random)
  const seen = new Set<string>()
  for (let kill = 0; kill < KILLS; kill++) {
    let isOver = false
    load.to = server.url
    const stirring = churnIssues(server.url, apiKey, alert, { random, isOver: () => isOver })
    await Bun.sleep(random() ** 3 * LONGEST_LIFE_MS)
    isOver = true
    await server.stop('SIGKILL')
    load.to = null
    await stirring
    if (random() < STILLBORN_SHARE) await killWhileStarting(data, random() * LONGEST_START_MS)
    await idsInFiles(data)
    server = await start()
    const unseen = [...load.acknowledged].filter(([id]) => !seen.has(id))
    // Events acknowledged during one run may have been stored in an earlier run.
    const since = Math.min(Date.now(), ...unseen.map(([, firstSentAt]) => firstSentAt))
    const events = await askAll<{ id: string }>(server.url, `/v1/events?from=${since}`, apiKey, 'events')
    const ids = new Set(events.map(({ id }) => id))
    expect(ids.size).toBe(events.length)
    expect(unseen.filter(([id]) => !ids.has(id))).toEqual([])
    for (const [id] of unseen) seen.add(id)
  }

  load.to = server.url
  await load.finish()
  console.log(`${load.acknowledged.size} events acknowledged, ${load.repeats} failed attempts`)
  await expectNoticesOnce(server.url, apiKey, hooks.requests)
  await server.stop()
  expect(server.code()).toBe(0)
  const stored = await idsInFiles(data)
  expect(stored.sort()).toEqual([...load.acknowledged.keys()].sort())

  server = await start()
  const usage = await ask('GET', `${server.url}/v1/usage`, apiKey)
  await server.stop()
  const counted = usage.days.map((day: { domainId: string }) => day.domainId)
  expect(usage.totalEvents).toBe(stored.length)
  expect(new Set(counted)).toEqual(new Set([domainId]))
})

async function killWhileStarting(data: string, afterMs: number): Promise<void> {
  const child = Bun.spawn([...PROGRAM, 'serve', '--data', data, '--listen', '127.0.0.1:0'], {
    env: { PATH: '/usr/bin:/bin', ...env },
    stdio: ['ignore', 'ignore', 'ignore'],
  })
  await Bun.sleep(afterMs)
  child.kill('SIGKILL')
  await child.exited
}

/** Returns the ids of the events in all Parquet files, including duplicates. Throws when a file can't be read. */
async function idsInFiles(data: string): Promise<string[]> {
  const folder = join(data, 'events')
  const engine = await DuckDBInstance.create(':memory:')
  const connection = await engine.connect()
  try {
    const ids: string[] = []
    for (const name of readdirSync(folder).filter((name) => name.endsWith('.parquet'))) {
      const reader = await connection.runAndReadAll(`SELECT id FROM read_parquet('${join(folder, name)}')`)
      ids.push(...reader.getRowsJS().map(([id]) => String(id)))
    }
    return ids
  } finally {
    connection.closeSync()
    engine.closeSync()
  }
}

/**
 * Waits until nothing is left to send. Then checks that every opening and reopening in the issue histories was
 * delivered, as well as the resolution of every issue that is still resolved. The received messages must match the
 * delivery log, with a single id for each notification.
 */
async function expectNoticesOnce(server: string, apiKey: string, requests: readonly Received[]): Promise<void> {
  const deliveries = await until('all deliveries to be completed', async () => {
    const all = await askAll<Delivery>(server, '/v1/notifications/deliveries', apiKey, 'deliveries')
    return all.every(({ status }) => status !== 'pending' && status !== 'sending') && all
  })
  const delivered = deliveries.filter(({ status }) => status === 'delivered')
  const rest = deliveries.filter(({ status }) => status !== 'delivered')
  expect(rest.filter(({ status, transition }) => status !== 'withdrawn' || transition !== 'resolved')).toEqual([])

  const issues = await askAll<Issue>(server, '/v1/issues', apiKey, 'issues')
  let changes = 0
  for (const { id, status } of issues) {
    const { history }: IssueDetail = await ask('GET', `${server}/v1/issues/${id}`, apiKey)
    const told = delivered.filter(({ issueId }) => issueId === id)
    for (const kind of ['opened', 'reopened'] as const) {
      const happened = history.filter((entry) => entry.kind === kind).length
      expect({ id, kind, times: told.filter(({ transition }) => transition === kind).length }).toEqual({
        id,
        kind,
        times: happened,
      })
      changes += happened
    }
    if (status === 'resolved') expect(told[0]?.transition).toBe('resolved')
  }
  const arrivals = requests.map(receivedMessageOf)
  console.log(`${issues.length} issues opened and reopened ${changes} times, ${arrivals.length} webhooks received`)
  // With only a few changes, this test would prove nothing.
  expect(changes).toBeGreaterThan(KILLS)

  expect(new Set(arrivals.map(({ webhookId }) => webhookId))).toEqual(new Set(delivered.map(({ id }) => id)))
  const byNotice = Map.groupBy(arrivals, ({ notice }) => notice)
  expect([...byNotice.values()].filter((same) => new Set(same.map(({ webhookId }) => webhookId)).size > 1)).toEqual([])
  expect(byNotice.size).toBe(delivered.length)
}
