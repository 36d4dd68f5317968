import { describe, expect, test } from 'bun:test'
import { memoryDb } from '../../test/fixtures.ts'
import { ask, initialize, runProgram, startServer, temporaryFolder } from '../../test/run-program.ts'
import { type TestApp, testApp } from '../../test/test-app.ts'
import type { SettingName } from '../config.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../core/clock.ts'
import { openDatabase } from '../store/database.ts'
import { confirmLimits, limitInForce, requestLimits, waitingLimits } from '../store/retention-limits.ts'

type Settings = Partial<Record<SettingName, string>>

/** Stores one event per day for this number of days. */
async function daysOf(world: TestApp, days: number): Promise<void> {
  const { body: domain } = await world.call('POST', '/v1/domains', { body: { name: 'Shop' } })
  for (let day = 0; day < days; day++) {
    if (day > 0) world.clock.advance(DAY_MS)
    await world.collect(domain.token, { events: [{ vendor: 'Shop', event: `day ${day}` }] })
    world.clock.advance(5 * SECOND_MS)
    await world.run('flush')
  }
}

async function daysLeft(world: TestApp): Promise<string[]> {
  await world.run('retain', 'disk budget')
  const { body } = await world.call('GET', '/v1/events?from=0')
  return body.events.map(({ event }: { event: string }) => event).reverse()
}

/** Restarts with other settings. */
function withSettings(world: TestApp, settings: Settings, changed: Settings): Promise<void> {
  Object.assign(settings, changed)
  return world.restart()
}

describe('a shorter retention', () => {
  test('deletes nothing for a day, also across restarts, and then everything that is due', async () => {
    const settings: Settings = { retentionDays: '10' }
    await using world = await testApp(settings)
    await daysOf(world, 6)
    const all = ['day 0', 'day 1', 'day 2', 'day 3', 'day 4', 'day 5']
    expect(await daysLeft(world)).toEqual(all)
    await withSettings(world, settings, { retentionDays: '3' })
    expect(world.warnings.at(-1)).toMatch(
      /TAGWARDEN_RETENTION_DAYS=3 is shorter than before \(TAGWARDEN_RETENTION_DAYS=10\): it deletes 4 events \(.+\), received from 2026-01-05 12:00 UTC to 2026-01-08 12:00 UTC, at 2026-01-11 12:00 UTC or when you run "tagwarden retention --confirm"/,
    )
    expect(await daysLeft(world)).toEqual(all)
    expect((await world.call('GET', '/v1/usage')).body.waitingDeletions).toEqual([
      {
        name: 'retentionDays',
        inForce: 10,
        requested: 3,
        appliesAt: Date.UTC(2026, 0, 11, 12, 0, 30),
        before: Date.UTC(2026, 0, 8, 12, 0, 30),
        events: 4,
        bytes: expect.any(Number),
      },
    ])
    world.clock.advance(23 * HOUR_MS)
    await world.restart()
    expect(await daysLeft(world)).toEqual(all)
    world.clock.advance(59 * MINUTE_MS)
    expect(await daysLeft(world)).toEqual(all)
    world.clock.advance(MINUTE_MS)
    expect(await daysLeft(world)).toEqual(['day 4', 'day 5'])
    expect(world.lines).toContainEqual(
      expect.stringMatching(
        /^deleted events older than 3 days: 4 rows in 4 files, .+, from 2026-01-05 12:00 UTC to 2026-01-08 12:00 UTC$/,
      ),
    )
    await world.restart()
    expect(await daysLeft(world)).toEqual(['day 4', 'day 5'])
    expect((await world.call('GET', '/v1/usage')).body.waitingDeletions).toEqual([])
  })

  test('is cancelled by the longer one', async () => {
    const settings: Settings = { retentionDays: '10' }
    await using world = await testApp(settings)
    await daysOf(world, 6)
    await withSettings(world, settings, { retentionDays: '3' })
    world.clock.advance(23 * HOUR_MS)
    await withSettings(world, settings, { retentionDays: '12' })
    world.clock.advance(2 * HOUR_MS)
    expect(await daysLeft(world)).toHaveLength(6)
    expect(waitingLimits(world.app.db)).toEqual([])
  })

  test('applies at once when it is confirmed', async () => {
    const settings: Settings = { retentionDays: '10' }
    await using world = await testApp(settings)
    await daysOf(world, 6)
    await withSettings(world, settings, { retentionDays: '3' })
    expect(confirmLimits(world.app.db)).toMatchObject([{ name: 'retentionDays', inForce: 10, requested: 3 }])
    expect(await daysLeft(world)).toEqual(['day 3', 'day 4', 'day 5'])
    await world.restart()
    expect(waitingLimits(world.app.db)).toEqual([])
  })
})

