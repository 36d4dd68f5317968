import { expect, test } from 'bun:test'
import { appendFileSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bytesOf, flipByte, killedFolder } from '../../test/hostile/killed-server-folder.ts'
import { temporaryFolder } from '../../test/run-program.ts'
import { testApp } from '../../test/test-app.ts'
import { type Clock, MINUTE_MS, systemClock } from '../core/clock.ts'
import { messageOf } from '../core/error.ts'
import { folderPaths } from '../data-folder/folder-paths.ts'
import { openDatabase } from '../store/database.ts'
import { readManifest, writeManifest } from './backup-manifest.ts'
import type { BackupPlace } from './backup-place.ts'
import { checkBackup } from './check-backup.ts'
import { createBackup } from './create-backup.ts'
import { folderPlace } from './folder-place.ts'
import { restoreBackup } from './restore-backup.ts'

const unexpected = (message: string) => {
  throw new Error(message)
}

/** Each backup is made a minute after the one before. */
function later(): Clock {
  let at = Date.UTC(2026, 0, 5, 3)
  return { now: () => (at += MINUTE_MS) }
}

const order = (
  folder: string,
  place: BackupPlace,
  { keep = null as number | null, clock = systemClock as Clock } = {},
) => ({
  folder,
  place,
  keep,
  clock,
  warn: unexpected,
})

const isStored = (file: string) => /^(?:events\/(?!tmp)|spool|runs|master|tagwarden\.db$)/.test(file)

/** A data folder with every kind of file, its backups, and a path for a restored folder. */
async function backedUp(root: string) {
  const data = join(root, 'data')
  await killedFolder(data)
  // A finished run with files.
  const db = openDatabase(folderPaths(data).database)
  db.pragma('foreign_keys = OFF')
  const columns = db.prepare<[], { name: string; notnull: number; type: string }>('PRAGMA table_info(flowRun)').all()
  const values = columns.map(({ name, notnull, type }) => {
    if (name === 'id') return 'run_finished'
    if (name === 'finishedAt') return 1
    return notnull ? (type === 'TEXT' ? '' : 0) : null
  })
  db.prepare(`INSERT INTO flowRun VALUES (${columns.map(() => '?').join()})`).run(...values)
  db.close()
  mkdirSync(join(data, 'runs/run_finished'), { recursive: true })
  writeFileSync(join(data, 'runs/run_finished/step-0.png'), 'picture')
  mkdirSync(join(data, 'spool/late'), { recursive: true })
  writeFileSync(join(data, 'spool/late/org_waiting.ndjson'), '00000000 {}\n')
  const place = folderPlace(join(root, 'backups'))
  return { data, place, backups: join(root, 'backups'), restored: join(root, 'restored') }
}

test('a backup of a folder with every kind of file is restored unchanged and private', async () => {
  using root = temporaryFolder()
  const { data, place, restored } = await backedUp(root.path)
  const { name, files } = await createBackup(order(data, place))
  expect(await place.names()).toEqual([name])
  expect((await checkBackup(place, name)).faults).toEqual([])
  await restoreBackup(place, name, restored)
  const [before, after] = [bytesOf(data), bytesOf(restored)]
  expect([...after.keys()].filter((file) => file !== 'folder.mark')).toEqual([...before.keys()].filter(isStored))
  expect(after.size).toBe(files + 1)
  for (const [file, bytes] of after) {
    if (isStored(file) && file !== 'tagwarden.db') expect([file, before.get(file)?.equals(bytes)]).toEqual([file, true])
    expect([file, statSync(join(restored, file)).mode & 0o077]).toEqual([file, 0])
  }
  expect(statSync(restored).mode & 0o777).toBe(0o700)
})

test('any flipped or missing file of a backup is named, and nothing is restored', async () => {
  using root = temporaryFolder()
  const { data, place, backups, restored } = await backedUp(root.path)
  const { name } = await createBackup(order(data, place))
  const files = [...bytesOf(join(backups, name)).keys()]
  const kinds = new Set(files.map((file) => file.replaceAll(/[\da-f-]{6,}/g, '')))
  expect([...kinds].sort().join(' ')).toMatch(
    /backup\.json.*events\/counts.*events\/pages.*master.*runs.*spool.*late.*db/,
  )
  for (const file of files) {
    const path = join(backups, name, file)
    const bytes = await Bun.file(path).bytes()
    const refused = async () => {
      const { faults } = await checkBackup(place, name)
      expect(faults.map(({ fault }) => fault).join()).toContain(file)
      expect(await restoreBackup(place, name, restored).then(() => null, messageOf)).toContain(file)
      expect(existsSync(restored) ? readdirSync(restored) : []).toEqual([])
    }
    // Writing in place would also change the data folder.
    rmSync(path)
    await refused()
    for (const share of [0, 0.5, 0.999]) {
      writeFileSync(path, bytes)
      flipByte(path, share)
      await refused()
    }
    writeFileSync(path, bytes)
    appendFileSync(path, '\n')
    await refused()
    writeFileSync(path, bytes)
  }
  expect((await checkBackup(place, name)).faults).toEqual([])
})

