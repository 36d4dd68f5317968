import { expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../core/clock.ts'
import { WarehouseFixture } from '../warehouse.fixture.ts'
import { damageNotice, type Flaw } from './file-check.ts'

/** Returns a warehouse with this number of files, each with one event, and its reported damage. */
async function filesOf(count: number) {
  const told: Flaw[] = []
  const stand = await WarehouseFixture.open({ damaged: (flaws) => void told.push(...flaws) })
  for (let n = 0; n < count; n++) {
    await stand.add([{ params: { n: `${n}` } }])
    await stand.flush()
  }
  return { stand, told }
}

function spoil(stand: WarehouseFixture, path: string): void {
  const bytes = readFileSync(join(stand.folder, path))
  bytes.writeUInt8(bytes.readUInt8(40) ^ 1, 40)
  writeFileSync(join(stand.folder, path), bytes)
}

test('a file without a checksum is decoded completely', async () => {
  const { stand, told } = await filesOf(2)
  await using _ = stand
  for (const table of ['eventFile', 'rollupFile']) stand.db.exec(`UPDATE ${table} SET sum = NULL`)
  await stand.reopen()
  await stand.warehouse.check()
  expect([told, (await stand.count()).rows]).toEqual([[], 2])
  const { path = '' } = stand.manifest.files()[0] ?? {}
  const bytes = readFileSync(join(stand.folder, path))
  // Same length as before, but not Parquet.
  writeFileSync(join(stand.folder, path), Buffer.alloc(bytes.length, 'x'))
  await stand.reopen()
  await stand.warehouse.check()
  expect(told.map(({ file }) => file.path)).toEqual([path])
  expect((await stand.count()).rows).toBe(1)
})

test('each file is checked once a day', async () => {
  const { stand, told } = await filesOf(1)
  await using _ = stand
  const { path = '' } = stand.manifest.files()[0] ?? {}
  await stand.warehouse.check()
  spoil(stand, path)
  await stand.warehouse.check()
  expect(told).toEqual([])
  stand.clock.advance(DAY_MS)
  await stand.warehouse.check()
  expect(told.map(({ file }) => file.path)).toEqual([path])
})

test('the files of a query that always fails are read once a minute, not each time', async () => {
  const { stand, told } = await filesOf(1)
  await using _ = stand
  const { path = '' } = stand.manifest.files()[0] ?? {}
  const failing = () => stand.query("SELECT CAST(vendor || 'x' AS INTEGER) FROM events")
  await expect(failing()).rejects.toMatchObject({ code: 'unavailable' })
  spoil(stand, path)
  await expect(failing()).rejects.toMatchObject({ code: 'unavailable' })
  expect(told).toEqual([])
  stand.clock.advance(MINUTE_MS + 1)
  await failing().catch(() => {})
  expect(told.map(({ file }) => file.path)).toEqual([path])
})

test('a file with a flipped byte is not copied to a merged file', async () => {
  const { stand, told } = await filesOf(3)
  await using _ = stand
  const { path = '' } = stand.manifest.files()[1] ?? {}
  spoil(stand, path)
  await stand.compact()
  expect([told.length, stand.levels()]).toEqual([1, ['fresh', 'fresh']])
  await stand.compact()
  expect([stand.levels(), (await stand.count()).events]).toEqual([['compacted'], 2])
})

test('sequence numbers and times in a damaged file are not reused', async () => {
  const { stand } = await filesOf(1)
  await using _ = stand
  const { path = '', maxSeq = 0, maxReceivedAt = 0 } = stand.manifest.files()[0] ?? {}
  writeFileSync(join(stand.folder, path), '')
  stand.clock.advance(-HOUR_MS)
  await stand.reopen()
  expect(stand.manifest.files()).toEqual([])
  expect([stand.manifest.lastSeq(), stand.manifest.lastReceivedAt()]).toEqual([maxSeq, maxReceivedAt])
})

test("the operator's message names each file with its owner, time range, rows and reason", async () => {
  const { stand } = await filesOf(1)
  await using _ = stand
  const [file] = stand.manifest.files()
  if (!file) throw new Error('expected a file')
  const flaw = { file, reason: 'the file is missing' }
  const { subject, text } = damageNotice([flaw])
  expect(subject).toBe('an event file is damaged: 1 rows are excluded from results')
  expect(text).toStartWith(
    'events/000000000001.parquet (organization org_1, 2026-01-05T12:00:00.000Z to 2026-01-05T12:00:00.000Z, 1 rows): the file is missing.',
  )
  const many = damageNotice(Array.from({ length: 30 }, () => flaw))
  expect(many.subject).toBe('30 event files are damaged: 30 rows are excluded from results')
  expect(many.text).toContain('And 10 more.')
})
