import { expect, test } from 'bun:test'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { openBeside } from '../../src/store/database.ts'
import { receiver } from '../../src/transport/receiver.fixture.ts'
import { churnIssues } from '../crash/churn-issues.ts'
import { seededRandom, startLoad } from '../crash/event-load.ts'
import {
  ask,
  askAll,
  initialize,
  PROGRAM,
  runProgram,
  type Server,
  startServer,
  temporaryFolder,
  until,
  WEBHOOK_SECRET,
  watch,
} from '../run-program.ts'

const env = { TAGWARDEN_OUTBOUND_ALLOW: '127.0.0.1', TAGWARDEN_RATE_KEY_PER_MINUTE: '1000000' }

const run = async (...args: string[]) => {
  const ended = await runProgram(args)
  expect([args, ended.code, ended.stderr]).toEqual([args, 0, ''])
  return ended.stdout
}

/** Returns everything that a backup must contain, in comparable form. */
async function contentOf({ url }: Server, apiKey: string) {
  const list = <T>(path: string, noun: string) => askAll<T>(url, path, apiKey, noun)
  const get = (path: string) => ask('GET', `${url}${path}`, apiKey)
  const events = await list<{ id: string; domainId: string; vendor: string; receivedAt: number }>(
    '/v1/events?from=0',
    'events',
  )
  const { issues, ...others } = {
    issues: await list<{ id: string }>('/v1/issues', 'issues'),
    alerts: await list('/v1/alerts', 'alerts'),
    domains: await list<{ id: string }>('/v1/domains', 'domains'),
    integrations: await list<{ id: string }>('/v1/integrations', 'integrations'),
    deliveries: await list('/v1/notifications/deliveries', 'deliveries'),
    runs: await list('/v1/flows/runs', 'runs'),
    members: await get('/v1/org/members'),
    org: await get('/v1/org'),
    usage: (await get('/v1/usage')).days,
  }
  const histories = await Promise.all(issues.map(({ id }) => get(`/v1/issues/${id}`)))
  const counts = Map.groupBy(events, ({ receivedAt, domainId, vendor }) =>
    [Math.floor(receivedAt / 3_600_000), domainId, vendor].join(' '),
  )
  return {
    ...others,
    issues: histories
      .map(({ id, status, title, history, count }) => ({ id, status, title, history, count }))
      .sort((one, other) => one.id.localeCompare(other.id)),
    ids: events.map(({ id }) => id).sort(),
    counts: Object.fromEntries([...counts].map(([key, rows]) => [key, rows.length])),
  }
}

test('backups under load contain every acknowledged batch, and a restored server sends nothing until it is resumed', async () => {
  using root = temporaryFolder()
  await using hooks = receiver()
  const data = join(root.path, 'data')
  const backups = join(root.path, 'backups')
  const apiKey = await initialize(data)
  await using servers = new AsyncDisposableStack()
  const server = servers.use(await startServer(data, { env }))
  const property = { name: 'shop.example', hookUrl: hooks.url, secret: WEBHOOK_SECRET }
  const { token, alert } = await watch(server.url, apiKey, property)
  const random = seededRandom(7)
  using load = startLoad(token, random)
  load.to = server.url
  let isOver = false
  const churn = churnIssues(server.url, apiKey, alert, { random, isOver: () => isOver })
  const merges = () => readdirSync(join(data, 'events')).filter((name) => /^m/.test(name)).length
  const checkpoints = openBeside(join(data, 'tagwarden.db'))

  // Backups one after another, until a merge has happened during one of them.
  const made: { name: string; acknowledged: string[] }[] = []
  let mergedDuring = false
  await until(
    'a merge during a backup',
    async () => {
      const [before, acknowledged] = [merges(), [...load.acknowledged.keys()]]
      const making = run('backup', '--data', data, '--to', backups, '--json')
      checkpoints?.pragma('wal_checkpoint(PASSIVE)')
      const { name } = JSON.parse(await making)
      made.push({ name, acknowledged })
      mergedDuring ||= merges() !== before
      return mergedDuring && made.length >= 3
    },
    300_000,
  )
  isOver = true
  await load.finish()
  await churn
  await evaluations(server.url)
  await until('all deliveries', async () => {
    const { deliveries } = await ask('GET', `${server.url}/v1/notifications/deliveries?status=pending`, apiKey)
    return deliveries.length === 0
  })
  await until('all counts', async () => {
    const usage = await ask('GET', `${server.url}/v1/usage`, apiKey)
    return usage.totalEvents === load.acknowledged.size
  })
  const last = JSON.parse(await run('backup', '--data', data, '--to', backups, '--keep', '100', '--json'))
  const original = await contentOf(server, apiKey)
  expect(original.ids).toEqual([...load.acknowledged.keys()].sort())
  checkpoints?.close()
  await server.stop()
  await run('backup', 'verify', backups)

  for (const { name, acknowledged } of made.slice(-2)) {
    const restored = join(root.path, `restored-${name}`)
    await run('restore', '--from', join(backups, name), '--data', restored)
    await using copy = await startServer(restored, { env })
    const { ids, counts } = await contentOf(copy, apiKey)
    const present = new Set(ids)
    expect(present.size).toBe(ids.length)
    expect(acknowledged.filter((id) => !present.has(id))).toEqual([])
    expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBe(ids.length)
    await copy.stop()
  }

  const restored = join(root.path, 'restored')
  await run('restore', '--from', backups, '--data', restored)
  const sent = hooks.requests.length
  await using copy = await startServer(restored, { env })
  expect(copy.log()).toContain(`the data folder was restored from the backup ${last.name}`)
  expect(await contentOf(copy, apiKey)).toEqual(original)
  const { status, deliveries } = await pendingAfterViolation(copy, apiKey, token)
  expect([status, deliveries]).toEqual([202, 1])
  expect(hooks.requests.length).toBe(sent)
  const [{ quiet }] = [await (await fetch(`${copy.url}/readyz`)).json()]
  expect(quiet.reason).toContain(last.name)
  await run('resume', '--data', restored)
  await until('the delivery', () => hooks.requests.length > sent)
  await copy.stop()
}, 600_000)