test('later backups add only what is new, and old ones are deleted', async () => {
  using root = temporaryFolder()
  const { data, place, backups } = await backedUp(root.path)
  const clock = later()
  const first = await createBackup(order(data, place, { clock }))
  const second = await createBackup(order(data, place, { clock }))
  expect(second.addedBytes).toBeLessThan(first.bytes)
  const inodesOf = (name: string) =>
    [...bytesOf(join(backups, name)).keys()].map((file) => [file, statSync(join(backups, name, file)).ino])
  const shared = inodesOf(second.name).filter(([file, inode]) =>
    inodesOf(first.name).some(([other, same]) => other === file && same === inode),
  )
  expect(shared.map(([file]) => file)).toEqual(
    [...bytesOf(join(backups, first.name)).keys()].filter((file) => /^(?:events|runs)/.test(String(file))),
  )
  // A backup of another server in the same folder is not deleted.
  const manifest = await place.manifest(first.name)
  const draft = await place.begin('2020-01-01T00-00-00-000Z', 'other')
  await draft.finish({ ...manifest, name: '2020-01-01T00-00-00-000Z', serverId: 'other', files: [] })
  const third = await createBackup(order(data, place, { keep: 2, clock }))
  expect(await place.names()).toEqual(['2020-01-01T00-00-00-000Z', second.name, third.name])
  for (const name of [second.name, third.name]) expect((await checkBackup(place, name)).faults).toEqual([])
})

test('merges, deletions and checkpoints during a backup do not change it', async () => {
  using root = temporaryFolder()
  await using world = await testApp()
  const { body: domain } = await world.call('POST', '/v1/domains', { body: { name: 'shop.example' } })
  const send = async (id: string) => {
    await world.collect(domain.token, { batchId: id, events: [{ id, vendor: 'Shop', event: 'buy', params: {} }] })
    world.clock.advance(5000)
    await world.run('flush')
  }
  for (let n = 0; n < 15; n++) await send(`before-${n}`)
  await world.collect(domain.token, {
    batchId: 'open-segment',
    events: [{ id: 'open', vendor: 'Shop', event: 'buy', params: {} }],
  })
  const inner = folderPlace(join(root.path, 'backups'))
  let merged = 0
  const place: BackupPlace = {
    ...inner,
    // The snapshot has been taken, and nothing has been copied.
    async begin(name, serverId) {
      const draft = await inner.begin(name, serverId)
      world.clock.advance(5000)
      await world.run('flush')
      for (let n = 0; n < 3; n++) await send(`during-${n}`)
      const before = readdirSync(join(world.folder, 'events'))
      await world.run('compact')
      const after = readdirSync(join(world.folder, 'events'))
      merged = before.filter((file) => !after.includes(file)).length
      world.app.db.pragma('wal_checkpoint(TRUNCATE)')
      return draft
    },
  }
  const { name } = await createBackup(order(world.folder, place))
  expect(merged).toBeGreaterThanOrEqual(16)
  await world.restart(async (folder) => {
    rmSync(folder, { recursive: true })
    await restoreBackup(inner, name, folder)
  })
  await world.run('flush')
  const { body } = await world.call('GET', '/v1/events?from=0&limit=200')
  const ids = body.events.map(({ id }: { id: string }) => id).sort()
  expect(ids).toEqual([...Array.from({ length: 15 }, (_, n) => `before-${n}`), 'open'].sort())
})

test.each(['../escape', '/etc/passwd', 'events/../../escape', 'events/', 'folder.mark', 'tagwarden.db-wal', 'runs/.x'])(
  'a list with the path %s is refused',
  (path) => {
    const { json, checksum } = writeManifest({
      format: 1,
      name: 'x',
      serverId: null,
      version: '1',
      schema: 1,
      createdAt: 1,
      missing: [],
      files: [{ path, bytes: 1, sha256: 'a'.repeat(64), modifiedAt: 1 }],
    })
    expect(() => readManifest(json, checksum)).toThrow('backup.json is not the list of a backup: files[0].path')
  },
)
