import { expect, test } from 'bun:test'
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../../test/run-program.ts'
import { type TestApp, testApp } from '../../test/test-app.ts'
import { DAY_MS, HOUR_MS } from '../core/clock.ts'
import { folderPaths } from '../data-folder/folder-paths.ts'
import type { Outbound, Transport } from '../transport/transport.ts'
import { checkBackup } from './check-backup.ts'
import { folderPlace } from './folder-place.ts'
import { restoreBackup } from './restore-backup.ts'

/** A transport that records what is sent. */
function recorded(): { sent: Outbound[]; transport: Transport } {
  const sent: Outbound[] = []
  return {
    sent,
    transport: {
      async send(outbound) {
        sent.push(outbound)
        return { kind: 'status', status: 200, headers: {}, body: 'ok' }
      },
    },
  }
}

const subjects = (sent: readonly Outbound[]) => sent.map((one) => (one.kind === 'mail' ? one.subject : one.url))

const metricOf = async (world: TestApp, name: string) =>
  Number(new RegExp(`^${name} (\\S+)$`, 'm').exec((await world.call('GET', '/metrics', { as: null })).body)?.[1])

test('the owner makes, lists and downloads a backup, and restores the download', async () => {
  using root = temporaryFolder()
  await using world = await testApp()
  const empty = await world.call('GET', '/v1/backups')
  expect(empty.body).toMatchObject({ backups: [], schedule: null, nextAt: null, keep: 7, state: 'none' })
  expect((await world.call('GET', '/readyz', { as: null })).body).toMatchObject({
    backup: 'none',
    lastBackupAgeMs: null,
  })
  const { status, body: started } = await world.call('POST', '/v1/backups')
  expect([status, started.status]).toEqual([201, 'running'])
  expect((await world.call('POST', '/v1/backups')).status).toBe(409)
  expect((await world.call('GET', `/v1/backups/${started.id}/download`)).status).toBe(409)
  await world.app.idle()
  const { body } = await world.call('GET', '/v1/backups')
  expect(body).toMatchObject({ state: 'ok', place: folderPaths(world.folder).backups, nextCursor: null })
  expect(body.backups).toMatchObject([{ id: started.id, status: 'succeeded', error: null }])
  world.clock.advance(HOUR_MS)
  await world.run('evaluate')
  expect((await world.call('GET', '/readyz', { as: null })).body).toMatchObject({
    backup: 'ok',
    lastBackupAgeMs: HOUR_MS,
  })
  expect(await metricOf(world, 'tagwarden_backup_bytes')).toBe(body.backups[0].bytes)
  expect(await metricOf(world, 'tagwarden_backup_last_success_timestamp_seconds')).toBe(started.startedAt / 1000)

  const download = await world.app.fetch(
    new Request(`http://localhost/v1/backups/${started.id}/download`, {
      headers: { authorization: `Bearer ${world.owner.apiKey}` },
    }),
  )
  expect(download.headers.get('content-type')).toBe('application/x-tar')
  const archive = join(root.path, 'backup.tar')
  await Bun.write(archive, await download.bytes())
  const { exitCode, stderr } = Bun.spawnSync(['tar', '-C', root.path, '-xf', archive])
  expect([exitCode, stderr.toString()]).toEqual([0, ''])
  const { name } = body.backups[0]
  const place = folderPlace(root.path)
  expect(await place.names()).toEqual([name])
  expect((await checkBackup(place, name)).faults).toEqual([])
  await restoreBackup(place, name, join(root.path, 'restored'))

  rmSync(join(folderPaths(world.folder).backups, name), { recursive: true })
  expect((await world.call('GET', `/v1/backups/${started.id}/download`)).status).toBe(404)
  const { body: log } = await world.call('GET', '/v1/audit-log')
  expect(log.entries.map(({ act }: { act: string }) => act)).toContain('createBackup')
  expect(log.entries.map(({ act }: { act: string }) => act)).toContain('downloadBackup')
})

test('with several organizations, only the operator can use backups', async () => {
  await using world = await testApp()
  expect((await world.call('POST', '/v1/orgs', { body: { name: 'Second' } })).status).toBe(201)
  for (const [method, path] of [
    ['GET', '/v1/backups'],
    ['POST', '/v1/backups'],
    ['GET', '/v1/backups/bkp_1/download'],
    ['POST', '/v1/server/sending/resume'],
  ] as const) {
    const { status, body } = await world.call(method, path)
    expect([path, status]).toEqual([path, 403])
    expect(body.error).toContain('this server has several organizations')
  }
})