test('the log says who deleted a domain, a member and an organization, and how much was deleted', async () => {
  await using world = await testApp()
  const { orgId, userId } = world.owner
  const { body: gone } = await world.call('POST', '/v1/domains', { body: { name: 'Gone' } })
  await world.call('DELETE', `/v1/domains/${gone.id}`)
  expect(world.lines).toContain(`DELETE /v1/domains/${gone.id} by ${userId} of ${orgId}: 3 rows`)
  const { body: invitation } = await world.call('POST', '/v1/org/members', {
    body: { email: 'x@y.example', role: 'viewer' },
  })
  await world.call('DELETE', `/v1/org/members/${invitation.member.id}`)
  // The membership and the user, who never signed in.
  expect(world.lines).toContain(`DELETE /v1/org/members/${invitation.member.id} by ${userId} of ${orgId}: 2 rows`)
  const { body: other } = await world.call('POST', '/v1/orgs', { body: { name: 'Other' } })
  const inOther = { headers: { 'x-org-id': other.id } }
  const { body: domain } = await world.call('POST', '/v1/domains', { ...inOther, body: { name: 'Shop' } })
  await world.collect(domain.token, { events: [{ vendor: 'Shop' }] })
  world.clock.advance(2 * HOUR_MS)
  await world.run('flush', 'compact')
  await world.call('DELETE', '/v1/org?name=Wrong', inOther)
  expect(world.lines).not.toContainEqual(expect.stringContaining('DELETE /v1/org '))
  await world.call('DELETE', '/v1/org?name=Other', inOther)
  expect(world.lines).toContainEqual(
    expect.stringMatching(new RegExp(`^DELETE /v1/org by ${userId} of ${other.id}: \\d+ rows$`)),
  )
  await world.run('retain')
  expect(world.lines).toContainEqual(
    expect.stringContaining(`deleted events of the deleted organization ${other.id}: 1 row in 1 file, `),
  )
})

test('a smaller disk budget waits as well', async () => {
  const settings: Settings = {}
  await using world = await testApp(settings)
  await daysOf(world, 3)
  await withSettings(world, settings, { diskBudget: '10MB' })
  expect(limitInForce(world.app.db, 'diskBudget', world.clock.now())).toBe(0)
  expect(world.warnings.at(-1)).toContain(
    'TAGWARDEN_DISK_BUDGET=10 MB is shorter than before (TAGWARDEN_DISK_BUDGET=none)',
  )
  expect((await world.call('GET', '/v1/usage')).body.waitingDeletions).toMatchObject([
    { name: 'diskBudget', inForce: 0, requested: 10 * 2 ** 20, before: null, events: null, bytes: 0 },
  ])
  world.clock.advance(DAY_MS)
  expect(limitInForce(world.app.db, 'diskBudget', world.clock.now())).toBe(10 * 2 ** 20)
})

test('a limit that is shortened again waits for a whole day, and an unchanged one keeps its waiting time', () => {
  const db = memoryDb()
  const request = (retentionDays: number, now: number) =>
    requestLimits(db, { retentionDays, runRetentionDays: 30, diskBudget: 0 }, now)
  const waiting = () => waitingLimits(db).map(({ requested, appliesAt }) => [requested, appliesAt])
  request(90, 0)
  expect(waiting()).toEqual([])
  request(30, 1000)
  request(30, 5000)
  expect(waiting()).toEqual([[30, 1000 + DAY_MS]])
  request(20, 9000)
  expect(waiting()).toEqual([[20, 9000 + DAY_MS]])
  expect(limitInForce(db, 'retentionDays', 9000 + DAY_MS - 1)).toBe(90)
  expect(limitInForce(db, 'retentionDays', 9000 + DAY_MS)).toBe(20)
  expect(waiting()).toEqual([])
  // A clock that was set back doesn't shorten the waiting time.
  request(10, 50_000)
  expect(limitInForce(db, 'retentionDays', 0)).toBe(20)
})

test('tagwarden retention lists what is waiting, and confirms it', async () => {
  using folder = temporaryFolder()
  const data = `${folder.path}/data`
  const run = (...args: string[]) => runProgram(['retention', '--data', data, ...args])
  expect(await run()).toMatchObject({ code: 2, stderr: expect.stringContaining('there is no data folder') })
  await runProgram(['init', '--data', data, '--org', 'Acme', '--email', 'a@example.com', '--json'])
  expect(await run()).toMatchObject({ code: 0, stdout: 'No shorter limit is waiting.\n' })
  const db = openDatabase(`${data}/tagwarden.db`)
  requestLimits(db, { retentionDays: 90, runRetentionDays: 30, diskBudget: 0 }, 0)
  requestLimits(db, { retentionDays: 30, runRetentionDays: 30, diskBudget: 0 }, Date.now())
  db.close()
  const says = expect.stringContaining('it deletes no events yet')
  const waiting = [{ name: 'retentionDays', inForce: 90, requested: 30, appliesAt: expect.any(Number), says }]
  expect(JSON.parse((await run('--json')).stdout)).toEqual({ confirmed: false, waiting })
  const doctor = await runProgram(['doctor', '--data', data])
  expect(doctor.stdout).toContain('WARN  settings: TAGWARDEN_RETENTION_DAYS=30 is shorter than before')
  expect(JSON.parse((await run('--confirm', '--json')).stdout)).toEqual({ confirmed: true, waiting })
  expect((await run()).stdout).toBe('No shorter limit is waiting.\n')
})

test('the audit log says that a shorter retention was confirmed, with and without a running server', async () => {
  using folder = temporaryFolder()
  const data = `${folder.path}/data`
  const apiKey = await initialize(data)
  const shorten = (retentionDays: number) => {
    const db = openDatabase(`${data}/tagwarden.db`)
    requestLimits(db, { retentionDays, runRetentionDays: 30, diskBudget: 0 }, Date.now())
    db.close()
  }
  const confirm = () => runProgram(['retention', '--data', data, '--confirm'])
  for (const days of [90, 60]) shorten(days)
  await confirm()
  // Nothing is left to confirm.
  await confirm()
  await using server = await startServer(data, { env: { TAGWARDEN_RETENTION_DAYS: '30' } })
  await confirm()
  const { entries } = await ask('GET', `${server.url}/v1/org/audit-log?act=confirmRetention`, apiKey)
  const note = { via: 'command', limit: 'retentionDays' }
  expect(entries).toMatchObject([
    { userId: null, note: { ...note, before: 60, now: 30 } },
    { userId: null, note: { ...note, before: 90, now: 60 } },
  ])
})
