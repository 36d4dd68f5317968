import { expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../core/clock.ts'
import { WarehouseFixture } from '../warehouse.fixture.ts'
import { damageNotice, type Flaw } from './file-check.ts'

/** Returns a warehouse with this number of files, each with one event, and its reported damage. */
async function filesOf(count: number) {
  const told: Flaw[] = []
  const fixture = await WarehouseFixture.open({ damaged: (flaws) => void told.push(...flaws) })
  for (let n = 0; n < count; n++) {
    await fixture.add([{ params: { n: `${n}` } }])
    await fixture.flush()
  }
  return { fixture, told }
}

function spoil(fixture: WarehouseFixture, path: string): void {
  const bytes = readFileSync(join(fixture.folder, path))
  bytes.writeUInt8(bytes.readUInt8(40) ^ 1, 40)
  writeFileSync(join(fixture.folder, path), bytes)
}

test('a file without a checksum is decoded completely', async () => {
  const { fixture, told } = await filesOf(2)
  await using _ = fixture
  for (const table of ['eventFile', 'rollupFile']) fixture.db.exec(`UPDATE ${table} SET sum = NULL`)
  await fixture.reopen()
  await fixture.warehouse.check()
  expect([told, (await fixture.count()).rows]).toEqual([[], 2])
  const { path = '' } = fixture.manifest.files()[0] ?? {}
  const bytes = readFileSync(join(fixture.folder, path))
  // Same length as before, but not Parquet.
  writeFileSync(join(fixture.folder, path), Buffer.alloc(bytes.length, 'x'))
  await fixture.reopen()
  await fixture.warehouse.check()
  expect(told.map(({ file }) => file.path)).toEqual([path])
  expect((await fixture.count()).rows).toBe(1)
})

test('each file is checked once a day', async () => {
  const { fixture, told } = await filesOf(1)
  await using _ = fixture
  const { path = '' } = fixture.manifest.files()[0] ?? {}
  await fixture.warehouse.check()
  spoil(fixture, path)
  await fixture.warehouse.check()
  expect(told).toEqual([])
  fixture.clock.advance(DAY_MS)
  await fixture.warehouse.check()
  expect(told.map(({ file }) => file.path)).toEqual([path])
})

test('the files of a query that always fails are read once a minute, not after each failure', async () => {
  const { fixture, told } = await filesOf(1)
  await using _ = fixture
  const { path = '' } = fixture.manifest.files()[0] ?? {}
  const failing = () => fixture.query("SELECT CAST(vendor || 'x' AS INTEGER) FROM events")
  await expect(failing()).rejects.toMatchObject({ code: 'unavailable' })
  spoil(fixture, path)
  await expect(failing()).rejects.toMatchObject({ code: 'unavailable' })
  expect(told).toEqual([])
  fixture.clock.advance(MINUTE_MS + 1)
  await failing().catch(() => {})
  expect(told.map(({ file }) => file.path)).toEqual([path])
})

test('a file with a flipped byte is not copied to a merged file', async () => {
  const { fixture, told } = await filesOf(3)
  await using _ = fixture
  const { path = '' } = fixture.manifest.files()[1] ?? {}
  spoil(fixture, path)
  await fixture.compact()
  expect([told.length, fixture.levels()]).toEqual([1, ['fresh', 'fresh']])
  await fixture.compact()
  expect([fixture.levels(), (await fixture.count()).events]).toEqual([['compacted'], 2])
})

test('sequence numbers and times in a damaged file are not reused', async () => {
  const { fixture } = await filesOf(1)
  await using _ = fixture
  const { path = '', maxSeq = 0, maxReceivedAt = 0 } = fixture.manifest.files()[0] ?? {}
  writeFileSync(join(fixture.folder, path), '')
  fixture.clock.advance(-HOUR_MS)
  await fixture.reopen()
  expect(fixture.manifest.files()).toEqual([])
  expect([fixture.manifest.lastSeq(), fixture.manifest.lastReceivedAt()]).toEqual([maxSeq, maxReceivedAt])
})

test("the operator's message names each file with its owner, time range, rows and reason", async () => {
  const { fixture } = await filesOf(1)
  await using _ = fixture
  const [file] = fixture.manifest.files()
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