test('scheduled backups are made when they are due, and failed and missing ones are reported once a day', async () => {
  using root = temporaryFolder()
  const { sent, transport } = recorded()
  const to = join(root.path, 'backups')
  const mail = { operatorMail: 'ops@example.com', smtpUrl: 'smtp://mail.example.com' }
  await using world = await testApp({ backupTo: to, backupKeep: '2', ...mail }, { transport })
  const check = async () => {
    await world.run('back up')
    await world.app.idle()
    await world.run('evaluate', 'send operator messages', 'deliver')
  }
  const count = () =>
    folderPlace(to)
      .names()
      .then((names) => names.length)
  // The first backup does not wait for the night.
  await check()
  await check()
  expect(await count()).toBe(1)
  const { body } = await world.call('GET', '/v1/backups')
  expect(body).toMatchObject({ place: to, schedule: '0 3 * * *', nextAt: Date.UTC(2026, 0, 6, 3), keep: 2 })
  world.clock.set(Date.UTC(2026, 0, 6, 2, 59))
  await check()
  expect(await count()).toBe(1)
  for (const day of [6, 7, 8]) {
    world.clock.set(Date.UTC(2026, 0, day, 3, 0, 40))
    await check()
  }
  expect(await count()).toBe(2)
  expect(subjects(sent)).toEqual([])

  rmSync(to, { recursive: true })
  writeFileSync(to, 'not a folder')
  world.clock.set(Date.UTC(2026, 0, 9, 3, 1))
  await check()
  expect(subjects(sent)).toEqual(['Tagwarden: a backup failed'])
  expect((await world.call('GET', '/readyz', { as: null })).body).toMatchObject({ ok: true, backup: 'failed' })
  expect(await metricOf(world, 'tagwarden_backups_failed_total')).toBe(1)
  const attempts = () => world.call('GET', '/v1/backups').then(({ body }) => body.backups.length)
  const before = await attempts()
  // Repeated after an hour.
  for (const minutes of [30, 31]) {
    world.clock.advance(minutes * 60_000)
    await check()
  }
  expect(await attempts()).toBe(before + 1)
  expect(subjects(sent)).toHaveLength(1)
  world.clock.advance(DAY_MS)
  await check()
  expect(subjects(sent)).toHaveLength(2)
  rmSync(to)
  world.clock.advance(HOUR_MS)
  await check()
  expect((await world.call('GET', '/readyz', { as: null })).body).toMatchObject({ backup: 'ok' })
  world.clock.advance(3 * DAY_MS)
  await world.run('evaluate')
  expect((await world.call('GET', '/readyz', { as: null })).body).toMatchObject({ ok: true, backup: 'stale' })
}, 120_000)

test('a backup that was interrupted by a crash is recorded as failed, and leaves nothing behind', async () => {
  using root = temporaryFolder()
  await using world = await testApp({ backupTo: join(root.path, 'backups') })
  await world.call('POST', '/v1/backups')
  await world.restart()
  const { body } = await world.call('GET', '/v1/backups')
  expect(body.backups).toMatchObject([{ status: 'failed', name: null, error: 'the server was stopped' }])
  await world.call('POST', '/v1/backups')
  await world.app.idle()
  expect(readdirSync(root.path)).toEqual(['backups'])
  expect(readdirSync(join(root.path, 'backups'))).toHaveLength(1)
  expect(readdirSync(folderPaths(world.folder).backupDraft)).toEqual(['lock'])
})

test('a copied folder sends nothing, makes no scheduled backups, and says so until the owner resumes it', async () => {
  using root = temporaryFolder()
  const { sent, transport } = recorded()
  const to = join(root.path, 'backups')
  await using world = await testApp({ smtpUrl: 'smtp://mail.example.com', backupTo: to }, { transport })
  const { body: domain } = await world.call('POST', '/v1/domains', { body: { name: 'Shop' } })
  await world.call('POST', '/v1/alerts', {
    body: {
      name: 'Any event',
      alertType: 'data_validation',
      conditions: { logic: 'any', items: [{ parameter: 'value', op: 'is_blank' }] },
      period: '1h',
      channels: [
        { type: 'webhook', target: 'https://hooks.example.com/a' },
        { type: 'email', target: 'ann@example.com' },
      ],
    },
  })
  const digest = { subscribed: true, hourUtc: 13 }
  expect((await world.call('PUT', '/v1/notifications/digest/me', { body: digest })).status).toBe(200)
  await world.restart((folder) => {
    const copy = `${folder}-copy`
    Bun.spawnSync(['cp', '-a', folder, copy])
    rmSync(folder, { recursive: true })
    Bun.spawnSync(['mv', copy, folder])
  })
  expect(world.warnings.at(-1)).toContain('this server sends nothing, because the data folder is a copy')
  const quiet = { since: world.clock.now(), reason: 'the data folder is a copy' }
  expect((await world.call('GET', '/v1/server/sending')).body).toEqual({ quiet })
  expect((await world.call('GET', '/readyz', { as: null })).body).toMatchObject({ ok: true, quiet })
  expect(await metricOf(world, 'tagwarden_quiet')).toBe(1)

  expect((await world.collect(domain.token, { events: [{ vendor: 'Shop' }] })).status).toBe(202)
  world.clock.advance(5000)
  const outbound = world.app.jobs.filter(({ isOutbound }) => isOutbound)
  expect(outbound.map(({ name }) => name).sort()).toEqual([
    'back up',
    'check hosts',
    'deliver',
    'listen',
    'poll',
    'run audits',
    'run flow tests',
    'send digests',
    'sync statuses',
  ])
  await world.run('flush', 'evaluate')
  for (const job of world.app.jobs) await job.run()
  world.clock.advance(DAY_MS)
  for (const job of world.app.jobs) await job.run()
  await world.app.idle()
  expect((await world.call('GET', '/v1/issues')).body.issues).toHaveLength(1)
  const member = { email: 'new@example.com', role: 'viewer' }
  expect((await world.call('POST', '/v1/org/members', { body: member })).status).toBe(201)
  expect(sent).toEqual([])
  expect(readdirSync(root.path)).toEqual([])
  expect((await world.call('POST', '/v1/backups')).status).toBe(409)
  await world.restart()
  await world.run('deliver')
  expect(sent).toEqual([])

  expect((await world.call('POST', '/v1/server/sending/resume')).status).toBe(200)
  expect((await world.call('GET', '/v1/server/sending')).body).toEqual({ quiet: null })
  await world.run('deliver')
  expect(subjects(sent)).toContain('https://hooks.example.com/a')
  await world.restart()
  expect((await world.call('GET', '/v1/server/sending')).body).toEqual({ quiet: null })
})