/** Sends an event that violates the alert, and waits until its delivery could have been sent several times. */
async function pendingAfterViolation({ url }: Server, apiKey: string, token: string) {
  const { domains } = await ask('GET', `${url}/v1/domains`, apiKey)
  const alert = {
    name: 'Another rule',
    alertType: 'data_validation',
    domainId: domains[0].id,
    period: '1h',
    conditions: { logic: 'any', items: [{ parameter: 'other', op: 'contains_email' }] },
    channels: (await ask('GET', `${url}/v1/alerts`, apiKey)).alerts[0].channels,
  }
  await ask('POST', `${url}/v1/alerts`, apiKey, alert)
  const response = await fetch(`${url}/api/v1/events`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ events: [{ vendor: 'Shop', event: 'late', params: { other: 'jane@example.com' } }] }),
  })
  const pending = await until('a pending delivery', async () => {
    const { deliveries } = await ask('GET', `${url}/v1/notifications/deliveries?status=pending`, apiKey)
    return deliveries.length > 0 ? deliveries : null
  })
  await evaluations(url)
  return { status: response.status, deliveries: pending.length }
}

/** Waits for three more evaluations. The jobs run every second, and each evaluation comes after the job that delivers. */
async function evaluations(url: string): Promise<void> {
  let rounds = 0
  let age = 0
  await until('three more evaluations', async () => {
    const { lastEvaluationAgeMs } = await (await fetch(`${url}/readyz`)).json()
    if (lastEvaluationAgeMs < age) rounds++
    age = lastEvaluationAgeMs
    return rounds >= 3
  })
}

test('a backup that is killed at any time leaves the earlier ones whole', async () => {
  using root = temporaryFolder()
  const data = join(root.path, 'data')
  const backups = join(root.path, 'backups')
  const apiKey = await initialize(data)
  await using server = await startServer(data, { env })
  const { token } = await watch(server.url, apiKey, {
    name: 'shop.example',
    hookUrl: server.url,
    secret: WEBHOOK_SECRET,
  })
  using load = startLoad(token, seededRandom(3))
  load.to = server.url
  await run('backup', '--data', data, '--to', backups)
  const names = () => readdirSync(backups).filter((name) => !name.startsWith('.'))
  // Killed at each state that is visible from outside: staged, begun, and with more and more files.
  const states: (() => boolean)[] = [
    () => filesIn(join(data, 'backup-draft')) > 2,
    ...[0, 1, 2, 3].map((files) => () => unfinished(backups) !== null && filesIn(unfinished(backups) ?? '') >= files),
  ]
  for (const isReached of states) {
    const before = names()
    const child = Bun.spawn([...PROGRAM, 'backup', '--data', data, '--to', backups], {
      env: { PATH: '/usr/bin:/bin' },
      stdio: ['ignore', 'ignore', 'ignore'],
    })
    while (child.exitCode === null && !isReached()) await Bun.sleep(0)
    child.kill('SIGKILL')
    await child.exited
    expect(before.filter((name) => !names().includes(name))).toEqual([])
    await run('backup', 'verify', backups)
  }
  await run('backup', '--data', data, '--to', backups)
  await load.finish()
  expect(unfinished(backups)).toBeNull()
  expect(readdirSync(join(data, 'backup-draft'))).toEqual(['lock'])
  await run('backup', 'verify', backups)
  await server.stop()
}, 300_000)

function unfinished(backups: string): string | null {
  const name = readdirSync(backups).find((one) => one.startsWith('.unfinished-'))
  return name === undefined ? null : join(backups, name)
}

function filesIn(folder: string): number {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
      statSync(join(folder, name)).isFile(),
    ).length
  } catch {
    // The folder or a file was moved in the meantime.
    return 0
  }
}
